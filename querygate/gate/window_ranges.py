"""OVER: what a statement makes of several groups, for each of them.

Groups of a partition are records of a statistic: one that is there for certain counts, one that may be there may count.
The group itself is there, as its row would not be shown otherwise. A share of a sum is bounded with its part: what is
in the group is in the sum too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from querygate.bounds import Membership, expression_bounds
from querygate.core.errors import UnsupportedSQL
from querygate.core.expression import Expression
from querygate.core.margin_choice import part_of
from querygate.core.plan import Plan, Rank, Window
from querygate.core.types import Bools, Cells, Ints, Range, Scalar
from querygate.gate.neighbour_ranges import Neighbours
from querygate.gate.order_and_limit import OrderTerm, ranks_before, term_of_keys, term_of_ranges
from querygate.gate.plan_cells import RangedGroup, Sheet, range_groups
from querygate.stats import STATISTICS
from querygate.stats.cells import meet
from querygate.stats.numerics import enclose

BESIDE_GROUPS = frozenset({"whole", "part"})
"""Numbers of another query, and shares of them: HAVING may ask for them, and other groups have no part in them."""

Keys = tuple[Scalar, ...]
Wholes = Mapping[tuple[int, ...], Mapping[Keys, Mapping[int, Range]]]
"""By places of keys and by their values, the ranges of aggregates, by their places, over all such groups together."""


def range_wholes(plan: Plan, sheets: Sequence[Sheet], check: Callable[[], None], exists: Bools | None) -> Wholes:
    """What the aggregates that windows ask for are of groups together."""
    found: dict[tuple[int, ...], dict[Keys, dict[int, Range]]] = {}
    for among, wanted in wanted_wholes(plan).items():
        place = {aggregate: i for i, aggregate in enumerate(wanted)}
        whole = replace(part_of(plan, wanted), sets=(among,), windows=())
        parts = []
        for sheet in sheets:
            kept = [i for i, aggregate in enumerate(sheet.places) if aggregate in place]
            part = replace(part_of(sheet.plan, kept), sets=(among,), windows=())
            parts.append(replace(sheet, plan=part, places=tuple(place[sheet.places[i]] for i in kept)))
        groups = range_groups(whole, parts, check, exists=exists)
        found[among] = {
            tuple(group.keys[i] for i in among): dict(zip(wanted, group.ranges, strict=True)) for group in groups
        }
    return found


def wanted_wholes(plan: Plan) -> dict[tuple[int, ...], list[int]]:
    """By places of keys, the aggregates that windows ask for of such groups together."""
    found: dict[tuple[int, ...], set[int]] = {}
    for window in plan.windows:
        if window.whole is not None:
            found.setdefault(window.among, set()).add(window.whole)
    return {among: sorted(wanted) for among, wanted in found.items()}


@dataclass(frozen=True)
class GroupValues:
    """The argument of a window in each group: its ends, whether it is there at all, and whether for certain."""

    cells: Cells
    may: Bools

    @classmethod
    def of(cls, e: Expression, members: Membership) -> GroupValues:
        least, most = members.counts(e.present)
        low, high = expression_bounds(e, members, e.present)
        may = (most > 0) & (low <= high)
        ends = np.where(may, low, 0), np.where(may, high, 0)
        integer = bool(np.issubdtype(low.dtype, np.integer))
        return cls(Cells(*ends, (may & (least > 0)).astype(np.int64), may.astype(np.int64), integer), may)


def window_ranges(
    window: Window, groups: Sequence[RangedGroup], certain: Bools, members: Membership, wholes: Wholes
) -> list[Range]:
    """The range of a window in every group that there may be."""
    places: dict[Keys, list[int]] = {}
    for i, group in enumerate(groups):
        places.setdefault(tuple(group.keys[place] for place in window.among), []).append(i)
    found: dict[int, Range] = {}
    told = wholes.get(window.among, {})
    has_values = window.statistic != "whole" and window.argument.type != "null"
    values = GroupValues.of(window.argument, members) if has_values else None
    terms = [_term(rank, groups, members) for rank in window.ranks]
    for keys, rows in places.items():
        members.check()
        whole = told.get(keys, {}).get(window.whole) if window.whole is not None else None
        here = np.array(rows, dtype=np.int64)
        partition = _Partition(
            window, certain[here], [term.take(here) for term in terms], None if values is None else _take(values, here),
            whole,
        )  # fmt: skip
        found.update(zip(rows, partition.ranges(), strict=True))
    return [found[i] for i in range(len(groups))]


def _take(values: GroupValues, rows: Ints) -> GroupValues:
    c = values.cells
    return GroupValues(Cells(c.low[rows], c.high[rows], c.least[rows], c.most[rows], c.integer), values.may[rows])


def _term(rank: Rank, groups: Sequence[RangedGroup], members: Membership) -> OrderTerm:
    if rank.key is not None:
        keys = [group.keys[rank.key] for group in groups]
        return term_of_keys(keys, rank.descending, rank.nulls_first, rank.order)
    least, most = members.counts(rank.formula.present)
    low, high = expression_bounds(rank.formula, members, rank.formula.present)
    ranges = [
        Range(low[i].item(), high[i].item(), may_be_null=bool(least[i] == 0)) if most[i] else Range.null()
        for i in range(len(groups))
    ]
    return term_of_ranges(ranges, rank.descending, rank.nulls_first)


@dataclass(frozen=True)
class _Partition:
    """The groups of one partition: which are there for certain, their order, and the argument in each."""

    window: Window
    certain: Bools
    terms: list[OrderTerm]
    values: GroupValues | None
    whole: Range | None

    def ranges(self) -> list[Range]:
        size = len(self.certain)
        match self.window.statistic:
            case "whole":
                return [self.whole or Range.null()] * size
            case "row_number" | "rank" | "dense_rank":
                return [self._rank(i) for i in range(size)]
            case "share" | "part":
                return [self._share(i) for i in range(size)]
            case "lag" | "first" | "last" | "last_peer" | "ntile" | "percent_rank" | "cume_dist":
                return self._of_neighbours()
        if not self.terms and self.certain.all():
            return [self._statistic(0)] * size
        return [self._statistic(i) for i in range(size)]

    def _there(self, i: int) -> tuple[Bools, Bools]:
        """Which groups are in the frame of group i for certain, and which may be."""
        surely, maybe = self.certain.copy(), np.ones_like(self.certain)
        if self.terms:
            before, perhaps, tied = ranks_before(self.terms, i)
            surely &= before | tied if self.window.peers else before
            maybe = perhaps | tied
        surely[i] = maybe[i] = True
        return surely, maybe

    def _statistic(self, i: int) -> Range:
        surely, maybe = self._there(i)
        if self.values is None:
            return Range(int(surely.sum()), int(maybe.sum()))
        found = STATISTICS.get(self.window.statistic).range(_within(self.values.cells, surely, maybe))
        if self.window.statistic == "sum" and self.whole is not None:
            found = replace(meet(found, self.whole), may_be_null=found.may_be_null)
        exact = found.is_exact or found.is_null
        return found if exact else replace(found, sharp=False, attained_low=None, attained_high=None)

    def _of_neighbours(self) -> list[Range]:
        neighbours, window = Neighbours(self.certain, self.terms), self.window
        match window.statistic:
            case "ntile":
                return neighbours.tile(int(window.parameters[0]))
            case "percent_rank" | "cume_dist":
                return neighbours.share(peers=window.statistic == "cume_dist")
        if self.values is None:
            return [Range.null()] * len(self.certain)
        match window.statistic:
            case "first" | "last":
                return neighbours.first(self.values.cells, last=window.statistic == "last")
            case "last_peer":
                return neighbours.last_peer(self.values.cells)
        back, *default = window.parameters
        return neighbours.shifted(self.values.cells, int(back), Range.exact(default[0]) if default else Range.null())

    def _rank(self, i: int) -> Range:
        nobody = np.zeros_like(self.certain)
        ordered = ranks_before(self.terms, i) if self.terms else (nobody, nobody, ~nobody)
        before, perhaps, tied = (each & (np.arange(len(each)) != i) for each in ordered)
        surely = before & self.certain
        if self.window.statistic == "dense_rank":
            low = 1 + (self.terms[0].apart(surely) or int(surely.any()) if self.terms else 0)
        else:
            low = 1 + int(surely.sum())
        may = perhaps | tied if self.window.statistic == "row_number" else perhaps
        high = 1 + (self._different(may) if self.window.statistic == "dense_rank" else int(may.sum()))
        return Range(low, high, low if low == high else None, high if low == high else None, sharp=low == high)

    def _different(self, rows: Bools) -> int:
        """How many of these groups may differ in what they are ordered by: those that are told exactly, once each."""
        ends = [tuple((int(term.low[i]), int(term.high[i])) for term in self.terms) for i in np.flatnonzero(rows)]
        exact = [all(low == high for low, high in pairs) for pairs in ends]
        return len({pairs for pairs, is_exact in zip(ends, exact, strict=True) if is_exact}) + exact.count(False)

    # -- shares --------------------------------------------------------------------------------------------------------

    def _share(self, i: int) -> Range:
        """part / (part + rest), which rises with the part and falls with the rest, whatever the two have to do with
        each other; the sum is known by itself too."""
        if self.values is None or not self.values.may[i]:
            return Range.null()
        cells, (surely, maybe) = self.values.cells, self._there(i)
        surely[i] = maybe[i] = False
        part = _ends(Range(cells.low[i].item(), cells.high[i].item()))
        if self.window.statistic == "share":
            others = _ends(STATISTICS.get("sum").range(_within(cells, surely, maybe)), or_nothing=True)
        else:
            others = Fraction(0), _ends(self.whole or Range.null())[1]
        least = part[0] + others[0]
        if self.whole is not None and self.whole.low is not None:
            whole = _ends(self.whole)
            part, others = _fitted(part, others, whole)
            least = max(part[0] + others[0], whole[0])
        if part[1] + others[1] == 0 and self.window.null:
            return Range.null()
        if least == 0 and not self.window.null:
            raise UnsupportedSQL(
                "QG215",
                "The divisor may be zero, so no range can be computed.",
                "Divide by NULLIF(divisor, 0), or group.",
            )
        bounds = enclose(_quotient(part[0], others[1])).low, enclose(_quotient(part[1], others[0])).high
        if not cells.integer or part[1] + others[1] > _EXACT:
            slack = (len(self.certain) + 16) * 2.0**-52  # each sum is rounded, and so is their quotient
            bounds = bounds[0] * (1 - slack), bounds[1] * (1 + slack)
        return Range(*bounds, sharp=False, may_be_null=least == 0 or not cells.least[i])


_Ends = tuple[Fraction, Fraction]

_EXACT = 2**46
"""Whole numbers that are doubles, also a hundred times: beyond, the database rounds part and sum before it divides."""


def _within(cells: Cells, surely: Bools, maybe: Bools) -> Cells:
    return Cells(cells.low, cells.high, cells.least * surely, cells.most * maybe, cells.integer)


def _ends(found: Range, *, or_nothing: bool = False) -> _Ends:
    """The ends of a range of what is never negative; of one that may be NULL, which adds nothing, zero too."""
    if found.low is None or found.high is None:
        return Fraction(0), Fraction(0)
    low = 0 if or_nothing and found.may_be_null else max(0, found.low)
    return Fraction(low), Fraction(max(0, found.high))


def _fitted(part: _Ends, rest: _Ends, whole: _Ends) -> tuple[_Ends, _Ends]:
    """What part and rest can be so that they add up to the whole."""
    low, high = max(part[0], whole[0] - rest[1]), min(part[1], whole[1] - rest[0])
    if low > high:  # roundings of one value
        return part, rest
    return (low, high), (max(rest[0], whole[0] - high), min(rest[1], whole[1] - low))


def _quotient(part: Fraction, rest: Fraction) -> Fraction:
    return part / (part + rest) if part else Fraction(0)
