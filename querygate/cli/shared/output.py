"""Data, problems and progress, as a terminal or a program reads them."""

from __future__ import annotations

import csv
import io
import json
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click

from querygate.core.answer_forms.spreadsheet_cells import escape
from querygate.core.errors import QueryGateError, Span
from querygate.core.progress import Progress, no_progress

WIDEST_LINE = 100


def print_records(records: Sequence[Mapping[str, Any]], form: str, *, columns: Sequence[str], empty: str = "") -> None:
    """A list of objects. `columns` are those a table shows; other formats show all that there is."""
    if form == "json":
        print_json(list(records))
    elif form == "jsonl":
        for record in records:
            click.echo(json.dumps(record, ensure_ascii=False))
    elif form == "csv":
        names = list(records[0]) if records else list(columns)
        print_csv(names, [[record.get(name) for name in names] for record in records])
    elif not records and empty:
        click.echo(empty)
    else:
        print_table(columns, [[_text(record.get(name)) for name in columns] for record in records])


def print_record(record: Mapping[str, Any], form: str, readable: Callable[[], str]) -> None:
    """One object; `readable` makes its text for a person."""
    if form == "table":
        click.echo(readable())
    elif form == "json":
        print_json(record)
    else:
        print_records([record], form, columns=list(record))


def explain_head(entries: int, head: str) -> str:
    """Where a log ends, and what that is good for."""
    if not entries:
        return "The log is empty: there is nothing to keep yet."
    return (
        f"{entries}:{head}\n"
        "This is where the log ends: the number of its entries and the hash of the last one. Keep this line away from "
        "this machine: `querygate log verify --known` with it shows later whether the log was cut off or rewritten."
    )


def print_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def print_csv(names: Sequence[str] | None, rows: Sequence[Sequence[Any]]) -> None:
    """Headings, unless they were printed before, and rows; no text is a formula to a spreadsheet."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows([_cell(value) for value in row] for row in (*([names] if names else []), *rows))
    click.echo(stream.getvalue(), nl=False)


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return escape(value)
    return json.dumps(value) if isinstance(value, (dict, list)) else value


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns in line, a rule under the headings.

    >>> print_table(["sex", "count"], [["F", "412 .. 431"]])
    sex  count
    ---  ----------
    F    412 .. 431
    """
    lines = [[plain(cell) for cell in line] for line in (headings, *rows)]
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    for line in lines:
        cells = (cell + " " * (width - _width(cell)) for cell, width in zip(line, widths, strict=True))
        click.echo("  ".join(cells).rstrip())


def plain(text: str) -> str:
    """The text without what a terminal would obey: a value of the data may hold an escape sequence.

    >>> plain("red\\x1b[31m")
    'red�[31m'
    """
    return "".join(c if c.isprintable() else " " if c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


def _width(text: str) -> int:
    """Places on a terminal: East Asian wide characters take two, combining marks none."""
    marks = sum(1 for c in text if unicodedata.combining(c))
    return len(text) - marks + sum(1 for c in text if unicodedata.east_asian_width(c) in "WF")


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


# -- problems ----------------------------------------------------------------------------------------------


def print_problem(error: QueryGateError, form: str, *, sql: str | None = None) -> None:
    """The error on standard error; for a program, the problem as JSON on standard output."""
    if form in ("json", "jsonl"):
        click.echo(json.dumps(error.to_dict(), indent=2 if form == "json" else None, ensure_ascii=False))
    else:
        tell_problem(error, sql)


def tell_problem(error: QueryGateError, sql: str | None = None) -> None:
    """The error on standard error."""
    click.echo(explain_problem(error, sql), err=True)


def explain_problem(error: QueryGateError, sql: str | None = None) -> str:
    """Code and title, what, where, what to do, and SQL that is accepted."""
    lines = [f"{error.code} {error.meaning.title}", *(plain(line) for line in error.detail.splitlines())]
    if sql and error.span:
        lines += [f"  {line}" for line in point_at(sql, error.span)]
    lines += [plain(line) for line in error.remedy.splitlines()]
    if error.suggestion:
        lines.append(f"Try: {plain(error.suggestion)}")
    return "\n".join(lines)


def point_at(sql: str, span: Span) -> list[str]:
    """The line of the statement, and carets under the place.

    >>> point_at("SELECT *\\nFROM patient", Span(2, 6, 7))
    ['FROM patient', '     ^^^^^^^']
    """
    lines = sql.split("\n")
    if span.line > len(lines):
        return []
    line, start = plain(lines[span.line - 1]), span.column - 1
    cut = max(0, min(start - WIDEST_LINE // 2, len(line) - WIDEST_LINE))
    shown = line[cut : cut + WIDEST_LINE]
    length = max(1, min(span.length, len(shown) - (start - cut)))
    return [shown, " " * (start - cut) + "^" * length]


# -- progress ----------------------------------------------------------------------------------------------


BAR = 30
SOON_S = 5.0
"""Time left is not told before this much has passed: it would be a guess."""


class _Bar:
    """What is being done, and a bar with the time left where the share that is done is known."""

    def __init__(self) -> None:
        self._began_s = time.monotonic()
        self._share: float | None = None

    def line(self, step: str, share: float | None) -> str:
        self._share = self._share if share is None else max(share, self._share or 0.0)
        if self._share is None:
            return f"{step} ..."
        filled = int(self._share * BAR)
        return f"[{'#' * filled}{'.' * (BAR - filled)}] {self._share:4.0%}{self._left(self._share)}  {step} ..."

    def _left(self, share: float) -> str:
        passed_s = time.monotonic() - self._began_s
        if passed_s < SOON_S or not share:
            return ""
        left_s = round(passed_s * (1 - share) / share)
        return f", {left_s // 60}:{left_s % 60:02d} left"


@contextmanager
def progress(*, elsewhere: bool = True) -> Iterator[Progress]:
    """A function to be told of each step, and of the share of the whole that is done: one line that is written over on
    a terminal, with a bar and the time left; a plain line for each step elsewhere, unless nobody wants it there.
    """
    if not sys.stderr.isatty():
        told = [""]
        if not elsewhere:
            yield no_progress
            return

        def write(step: str, share: float | None = None, /) -> None:
            if step != told[-1]:
                told.append(step)
                click.echo(step, err=True)

        yield write
        return
    bar = _Bar()
    try:
        yield lambda step, share=None, /: click.echo(
            f"\r\x1b[2K{bar.line(step, share)}", nl=False, err=True, color=True
        )
    finally:
        click.echo("\r\x1b[2K", nl=False, err=True, color=True)
