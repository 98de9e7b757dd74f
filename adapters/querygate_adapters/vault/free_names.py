"""Names for columns of our own beside those of a source, whatever these are called. DuckDB does not tell case apart."""

from __future__ import annotations

from collections.abc import Iterable


def free_name(name: str, taken: Iterable[str]) -> str:
    """The name, with as many underscores behind it as make it nobody else's.

    >>> free_name("row_id", ["age", "Row_ID"])
    'row_id_'
    """
    used = {other.lower() for other in taken}
    while name in used:
        name += "_"
    return name


def free_stem(stem: str, taken: Iterable[str]) -> str:
    """A beginning that no name has, for a number behind it.

    >>> free_stem("wrong", ["Wrong0"])
    'wrong_'
    """
    used = [other.lower() for other in taken]
    while any(name.startswith(stem) for name in used):
        stem += "_"
    return stem
