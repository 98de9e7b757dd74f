"""Columns that no query reaches, released only in extracts: notes, sequences and payloads.

A *note* is free text, scrubbed of identifying details. A *sequence* is aligned DNA, generalised until k records have
the same. A *payload* is a text released unchanged beside protected codes, such as the number of a DNA sample. All are
kept in the vault as texts. The policy may give an identifier's kind, so that notes are searched for all forms in which
such a value is written.
"""

from __future__ import annotations

import csv
import hashlib
from dataclasses import replace
from typing import cast

from querygate.core.count_text import counted
from querygate.custody.policy.column_policy import ColumnPolicy, Lattice, NotePolicy, SequenceMethod, SequencePolicy
from querygate.custody.policy.hierarchy_rules import MOST_ROWS, read_rows
from querygate.custody.policy.toml_reader import Bound, TomlTable

KINDS = (
    *("name", "place", "date", "phone", "fax", "email", "ssn", "record", "plan", "account", "licence", "vehicle"),
    *("device", "url", "ip", "other"),
)
"""Kinds of identifiers: those of the Safe Harbor rule that are written as text."""

SEQUENCE_METHODS = ("refined", "dnala", "bins")

KEYS = {
    "note": ("dates", "tags", "unknown_words", "earliest_year", "terms", "t", "tagger"),
    "sequence": ("method", "lattice", "alike", "k", "within", "bins"),
    "payload": (),
}
"""The keys of each role, apart from role, type and title."""

_TERMS = "rows `term;parent`, one parent per term, without cycles"
_FILE = "the name of a .csv file next to the policy"
_TAGGER = "the name of a file that `querygate notes train` wrote, next to the policy"
_T = Bound(least=2, most=1_000_000, whole=True)


def read_texts(table: TomlTable, column: ColumnPolicy) -> ColumnPolicy:
    """The column with the rules for its texts; mistakes are added to the table's problems."""
    if column.role == "note":
        return replace(column, note=_note(table))
    return replace(column, sequence=_sequence(table)) if column.role == "sequence" else column


def read_identifier(table: TomlTable, column: ColumnPolicy) -> ColumnPolicy:
    """The column with its kind, if given."""
    if "kind" not in table:
        return column
    if column.role != "identifier":
        table.fail("kind", f"does not apply to role {column.role}", "for role identifier")
        return column
    return replace(column, kind=table.choice("kind") or "")


# -- notes -----------------------------------------------------------------------------------------------------------


def _note(table: TomlTable) -> NotePolicy:
    terms = _terms(table)
    t = int(table.number("t", _T) or 0)
    if ("t" in table) != ("terms" in table):
        there, missing = ("t", "terms") if "t" in table else ("terms", "t")
        table.fail(missing, f"is missing, and {there} has no effect without it", "both, or neither")
    return NotePolicy(
        dates=table.word("dates", "year"),
        tags=table.word("tags", "keyed"),
        unknown_words=_switch(table, "unknown_words", default=True),
        earliest_year=int(table.number("earliest_year", Bound(least=1800, most=2200, whole=True)) or 0),
        terms=terms,
        t=t,
        **_tagger(table),
    )


def _tagger(table: TomlTable) -> dict[str, str]:
    """The file of a tagger and its hash: another file makes another policy."""
    if "tagger" not in table:
        return {}
    raw = table.raw["tagger"]
    if not isinstance(raw, str) or not raw:
        table.fail("tagger", "is not a file", _TAGGER)
        return {}
    try:
        content = (table.problems.folder / raw).read_bytes()
    except (OSError, ValueError) as error:
        table.fail("tagger", f"cannot be read: {getattr(error, 'strerror', None) or type(error).__name__}", _TAGGER)
        return {}
    return {"tagger": raw, "tagger_hash": hashlib.sha256(content).hexdigest()}


def _switch(table: TomlTable, key: str, *, default: bool) -> bool:
    value = table.raw.get(key, default)
    if not isinstance(value, bool):
        table.fail(key, "is neither true nor false", "true, false")
        return default
    return value


def _terms(table: TomlTable) -> tuple[tuple[str, str], ...]:
    """The rows of the file: a term and its parent."""
    if "terms" not in table:
        return ()
    raw = table.raw["terms"]
    if not isinstance(raw, str) or not raw.lower().endswith(".csv"):
        table.fail("terms", "is not a file", _FILE)
        return ()
    try:
        rows = read_rows(table.problems.folder / raw)
    except OSError as error:
        table.fail("terms", f"cannot be read: {error.strerror or type(error).__name__}", _FILE)
        return ()
    except (UnicodeDecodeError, csv.Error):
        table.fail("terms", "is not a CSV file in UTF-8", _TERMS)
        return ()
    fault = _fault_of(rows)
    if fault:
        table.fail("terms", fault, _TERMS)
        return ()
    return tuple(sorted({(row[0].strip(), row[1].strip()) for row in rows}))


def _fault_of(rows: tuple[tuple[str, ...], ...]) -> str:
    """What is wrong with the rows, in figures; empty if nothing is.

    >>> _fault_of((("asthma", "lung disease"), ("asthma", "allergy")))
    'gives a second parent to 1 of its terms'
    """
    if not rows or len(rows) > MOST_ROWS:
        return f"has no rows or more than {MOST_ROWS:,}"
    wrong = sum(1 for row in rows if len(row) != 2 or not all(any(map(str.isalnum, cell)) for cell in row))
    if wrong:
        return f"has {counted(wrong, 'row that is', 'rows that are')} not a term and its parent"
    pairs = {(_plain(row[0]), _plain(row[1])) for row in rows}
    parent = dict(pairs)
    if len(parent) < len(pairs):
        return f"gives a second parent to {len(pairs) - len(parent):,} of its terms"
    return "contains a cycle" if _has_circle(parent) else ""


def _plain(term: str) -> str:
    return "".join(filter(str.isalnum, term.casefold()))


def _has_circle(parent: dict[str, str]) -> bool:
    done: set[str] = set()
    for term in parent:
        way: list[str] = []
        while term in parent and term not in done:
            if term in way:
                return True
            way.append(term)
            term = parent[term]
        done.update(way)
    return False


# -- sequences -------------------------------------------------------------------------------------------------------


def _sequence(table: TomlTable) -> SequencePolicy:
    method = table.choice("method", SEQUENCE_METHODS[0]) or SEQUENCE_METHODS[0]
    if method not in SEQUENCE_METHODS:
        table.fail("method", "is not a method for sequences", ", ".join(SEQUENCE_METHODS))
    bins = int(table.number("bins", Bound(least=1, most=100_000, whole=True)) or 0)
    if ("bins" in table) != (method == "bins"):
        what = "is missing" if method == "bins" else f"does not apply to method {method}"
        table.fail("bins", what, 'a whole number of at least 1, with method = "bins"')
    lattice = table.word("lattice", "iupac")
    alike = int(table.number("alike", Bound(least=2, most=1_000_000, whole=True)) or 0)
    if alike and lattice != "tree":
        table.fail("alike", f"does not apply to lattice {lattice}", 'a whole number with lattice = "tree"')
    return SequencePolicy(
        method=cast(SequenceMethod, method),
        lattice=cast(Lattice, lattice),
        alike=alike,
        k=int(table.number("k", Bound(least=2, most=100_000, whole=True)) or 0),
        within=table.word("within", "file"),
        bins=bins,
    )
