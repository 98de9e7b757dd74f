"""Sets of values on an ordered axis: what a condition on one column lets through.

A set is a parity and a sorted tuple of *cuts*. A cut (v, 0) lies just before v, (v, 1) just after it; walking from
minus infinity upwards, membership flips at each cut. Complement flips the parity, union and intersection merge the
cuts, so BETWEEN, IN, <>, NOT and any mixture of them on one column end in one normal form, equal when they mean the
same. Whole numbers and doubles have a next value, so there every cut is moved before a value and every piece is a
closed interval; text keeps both kinds.

>>> teens = ValueSet.between("integer", 13, 19)
>>> (teens | ValueSet.between("integer", 20, 29)).intervals("integer")
((13, 29),)
>>> 19 in teens, 20 in teens, 20 in ~teens
(True, False, True)
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias, cast

from querygate.core.frozen_classes import frozen
from querygate.core.types import DISCRETE

Kind = Literal["integer", "number", "text"]
Point: TypeAlias = "int | float | str"
Cut: TypeAlias = "tuple[Point, int]"


def kind_of(column_type: str) -> Kind:
    """The axis on which values of a column type live. Dates and timestamps are whole numbers; booleans are texts."""
    if column_type in DISCRETE:
        return "integer"
    return "number" if column_type == "number" else "text"


def _before(value: Point) -> Cut:
    """The cut just before `value`; zero has one sign here, so that equal sets have equal texts."""
    return (value + 0.0 if isinstance(value, float) else value, 0)


def _after(kind: Kind, value: Point) -> Cut:
    """The cut just after `value`, written before the next value where there is one."""
    if isinstance(value, str):
        return (value, 1)
    return (value + 1, 0) if kind == "integer" else _before(math.nextafter(value, math.inf))


@frozen
class ValueSet:
    """A union of intervals. `inside` tells whether minus infinity belongs to it."""

    inside: bool
    cuts: tuple[Cut, ...] = ()

    # -- making ----------------------------------------------------------------------------------------

    @classmethod
    def everything(cls) -> ValueSet:
        return cls(True)

    @classmethod
    def nothing(cls) -> ValueSet:
        return cls(False)

    @classmethod
    def at_most(cls, kind: Kind, value: Point) -> ValueSet:
        return cls(True, (_after(kind, value),))

    @classmethod
    def below(cls, value: Point) -> ValueSet:
        return cls._made(True, [_before(value)])

    @classmethod
    def between(cls, kind: Kind, low: Point, high: Point) -> ValueSet:
        """All v with low <= v <= high; empty when low > high."""
        return cls.at_most(kind, high) & ~cls.below(low)

    @classmethod
    def points(cls, kind: Kind, values: Iterable[Point]) -> ValueSet:
        cuts: list[Cut] = []
        for value in sorted(set(values)):
            start = _before(value)
            if cuts and cuts[-1] == start:
                cuts.pop()  # the next whole number or double: one piece
            else:
                cuts.append(start)
            cuts.append(_after(kind, value))
        return cls._made(False, cuts)

    @classmethod
    def _made(cls, inside: bool, cuts: list[Cut]) -> ValueSet:
        """Nothing lies before the empty text, so a cut there is none."""
        return cls(not inside, tuple(cuts[1:])) if cuts and cuts[0] == ("", 0) else cls(inside, tuple(cuts))

    # -- set algebra -----------------------------------------------------------------------------------

    def __invert__(self) -> ValueSet:
        return ValueSet(not self.inside, self.cuts)

    def __and__(self, other: ValueSet) -> ValueSet:
        return self._merge(other, lambda a, b: a and b)

    def __or__(self, other: ValueSet) -> ValueSet:
        return self._merge(other, lambda a, b: a or b)

    def _merge(self, other: ValueSet, keep: Callable[[bool, bool], bool]) -> ValueSet:
        a, b = self.inside, other.inside
        inside = state = keep(a, b)
        cuts: list[Cut] = []
        i = j = 0
        while i < len(self.cuts) or j < len(other.cuts):
            left = self.cuts[i] if i < len(self.cuts) else None
            right = other.cuts[j] if j < len(other.cuts) else None
            cut = left if right is None or (left is not None and left <= right) else right
            if left == cut:
                a, i = not a, i + 1
            if right == cut:
                b, j = not b, j + 1
            now = keep(a, b)
            if now != state:
                cuts.append(cut)  # type: ignore[arg-type]
                state = now
        return ValueSet(inside, tuple(cuts))

    # -- asking ----------------------------------------------------------------------------------------

    def __contains__(self, value: object) -> bool:
        return self.inside ^ (bisect_right(self.cuts, (value, 0)) % 2 == 1)

    @property
    def is_empty(self) -> bool:
        return not self.inside and not self.cuts

    @property
    def is_everything(self) -> bool:
        return self.inside and not self.cuts

    def intervals(self, kind: Kind) -> tuple[tuple[int | float | None, int | float | None], ...]:
        """The pieces as closed intervals (low, high) in rising order, None where unbounded. Not for text."""
        if kind == "text":
            raise ValueError("text has no next value, so its pieces are not closed intervals")
        ends: list[int | float | None] = [None] if self.inside else []
        ends += [value for value, _ in cast("tuple[tuple[int | float, int], ...]", self.cuts)]
        if len(ends) % 2:
            ends.append(None)
        return tuple((low, _previous(kind, high)) for low, high in zip(ends[::2], ends[1::2], strict=True))


def _previous(kind: Kind, value: int | float | None) -> int | float | None:
    if value is None:
        return None
    return value - 1 if kind == "integer" else math.nextafter(value, -math.inf)
