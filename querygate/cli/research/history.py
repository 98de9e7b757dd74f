"""Commands about what somebody has asked and keeps: history, saved."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from querygate.cli.shared.asked_gate import asked_gate
from querygate.cli.shared.command import Command
from querygate.cli.shared.output import plain, print_records
from querygate.cli.shared.shared_options import format_option, site_option

SHOWN_SQL = 60
as_option = click.option(
    "--as", "name", metavar="USER", help="View as this user of the site.  [default: the person at the console]"
)


@click.command(cls=Command, example="querygate history --limit 5", elsewhere=True)
@click.option("--dataset", metavar="NAME", help="Only questions about this dataset.")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, help="Maximum number.  [default: 20]")
@as_option
@format_option
@site_option
def history(dataset: str | None, limit: int, name: str | None, form: str, site: Path) -> None:
    """List your own questions and their outcomes, newest first."""
    lines = asked_gate(site, name).history(dataset, limit)
    if form in ("json", "jsonl"):
        print_records(lines, form, columns=())
        return
    told = [
        {
            "time": line["time"][:19].replace("T", " "),
            "answer": line["id"],
            "dataset": line["dataset"],
            "outcome": line["outcome"] + (f" {line['code']}" if line["code"] else ""),
            "sql": line["sql"] if form == "csv" else _short(line["sql"]),
        }
        for line in lines
    ]
    print_records(told, form, columns=("time", "answer", "dataset", "outcome", "sql"), empty="Nothing was asked yet.")


@click.command(cls=Command, example="querygate saved --shared", elsewhere=True)
@click.option("--shared", is_flag=True, help="Those that others share with you.")
@as_option
@format_option
@site_option
def saved(shared: bool, name: str | None, form: str, site: Path) -> None:
    """List the queries that you have saved, or those that others share with you."""
    found = [asdict(one) for one in asked_gate(site, name).saved(shared=shared)]
    if form == "table":
        found = [{**one, "sql": _short(one["sql"])} for one in found]
    print_records(found, form, columns=("id", "name", "owner", "dataset", "sql"), empty="No query is saved.")


def _short(sql: str) -> str:
    line = plain(" ".join(sql.split()))
    return line if len(line) <= SHOWN_SQL else f"{line[: SHOWN_SQL - 3]}..."
