"""Coarse parts of a table: a tree of cuts along the codes of its columns, as engines and publishers both know it.

>>> parts = Fork("age", ((0, 39),), 0, Fork("sex", ((1, 1),), 1, 2))
>>> numbers_of(parts)
(0, 1, 2)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Fork:
    """Records whose code of the column lies in one of the runs (first, last) go left, all others right."""

    column: str
    runs: tuple[tuple[int, int], ...]
    left: Parts
    right: Parts


Parts: TypeAlias = Fork | int
"""A part is identified by its number; 0 alone is the whole table."""


def numbers_of(parts: Parts) -> tuple[int, ...]:
    """The parts from left to right."""
    return (parts,) if isinstance(parts, int) else (*numbers_of(parts.left), *numbers_of(parts.right))


def runs_of(codes: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Codes as runs of neighbours.

    >>> runs_of([4, -1, 3, 7])
    ((-1, -1), (3, 4), (7, 7))
    """
    rising = sorted(set(codes))
    ends = [code for code, following in pairwise([*rising, rising[-1] + 2]) if following > code + 1]
    starts = [rising[0], *(code for before, code in pairwise(rising) if code > before + 1)]
    return tuple(zip(starts, ends, strict=True))


def divided_at(parts: Parts, number: int, fork: Fork) -> Parts:
    """The same with a fork in the place of one part."""
    if isinstance(parts, int):
        return fork if parts == number else parts
    left, right = (divided_at(side, number, fork) for side in (parts.left, parts.right))
    return replace(parts, left=left, right=right)
