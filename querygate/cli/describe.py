"""The command about one dataset: what may be known of it before asking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from querygate.cli.shared.asked_gate import asked_gate
from querygate.cli.shared.command import Command
from querygate.cli.shared.output import plain, print_record
from querygate.cli.shared.shared_options import format_option, site_option

SHOWN_VALUES = 12


@click.command(cls=Command, example="querygate describe patients", elsewhere=True)
@click.argument("dataset")
@format_option
@site_option
def describe(dataset: str, form: str, site: Path) -> None:
    """Show the columns of DATASET, the tables it can be joined with, its policy, and statements to start with."""
    told = asked_gate(site).describe(dataset)
    print_record(told, form, lambda: plain_lines(told))


def plain_lines(told: Mapping[str, Any]) -> str:
    """The description for a person, without what a terminal would obey."""
    return "\n".join(plain(line) for line in _lines(told))


def _lines(told: Mapping[str, Any]) -> Iterator[str]:
    title = f" ({told['title']})" if told["title"] else ""
    records = "" if told["rows"] is None else f" {told['rows']:,} records,"
    yield f"{told['dataset']}{title}, version {told['version']}:{records} k = {told['k']}"
    yield from _section("Columns", [(c["name"], c["type"], c["role"], _public(c), c["title"]) for c in told["columns"]])
    yield from _sharp_sections(told)
    for table in told["tables"]:
        on = f", usually with {' or '.join(table['on'])}" if table["on"] else ""
        columns = [(table["key"], "key", ""), *((c["name"], c["type"], "") for c in table["columns"])]
        yield from _section(f"Table {table['name']}, {table['rows']:,} rows, joined on {table['key']}{on}", columns)
    yield from _section("Policy", [(sentence,) for sentence in told["policy"]])
    yield from _section("Examples", [(sql,) for sql in told["examples"]])


def _sharp_sections(told: Mapping[str, Any]) -> Iterator[str]:
    """Which conditions are decided for everybody, and what is known together."""
    sharp = [(c["name"], text) for c in told["columns"] if (text := _sharp(c))]
    if sharp:
        yield from _section("Sharp conditions: no record is in doubt", sharp)
    if told.get("together"):
        rows = [(", ".join(one["columns"]), f"{one['decided']:.1%} of the records") for one in told["together"]]
        yield from _section("Known together, ordered columns up to the next cut", rows)


def _sharp(column: Mapping[str, Any]) -> str:
    cuts = column.get("cuts")
    if cuts is not None:
        wanted = column.get("policy_cuts", [])
        sharp = [cut for cut in wanted if cut in cuts]
        parts = (
            ("begin or end at", sharp or cuts),
            ("also at", [cut for cut in cuts if cut not in wanted] if sharp else []),
            ("in doubt at the policy's", [cut for cut in wanted if cut not in cuts]),
        )
        return "; ".join(f"{said} {_listed(found)}" for said, found in parts if found) if len(cuts) > 1 else "none"
    if "decided" not in column:
        return ""
    return f"known exactly for {column['decided']:.1%} of the records"


def _listed(values: Sequence[Any]) -> str:
    return ", ".join(map(str, values[:SHOWN_VALUES])) + (" ..." if len(values) > SHOWN_VALUES else "")


def _public(column: Mapping[str, Any]) -> str:
    """What is public of the values: a domain, or the first of them."""
    if column.get("domain"):
        return " .. ".join(map(str, column["domain"]))
    return _listed(column.get("values") or [])


def _section(title: str, rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    yield ""
    yield title
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"  {'  '.join(cells)}".rstrip()
