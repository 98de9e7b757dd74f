"""The command that asks several gates at once: federate."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import cast

import click

from querygate.cli.query import read_statement
from querygate.cli.shared.command import Command
from querygate.cli.shared.output import plain, print_json, print_records, print_table
from querygate.cli.shared.shared_options import format_option
from querygate.client.client import Client
from querygate.core.answer_bodies import AnswerBody
from querygate.federation import Member, MemberEntry, PooledBody, ask_members, read_federation
from querygate.gate import render

EXAMPLE = """\
querygate federate --gates gates.toml "SELECT sex, COUNT(*), AVG(sbp) FROM stroke GROUP BY sex\""""


@click.command(cls=Command, example=EXAMPLE)
@click.argument("sql", callback=read_statement)
@click.option(
    "--gates",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    metavar="FILE",
    help="TOML file with a table [gates.NAME] for each gate: url, dataset and key_file.",
)
@format_option
def federate(sql: str, gates: Path, form: str) -> None:
    """Send one statement to several gates, and print ranges over the records of all.

    Each gate answers about its own dataset with your key there, and logs what it was asked. FROM may name any table,
    because each gate is asked about its own. A range contains the value for all records together; a record counts once
    for every gate that has it.
    """
    with ExitStack() as stack:
        body = ask_members(sql, [_member(entry, stack) for entry in read_federation(gates).members])
    print_pooled(body, form)


def _member(entry: MemberEntry, stack: ExitStack) -> Member:
    client = stack.enter_context(Client(entry.url, entry.key_file, entry.dataset))
    return Member(entry.name, entry.dataset, client.query)


def print_pooled(body: PooledBody, form: str) -> None:
    as_answer = cast(AnswerBody, body)  # columns, rows and mode are all that tables need
    if form == "json":
        print_json(body)
    elif form == "jsonl":
        print_records(body["rows"], form, columns=())
    elif form == "csv":
        click.echo(render.to_csv(as_answer).decode().replace("\r\n", "\n"), nl=False)
    else:
        print_table(*render.readable(as_answer))
        for note in body["notes"]:
            click.echo(plain(note))
        click.echo()
        for member in body["members"]:
            click.echo(
                f"{member['name']}: {member['dataset']}, version {member['version']}; {', '.join(member['query_ids'])}"
            )
