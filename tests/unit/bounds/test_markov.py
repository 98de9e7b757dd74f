"""How many members of a class are beyond a threshold, against every class that its sum allows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from querygate.bounds.membership import Membership
from querygate.core.block import Block, ClassMoments, NumberColumn, RowClasses
from querygate.core.predicate import Atom
from querygate.core.valueset import ValueSet, kind_of

CONDITIONS = [(2, None), (None, 3), (1, 4), (3, 3), (-9, 9), (7, None)]


def block_of(low: int, high: int, n: int, sums: tuple[int, int], *, whole: bool = True, integer: bool = True) -> Block:
    kind = np.int64 if integer else np.float64
    column = NumberColumn(np.array([low], dtype=kind), np.array([high], dtype=kind), np.zeros(1, dtype=np.int64))
    nothing = np.full(1, np.nan)
    ends = (np.array([float(end)]) for end in sums)
    told = ClassMoments(np.array([4]), np.array([n if whole else n + 1]), *ends, nothing, nothing)
    classified = RowClasses(np.array([4]), np.array([0]), {"x": told})
    return Block(np.array([n]), {"x": column}, None, frozenset({"x"}), classified)


def atom(first: int | None, last: int | None, kind: str = "integer") -> Atom:
    above = ValueSet.everything() if first is None else ~ValueSet.below(first)
    true = above if last is None else above & ValueSet.at_most(kind_of(kind), last)
    return Atom("x", true, ~true, "null")


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("integer", [True, False])
def test_every_class_is_inside(condition: tuple[int | None, int | None], integer: bool) -> None:
    first, last = condition
    narrowed = 0
    for low, width, n in itertools.product((-2, 0, 1), (1, 3, 5), (1, 3, 4)):
        values = range(low, low + width + 1)
        for total, slack in itertools.product(range(n * low, n * (low + width) + 1, 2), (0, 2)):
            every = [c for c in itertools.combinations_with_replacement(values, n) if total <= sum(c) <= total + slack]
            counts = [sum((first is None or x >= first) and (last is None or x <= last) for x in c) for c in every]
            block = block_of(low, low + width, n, (total, total + slack), integer=integer)
            [least], [most] = Membership(block).counts(atom(first, last, "integer" if integer else "number"))
            assert least <= min(counts)
            assert max(counts) <= most
            narrowed += (least, most) not in ((0, n), (0, 0), (n, n))
            one_sided = (first is None or first <= low) or (last is None or last >= low + width)
            if integer and one_sided:
                assert (least, most) == (min(counts), max(counts)), (low, width, n, total, slack)
    assert narrowed > 20 or condition in ((-9, 9), (7, None))


def test_a_part_of_a_class_has_no_sum() -> None:
    part = block_of(0, 9, 4, (0, 3), whole=False)
    assert [c.tolist() for c in Membership(part).counts(atom(5, None))] == [[0], [4]]
    whole = block_of(0, 9, 4, (0, 3))
    assert [c.tolist() for c in Membership(whole).counts(atom(5, None))] == [[0], [0]]
    changed = whole.with_column("x", NumberColumn(np.array([0]), np.array([9]), np.zeros(1, dtype=np.int64)))
    assert [c.tolist() for c in Membership(changed).counts(atom(5, None))] == [[0], [4]]
