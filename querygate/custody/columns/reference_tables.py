"""Public reference tables: read and checked at publication, kept in the catalog of the version.

Every key must be present and unique, or a join would drop or multiply records. The tables are public, but errors still
quote nothing: somebody may have named the wrong file.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from decimal import Decimal

from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import Source
from querygate.core.types import SEPARATOR, Reference, SqlValue
from querygate.custody.policy import Policy, ReferencePolicy

MOST_KEYS = 5_000
LONGEST_TEXT = 1_000
LARGEST = 2**62
"""Larger whole numbers could overflow in calculations."""

_WHOLE = re.compile(r"\s*[+-]?[0-9]+\s*")
_REAL = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*")


def read_references(policy: Policy, open_beside: Callable[[str], Source]) -> tuple[Reference, ...]:
    """The reference tables of a policy; ConfigError says which file and which key of the policy is wrong."""
    return tuple(_read(wanted, open_beside(wanted.file)) for wanted in policy.references)


def _read(wanted: ReferencePolicy, source: Source) -> Reference:
    types = {wanted.key: "category", **dict(wanted.columns)}
    _check_columns(wanted, source)
    columns = _columns(wanted, source, list(types))
    read = {name: _typed(wanted, name, kind, columns[name]) for name, kind in types.items()}
    keys = read.pop(wanted.key)
    missing = sum(key is None for key in keys)
    twice = sum(count > 1 for key, count in Counter(keys).items() if key is not None)
    for number, one, several in ((missing, "is missing", "are missing"), (twice, "is repeated", "are repeated")):
        if number:
            what = counted(number, f"value of {wanted.key} {one}", f"values of {wanted.key} {several}")
            raise _wrong(wanted, "key", what, "Give each row its own key.")
    if not keys:
        raise _wrong(wanted, "file", "there are no rows", "Name a table with at least one row.")
    return Reference(
        wanted.name, wanted.key, tuple(map(str, keys)), tuple((name, tuple(values)) for name, values in read.items())
    )


def _check_columns(wanted: ReferencePolicy, source: Source) -> None:
    there = source.columns()
    for key, names in (("key", [wanted.key]), ("columns", [name for name, _ in wanted.columns])):
        absent = [name for name in names if name not in there]
        if absent:
            raise ConfigError(
                "QG801",
                f"references.{wanted.name}.{key}: {wanted.file} has no column {', '.join(absent)}.",
                f"Accepted: {', '.join(there)}.",
            )


def _columns(wanted: ReferencePolicy, source: Source, names: list[str]) -> dict[str, list[SqlValue]]:
    """The columns as lists of Python values; reading stops as soon as it is too much."""
    found: dict[str, list[SqlValue]] = {name: [] for name in names}
    with source.reading():
        for batch in source.batches(names):
            for name in names:
                found[name] += batch.column(name).to_pylist()
            if len(found[wanted.key]) > MOST_KEYS:
                raise _wrong(
                    wanted, "file", f"there are more than {MOST_KEYS:,} rows", "Keep only the rows that are used."
                )
    return found


def _typed(wanted: ReferencePolicy, name: str, kind: str, values: list[SqlValue]) -> list[str | int | float | None]:
    """Values of one type; a missing one stays missing."""
    there = [value is not None and value == value for value in values]  # NaN is missing
    read = [_READERS[kind](value) if is_there else None for value, is_there in zip(values, there, strict=True)]
    bad = [row for row, is_there in enumerate(there, start=1) if is_there and read[row - 1] is None]
    if bad:
        key = "key" if name == wanted.key else "columns"
        what = f"{counted(len(bad), 'value')} of {name} cannot be read as {kind}, the first in row {bad[0]:,}"
        remedy = {
            "category": f"Text may have at most {LONGEST_TEXT:,} characters, without the control characters 0 and 31.",
            "integer": "Whole numbers must fit into 62 bits.",
            "number": "Numbers must be finite, with a decimal point.",
        }
        raise _wrong(wanted, key, what, f"{remedy[kind]} Correct the file, or the column's type in the policy.")
    return read


def _text(value: SqlValue) -> str | None:
    text = value if isinstance(value, str) else str(value) if type(value) is int else None
    return text if text is not None and len(text) <= LONGEST_TEXT and not {"\0", SEPARATOR} & set(text) else None


def _integer(value: SqlValue) -> int | None:
    if isinstance(value, str):
        return _integer(int(value)) if _WHOLE.fullmatch(value) and len(value) < 30 else None
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return None
    return int(value) if -LARGEST < value < LARGEST and value == int(value) else None


def _number(value: SqlValue) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (str, int, float, Decimal)):
        return None
    if isinstance(value, str) and not _REAL.fullmatch(value):
        return None
    number = float(value) + 0.0  # -0.0 becomes 0.0
    return number if math.isfinite(number) else None


_READERS: dict[str, Callable[[SqlValue], str | int | float | None]] = {
    "category": _text,
    "integer": _integer,
    "number": _number,
}


def _wrong(wanted: ReferencePolicy, key: str, what: str, remedy: str) -> ConfigError:
    return ConfigError("QG802", f"references.{wanted.name}.{key}: {wanted.file}: {what}.", remedy)
