"""Who is still shown safe once some have told their values: nobody who is not, by trying every table."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.core.types import Ints
from querygate.methods.views import (
    CellRelease,
    QuasiIdentifier,
    RecordTable,
    SensitiveColumn,
    TooFewPeople,
    ViewPlan,
    certified_views,
)
from querygate.methods.views.colluders import not_shown_safe
from tests.unit.methods.views.brute import possible_bins
from tests.unit.methods.views.tables import SURVEY_PLAN, plan, random_table, survey_like


def labels_of(cell: CellRelease, name: str) -> Ints:
    return np.stack([label for view in range(len(cell.counts)) if (label := cell.labels(view, name)) is not None])


def test_whoever_is_shown_safe_has_another_value_in_some_table() -> None:
    looked_at = exposed = 0
    for seed in range(40):
        table = random_table(seed)
        try:
            release = certified_views(table, plan(2, 2))
        except TooFewPeople:
            continue
        rng = np.random.default_rng(seed)
        for cell in release.cells:
            told = rng.random(cell.records.size) < 0.3
            for column, one in zip(table.sensitive, cell.columns, strict=True):
                if one.safe.is_withheld or column.measures:
                    continue
                unsafe = not_shown_safe(column, cell, release.values, told)
                rest = np.flatnonzero(~told)
                bins = column.bins[cell.records]
                can = possible_bins(labels_of(cell, column.name)[:, rest], bins[rest]) if rest.size else []
                assert not unsafe[told].any()
                assert all(
                    len(own) >= release.values for own, record in zip(can, rest, strict=True) if not unsafe[record]
                )
                looked_at, exposed = looked_at + rest.size, exposed + int(unsafe.sum())
    assert looked_at > 100
    assert exposed > 10


def test_nobody_is_exposed_by_nobody_and_the_last_of_a_class_by_all_others() -> None:
    ward = QuasiIdentifier("ward", np.repeat([0, 1], 6), 2)
    ill = SensitiveColumn("ill", np.tile([0, 1], 6), 2)
    release = certified_views(RecordTable((ward,), (ill,)), ViewPlan((("ward",),), (), k=5))
    [cell] = release.cells
    told = np.isin(cell.records, [0, 1, 2, 3, 4])
    assert not not_shown_safe(ill, cell, 2, np.zeros(12, dtype=np.bool_)).any()
    assert cell.records[not_shown_safe(ill, cell, 2, told)].tolist() == [5]


@pytest.mark.parametrize("share", [0.0, 0.8, 1.0])
def test_numbers_with_sums_are_looked_at_too(share: float) -> None:
    table = survey_like(400)
    release = certified_views(table, SURVEY_PLAN)
    rng = np.random.default_rng(4)
    exposed = 0
    for cell in release.cells:
        told = rng.random(cell.records.size) < share
        for column in table.sensitive[:3]:
            unsafe = not_shown_safe(column, cell, release.values, told)
            assert not unsafe[told].any()
            exposed += int(unsafe.sum())
    assert (exposed > 0) == (share == 0.8)
