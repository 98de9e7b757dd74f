"""Counts by frame cell for all groups at once are those of each group by itself."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from querygate.bounds import Counted, counts_by_frame, gather
from querygate.core.expression import told_key
from querygate.core.plan import GroupKey
from querygate.core.predicate import TRUE, Predicate, both, compare, is_not_null, is_null
from querygate.core.valueset import ValueSet
from tests.unit.bounds.test_kept_spreads import DECADE, VALUES, make_block
from tests.unit.plans import category_key, make_plan

FRAMES = 5
BY_SEX = category_key("sex", VALUES)
BY_DECADE = GroupKey("key age", "integer", DECADE, tuple(map(told_key, DECADE.results)))
MIDDLE = compare("age", ValueSet.between("integer", 7, 21))


@pytest.mark.parametrize("at_once", [0, 2**18])
@pytest.mark.parametrize("rows", [0, 1, 60])
@pytest.mark.parametrize("keys", [(), (BY_SEX,), (BY_DECADE,), (BY_SEX, BY_DECADE)])
@pytest.mark.parametrize(
    "where", [TRUE, MIDDLE, is_null("age"), is_not_null("age"), both([MIDDLE, is_not_null("sex")])]
)
def test_they_are_those_of_each_group(
    rows: int, keys: tuple[GroupKey, ...], where: Predicate, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("querygate.bounds.group_cells"), "MOST_AT_ONCE", at_once)
    frame = np.random.default_rng(3).integers(0, FRAMES, rows)
    block = replace(make_block(rows), frame=frame)
    plan = make_plan(where, keys=keys)

    found = counts_by_frame(Counted.of(plan), block, FRAMES)

    alone = {group.keys: group.cells[0] for group in gather(plan, block)}
    assert alone.keys() <= found.rows.keys()
    for at, row in found.rows.items():
        least, most = found.least[row], found.most[row]
        if at not in alone:
            assert not most.any()
            continue
        cells = alone[at]
        assert least.tolist() == np.bincount(cells.frame, cells.least, FRAMES).astype(int).tolist()
        assert most.tolist() == np.bincount(cells.frame, cells.most, FRAMES).astype(int).tolist()


def test_nobody_is_in_a_group_that_is_not_there() -> None:
    block = replace(make_block(9), frame=np.zeros(9, dtype=np.int64))
    least, most = counts_by_frame(Counted.of(make_plan(keys=(BY_SEX,))), block, FRAMES).of([("nobody",), ("nobody",)])
    assert least.shape == (2, FRAMES)
    assert not most.any()


def test_a_block_of_no_margin_has_no_frame_cells() -> None:
    with pytest.raises(ValueError, match="to a margin"):
        counts_by_frame(Counted.of(make_plan()), make_block(4), FRAMES)
