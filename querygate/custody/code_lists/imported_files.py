"""Reads files of other code systems for `querygate codes import`: lists of codes, pairs, and releases of SNOMED CT."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from querygate.core.errors import ConfigError
from querygate.custody.policy.hierarchy_rules import MOST_ROWS
from querygate.methods.code_lists.imported_systems import (
    BadHierarchy,
    ImportedRows,
    atc_way,
    by_parents,
    by_spelling,
    opcs_way,
)

IS_A = "116680003"
"""SNOMED CT's "is a" relationship."""

_SNOMED = ("sourceId", "destinationId", "typeId", "active")


def import_system(kind: str, file: Path, wanted: Path | None = None) -> ImportedRows:
    """The rows of a hierarchy, from a file. ConfigError QG802 says what is wrong with it, in figures."""
    try:
        made = KINDS[kind](file, _first_column(wanted) if wanted is not None else [])
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigError("QG802", f"The file cannot be read: {reason}.", "Name a file of the system.") from None
    except (UnicodeDecodeError, csv.Error):
        raise ConfigError("QG802", f"{file.name} is not a table in UTF-8.", "Save it as UTF-8.") from None
    except BadHierarchy as problem:
        raise ConfigError("QG802", f"{file.name}: {problem}.", "Correct the file, or use another --kind.") from None
    if len(made.rows) > MOST_ROWS:
        raise ConfigError(
            "QG802",
            f"{file.name} has {len(made.rows):,} codes, and a policy takes {MOST_ROWS:,}.",
            "Name a file with the codes that may occur: --codes FILE.",
        )
    return made


def _listed(way: Callable[[str], tuple[str, ...] | None]) -> Callable[[Path, list[str]], ImportedRows]:
    return lambda file, wanted: by_spelling(wanted or _first_column(file), way)


def _of_pairs(file: Path, wanted: list[str]) -> ImportedRows:
    return by_parents(_pairs(file), wanted)


def _of_snomed(file: Path, wanted: list[str]) -> ImportedRows:
    return by_parents(_relationships(file), wanted)


KINDS: Mapping[str, Callable[[Path, list[str]], ImportedRows]] = {
    "atc": _listed(atc_way),
    "opcs": _listed(opcs_way),
    "snomed": _of_snomed,
    "pairs": _of_pairs,
}


def _first_column(file: Path) -> list[str]:
    return [row[0].strip() for row in _rows(file) if row[0].strip()]


def _pairs(file: Path) -> Iterator[tuple[str, str]]:
    for row in _rows(file):
        if len(row) != 2 or not all(cell.strip() for cell in row):
            raise BadHierarchy("has rows that are not a code and the group above it")
        yield row[0].strip(), row[1].strip()


def _rows(file: Path) -> Iterator[list[str]]:
    with file.open(encoding="utf-8-sig", newline="") as text:
        first = text.readline()
        text.seek(0)
        mark = next((mark for mark in ";\t" if mark in first), ",")
        yield from (row for row in csv.reader(text, delimiter=mark, strict=True) if row)


def _relationships(file: Path) -> Iterator[tuple[str, str]]:
    """The active is-a relationships of a snapshot in Release Format 2."""
    with file.open(encoding="utf-8-sig", newline="") as text:
        reader = csv.DictReader(text, delimiter="\t", quoting=csv.QUOTE_NONE)
        if not set(_SNOMED) <= set(reader.fieldnames or ()):
            raise BadHierarchy("is not a snapshot of relationships in Release Format 2")
        for row in reader:
            if row["typeId"] == IS_A and row["active"] == "1":
                yield row["sourceId"], row["destinationId"]
