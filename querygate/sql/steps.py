"""Step functions of one continuous column, as tables: FLOOR(bmi / 5) * 5, WIDTH_BUCKET, CASE WHEN bmi < 30 ...

Where such a function steps is found by asking the database, by bisection among the doubles. So its table is exactly the
database's own, which no arithmetic with rounded ends would be: groups made of it are cut where the database cuts them.
"""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from sqlglot import exp

from querygate.core.errors import UnsupportedSQL
from querygate.core.expression import Call, Choice, Constant, Expression, Ref, Tabulated
from querygate.core.ports import Native
from querygate.core.predicate import And, Atom, Const, Or, Predicate, both, negate
from querygate.core.types import Column
from querygate.sql.wording import wording_over_x

MOST_STEPS = 6_000
GRID = 513
"""Points at which a function is looked at first."""

Ask: TypeAlias = Callable[[list[int]], tuple[Any, ...]]
_STEPS = frozenset({"floor", "ceil", "trunc", "round", "whole", "sign"})
_MONOTONE = frozenset({"add", "sub", "mul", "div", "neg", "double", *_STEPS})


def stepped(e: Expression, node: exp.Expr, column: Column, native: Native) -> Tabulated | None:
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
    if all(isinstance(side, Tabulated) for side in moving):
        starts = [float(column.low), *cuts]
        found = native.tabulate(wording_over_x(node), "number", [*starts, None])
        return Tabulated.over_pieces(column.name, found.type, np.array(starts), found.results).where(bool)
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
        case Tabulated():
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
        case Tabulated():
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
def _table(text: str, column: Column, cuts: tuple[float, ...], native: Native) -> Tabulated | None:
    """The table over the domain of a column; None where it has too many steps or a result that is no number."""
    low, high = float(column.low or 0), float(column.high or 0)
    missing = native.tabulate(text, "number", [low, None])

    def ask(places: list[int]) -> tuple[Any, ...]:
        return native.tabulate(text, "number", [_double(place) for place in places]).results if places else ()

    steps = _find_steps(low, high, {_place(cut) for cut in cuts}, ask)
    if steps is None or missing.type == "other":
        return None
    starts, results = [low, *map(_double, steps)], (missing.results[0], *steps.values(), missing.results[1])
    if any(isinstance(result, float) and not math.isfinite(result) for result in results):
        return None
    return Tabulated.over_pieces(column.name, missing.type, np.array(starts), results)


def _find_steps(low: float, high: float, cuts: set[int], ask: Ask) -> dict[int, Any] | None:
    """The places at which a function takes a new value, with the value, in order; None where there are many.

    In doubles too every function of a chain is monotone, because rounding to nearest is: between two arguments with one
    result there is no other result, unless a cut lies between them. First a grid, and the cuts; then every gap between
    two results is divided in the middle and at the simplest decimal in it, which is where people let things step: one
    question finds most steps, and bisection the others.
    """
    grid = {_place(x) for x in (low, high, *np.linspace(low, high, GRID).tolist())}
    places = sorted(grid | cuts | {cut - 1 for cut in cuts})
    known = zip(places, ask(places), strict=True)
    gaps = [(a, b) for a, b in itertools.pairwise(known) if a[1] != b[1]]
    found: dict[int, Any] = {}
    while gaps:
        if len(found) + len(gaps) > MOST_STEPS:
            return None
        points = [_points(a, b) for (a, _), (b, _) in gaps]
        values = iter(ask([place for inside in points for place in inside]))
        narrower = []
        for (a, b), inside in zip(gaps, points, strict=True):
            for one, two in itertools.pairwise([a, *((place, next(values)) for place in inside), b]):
                if one[1] != two[1] and two[0] - one[0] > 1:
                    narrower.append((one, two))
                elif one[1] != two[1]:
                    found[two[0]] = two[1]
        gaps = narrower
    return {place: found[place] for place in sorted(found)}


def _points(a: int, b: int) -> list[int]:
    """Places inside a gap at which to ask next."""
    simple = _place(_simplest(_double(a), _double(b)))
    return sorted(place for place in {simple - 1, simple, (a + b) // 2} if a < place < b)


def _simplest(a: float, b: float) -> float:
    """A decimal with few digits in (a, b]."""
    for digits in range(-3, 17):
        near = round((a + b) / 2, digits)
        if a < near <= b:
            return near
    return b


def _place(value: float) -> int:
    """The place of a double in the order of all doubles, zero at zero."""
    bits: int = struct.unpack("<q", struct.pack("<d", value))[0]
    return bits if bits >= 0 else -(2**63) - bits


def _double(place: int) -> float:
    bits = place if place >= 0 else -(2**63) - place
    value: float = struct.unpack("<d", struct.pack("<q", bits))[0]
    return value
