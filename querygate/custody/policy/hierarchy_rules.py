"""The hierarchy of a category: a named rule, or a file in ARX's format.

Such a file has no header and one row per value, separated by semicolons or commas: the value, its ancestor at each
level, and the root, which is the same in all rows. Error messages contain figures, never values.
"""

from __future__ import annotations

import csv
from pathlib import Path

from querygate.core.count_text import counted
from querygate.custody.policy.column_policy import HierarchyPolicy
from querygate.custody.policy.toml_reader import TomlTable, listed

PRESETS = ("digits", "icd9cm", "icd10cm", "icd10", "dates", "ages")
MOST_ROWS = 100_000
ACCEPTED = f"{listed(PRESETS)}, or the name of a .csv file next to the policy"
_ROWS = "rows `value;ancestor;...;root`, one per value, all of the same length, with the same root"


def read_hierarchy(table: TomlTable, folder: Path) -> HierarchyPolicy | None:
    """The hierarchy that a column's table names; None after a problem."""
    raw = table.raw.get("hierarchy")
    if isinstance(raw, str) and raw in PRESETS:
        return HierarchyPolicy(preset=raw)
    if not isinstance(raw, str) or not raw.lower().endswith(".csv"):
        table.fail("hierarchy", "is neither a rule nor a file", ACCEPTED)
        return None
    if "values" in table:
        table.fail("values", "cannot be combined with a hierarchy from a file", "nothing: the file lists the values")
    try:
        rows = read_rows(folder / raw)
    except OSError as error:
        table.fail("hierarchy", f"cannot be read: {error.strerror or type(error).__name__}", ACCEPTED)
        return None
    except (UnicodeDecodeError, csv.Error):
        table.fail("hierarchy", "is not a CSV file in UTF-8", _ROWS)
        return None
    fault = fault_of(rows)
    if fault:
        table.fail("hierarchy", fault, _ROWS)
        return None
    return HierarchyPolicy(rows=rows)


def read_rows(path: Path, *, ragged: bool = False) -> tuple[tuple[str, ...], ...]:
    """Rows of a file separated by semicolons or commas, one more than may be at most; empty ones are left out.

    The first row shows which of the two separates, unless rows have different lengths.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        first = file.read() if ragged else file.readline()
        file.seek(0)
        reader = csv.reader(file, delimiter=";" if ";" in first else ",", strict=True)
        return tuple(tuple(row) for row, _ in zip((r for r in reader if r), range(MOST_ROWS + 1), strict=False))


def fault_of(rows: tuple[tuple[str, ...], ...]) -> str:
    """What is wrong with the rows of a hierarchy, in figures; empty if nothing is.

    >>> fault_of((("a", "x", "*"), ("b", "*")))
    'has rows of different lengths: 1 of 2 are shorter than the longest'
    """
    longest = max(map(len, rows), default=0)
    short = sum(1 for row in rows if len(row) < longest)
    twice = len(rows) - len({row[0] for row in rows})
    roots = len({row[-1] for row in rows})
    if longest < 2:
        return "has no rows with a value and a root"
    if len(rows) > MOST_ROWS:
        return f"has more than {MOST_ROWS:,} rows"
    if short:
        return f"has rows of different lengths: {short:,} of {len(rows):,} are shorter than the longest"
    if twice:
        return f"has several rows for one value: {counted(twice, 'row repeats', 'rows repeat')} one"
    return f"ends in {roots:,} different roots" if roots > 1 else ""
