"""Step functions of one continuous column, as tables: FLOOR(bmi / 5) * 5, WIDTH_BUCKET, CASE WHEN bmi < 30 ...

Where such a function steps is found by asking the database, in ever narrower gaps between doubles. So its table is
exactly the database's own, which no arithmetic with rounded ends would be: groups made of it are cut where the database
cuts them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from sqlglot import exp

from querygate.core.errors import UnsupportedSQL
from querygate.core.expression import Call, Choice, Constant, Expression, Lookup, Ref
from querygate.core.ports import Native
from querygate.core.predicate import And, Atom, Const, Or, Predicate, both, negate
from querygate.core.types import Column, Floats, Ints, SqlValue
from querygate.sql.restatement import wording_over_x

MOST_STEPS = 6_000
GRID = 513
"""Points at which a function is looked at first."""

HALVINGS = 2
"""How often a gap is halved before the database is asked again: a question costs more than its values do."""

Ask: TypeAlias = Callable[[Ints], Sequence[SqlValue]]
_STEPS = frozenset({"floor", "ceil", "trunc", "round", "whole", "sign", "decimal"})
_MONOTONE = frozenset({"add", "sub", "mul", "div", "neg", "double", "single", *_STEPS})


def stepped(e: Expression, node: exp.Expr, column: Column, native: Native) -> Lookup | None:
    """The table of an expression that has few results; None where it is none of the kind."""
    if column.type != "number" or column.low is None or column.high is None or not _is_stepped(e):
        return None
    cuts = tuple(sorted(cut for cut in _cuts(e) if column.low < cut <= column.high))
    try:
        return _table(wording_over_x(node), column, cuts, native)
    except UnsupportedSQL:  # somewhere in the domain there is no result, which need not be where records are
        return None


def decided(sides: list[Expression], node: exp.Expr, column: Column, native: Native) -> Predicate | None:
    """A comparison of tables and constants, or of a monotone function and a constant, by where it becomes TRUE."""
    if column.type != "number" or column.low is None or column.high is None:
        return None
    moving = [side for side in sides if not isinstance(side, Constant)]
    cuts = tuple(sorted({cut for side in moving for cut in _cuts(side) if column.low < cut <= column.high}))
    if all(isinstance(side, Lookup) for side in moving):
        starts = [float(column.low), *cuts]
        found = native.tabulate(wording_over_x(node), "number", [*starts, None])
        return Lookup.over_pieces(column.name, found.type, np.array(starts), found.results).where(bool)
    if len(moving) != 1 or not _is_stepped(moving[0], inside=True):
        return None
    kinds = (exp.LTE, exp.GTE) if isinstance(node, exp.EQ | exp.NEQ) else (type(node),)
    texts = [wording_over_x(kind(this=node.this.copy(), expression=node.expression.copy())) for kind in kinds]
    try:
        tables = [_table(text, column, cuts, native) for text in texts]
    except UnsupportedSQL:
        return None
    same = both(table.where(bool) for table in tables if table is not None)
    if None in tables:
        return None
    return negate(same) if isinstance(node, exp.NEQ) else same


# -- which expressions -------------------------------------------------------------------------------------------------


def _is_stepped(e: Expression, *, inside: bool = False) -> bool:
    """Between its cuts: a chain of monotone functions of one column and constants, with a step function in it."""
    match e:
        case Ref():
            return inside
        case Constant():
            return True
        case Lookup():
            return not e.of_category
        case Choice():
            decided_ = all(_is_plain(condition) for condition, _ in e.branches)
            return decided_ and all(_is_stepped(value, inside=inside) for _, value in e.ways)
        case Call(name, arguments):
            inner = [argument for argument in arguments if not isinstance(argument, Constant)]
            if name not in _MONOTONE or len(inner) != 1 or (name == "div" and inner[0] is not arguments[0]):
                return False  # 1 / x is not monotone
            return _is_stepped(inner[0], inside=inside or name in _STEPS)


def _is_plain(p: Predicate) -> bool:
    """Does the condition change at known values only?"""
    if isinstance(p, And | Or):
        return all(map(_is_plain, p.parts))
    return isinstance(p, Atom | Const)


def _cuts(e: Expression) -> set[float]:
    """Where a branch or a table changes to another piece."""
    match e:
        case Lookup():
            return {float(start) for start in e.starts[1:]}
        case Choice():
            found = [_cuts_of(condition) for condition, _ in e.branches] + [_cuts(value) for _, value in e.ways]
            return set().union(*found)
        case Call(_, arguments):
            return set().union(*map(_cuts, arguments))
    return set()


def _cuts_of(p: Predicate) -> set[float]:
    if isinstance(p, And | Or):
        return set().union(*map(_cuts_of, p.parts))
    return {float(v) for values in (p.true, p.false) for v, _ in values.cuts} if isinstance(p, Atom) else set()


# -- where they step ---------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _table(text: str, column: Column, cuts: tuple[float, ...], native: Native) -> Lookup | None:
    """The table over the domain of a column; None where it has too many steps or a result that is no number."""
    low, high = float(column.low or 0), float(column.high or 0)
    missing = native.tabulate(text, "number", [low, None])

    def ask(places: Ints) -> Sequence[SqlValue]:
        return native.tabulate(text, "number", _doubles(places).tolist()).results if places.size else ()

    steps = _find_steps(low, high, _places(cuts), ask)
    if steps is None or missing.type == "other":
        return None
    starts = [low, *_doubles(np.array(list(steps), dtype=np.int64)).tolist()]
    results = (missing.results[0], *steps.values(), missing.results[1])
    if any(isinstance(result, float) and not math.isfinite(result) for result in results):
        return None
    return Lookup.over_pieces(column.name, missing.type, np.array(starts), results)


def _find_steps(low: float, high: float, cuts: Ints, ask: Ask) -> dict[int, SqlValue] | None:
    """The places at which a function takes a new value, with the value, in order; None where there are many.

    In doubles too every function of a chain is monotone, because rounding to nearest is: between two arguments with one
    result there is no other result, unless a cut lies between them. First a grid, and the cuts; then every gap between
    two results is divided into equal parts and at the simplest decimal in it, which is where people let things step:
    one question finds most steps, and narrower gaps the others. All gaps are divided at once.
    """
    numbers: dict[SqlValue, int] = {}
    values: list[SqlValue] = []

    def numbered(places: Ints) -> Ints:
        """The number of the result at each place: equal results have equal numbers."""
        found = []
        for result in ask(places):
            number = numbers.setdefault(result, len(values))
            if number == len(values):
                values.append(result)
            found.append(number)
        return np.array(found, dtype=np.int64)

    grid = np.concatenate([_places([low, high]), _places(np.linspace(low, high, GRID)), cuts, cuts - 1])
    points = np.unique(grid)
    results, gap_of = numbered(points), np.zeros(points.size, dtype=np.int64)
    found: dict[int, SqlValue] = {}
    while True:
        steps = np.flatnonzero((results[1:] != results[:-1]) & (gap_of[1:] == gap_of[:-1]))
        begin, end = points[steps], points[steps + 1]
        near = begin + 1 == end
        found.update(zip(end[near].tolist(), (values[i] for i in results[steps + 1][near].tolist()), strict=True))
        if len(found) + int((~near).sum()) > MOST_STEPS:
            return None
        if near.all():
            return {place: found[place] for place in sorted(found)}
        begin, end = begin[~near], end[~near]
        known = results[steps][~near], results[steps + 1][~near]
        simple = _places(_simplest(_doubles(begin), _doubles(end)))
        gap = np.arange(begin.size)
        between = [simple - 1, simple, *_between(begin, end)]
        inside, which = np.concatenate(between), np.tile(gap, len(between))
        kept = (begin[which] < inside) & (inside < end[which])
        inside, which = inside[kept], which[kept]
        all_points = np.concatenate([begin, inside, end])
        all_results = np.concatenate([known[0], numbered(inside), known[1]])
        all_gaps = np.concatenate([gap, which, gap])
        order = np.lexsort((all_points, all_gaps))
        points, results, gap_of = all_points[order], all_results[order], all_gaps[order]


def _between(begin: Ints, end: Ints) -> list[Ints]:
    """Places that divide each gap into equal parts; in a narrow one some of them are the same."""
    ends = [begin, end]
    for _ in range(HALVINGS):
        # the mean, without a sum that is too large
        ends = [begin, *(place for a, b in pairwise(ends) for place in ((a & b) + ((a ^ b) >> 1), b))]
    return ends[1:-1]


def _simplest(a: Floats, b: Floats) -> Floats:
    """A decimal with few digits in each (a, b]."""
    found, open_ = b.copy(), np.ones(a.size, dtype=np.bool_)
    for digits in range(-3, 17):
        with np.errstate(over="ignore", invalid="ignore"):
            near = np.round(a / 2 + b / 2, digits)
            fits = open_ & (a < near) & (near <= b)
        found[fits] = near[fits]
        open_ &= ~fits
    return found


def _places(values: Sequence[float] | Floats) -> Ints:
    """The place of each double in the order of all doubles, zero at zero."""
    bits = np.asarray(values, dtype=np.float64).view(np.int64)
    return np.where(bits >= 0, bits, np.int64(-(2**63)) - bits)


def _doubles(places: Ints) -> Floats:
    bits = np.where(places >= 0, places, np.int64(-(2**63)) - places)
    return bits.astype(np.int64).view(np.float64)
