"""Numbers for the distinct rows of a table held as arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from querygate.core.types import Array, Ints

WORD = 2**62
"""More than any packed number of codes."""


def distinct_rows(columns: Sequence[Array], near: Ints) -> Ints:
    """The number of each row, 0..m-1 in order of first use: equal rows have equal numbers. NULL (masked) equals NULL.

    Rows with equal `near` are probably equal. If they are, only one of each is examined. Otherwise all rows are, so the
    numbers do not depend on `near`.

    >>> distinct_rows([np.array([5, 5, 7, 5]), np.ma.array([1, 1, 2, 2], mask=[0, 0, 1, 1])], np.array([0, 0, 1, 2]))
    array([0, 0, 1, 2])
    """
    figures = [part for column in columns for part in _without_null(column)]
    first = np.full(int(near.max(initial=-1)) + 1, -1)
    first[near[::-1]] = np.arange(near.size)[::-1]
    follow = first[near]
    if all((figure == figure[follow]).all() for figure in figures):
        leaders = np.sort(first[first >= 0])
        place = np.empty(near.size, dtype=np.int64)
        place[leaders] = np.arange(leaders.size)
        numbers: Ints = _numbered([figure[leaders] for figure in figures], leaders.size)[place[follow]]
        return numbers
    return _numbered(figures, near.size)


def _without_null(column: Array) -> list[Array]:
    mask = np.ma.getmaskarray(column)
    if not mask.any():
        return [np.ma.getdata(column)]
    return [np.where(mask, 0, np.ma.getdata(column)), mask]


def _numbered(figures: Sequence[Array], rows: int) -> Ints:
    key, room = np.zeros(rows, dtype=np.int64), WORD
    for figure in figures:
        code, size = _coded(figure)
        if size > room:
            _, key = np.unique(key, return_inverse=True)
            room = WORD // (int(key.max(initial=0)) + 1)
        key, room = key * size + code, room // size
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    rank = np.empty_like(first)
    rank[np.argsort(first)] = np.arange(first.size)
    numbers: Ints = rank[number.reshape(-1)]
    return numbers


def _coded(figure: Array) -> tuple[Ints, int]:
    """Small whole numbers for the values of a column, and how many there may be."""
    if figure.dtype.kind in "iub" and figure.size:
        least, most = int(figure.min()), int(figure.max())
        if most - least < 2**20:
            return figure.astype(np.int64) - least, most - least + 1
    values, code = np.unique(figure, return_inverse=True)
    return code.reshape(-1), max(1, values.size)
