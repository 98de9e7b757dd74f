"""Names for our own columns that do not clash with those of a source. DuckDB ignores case."""

from __future__ import annotations

from collections.abc import Iterable


def free_name(name: str, taken: Iterable[str]) -> str:
    """The name, with underscores appended until it is unique.

    >>> free_name("row_id", ["age", "Row_ID"])
    'row_id_'
    """
    used = {other.lower() for other in taken}
    while name in used:
        name += "_"
    return name


def free_stem(stem: str, taken: Iterable[str]) -> str:
    """A prefix that no name has, to be followed by a number.

    >>> free_stem("wrong", ["Wrong0"])
    'wrong_'
    """
    used = [other.lower() for other in taken]
    while any(name.startswith(stem) for name in used):
        stem += "_"
    return stem
