"""Whole releases: hostile data, guards of the anonymiser, insertion, frames."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from querygate.methods.anonymise import Distinct, Sensitive, SpreadGuard
from querygate.methods.anonymise.guards.numeric_guards import Numbers
from querygate.methods.views import (
    FrameColumn,
    Measure,
    QuasiIdentifier,
    RecordTable,
    SensitiveColumn,
    TooFewPeople,
    ViewPlan,
    cell_records,
    certified_cell,
    certified_views,
    gathered,
)
from tests.unit.methods.views.recheck import problems
from tests.unit.methods.views.tables import SURVEY_PLAN, hostile, plan, random_table, survey_like

SURVEY = survey_like(900)
RELEASE = certified_views(SURVEY, SURVEY_PLAN)


def test_a_survey_keeps_every_certificate() -> None:
    assert problems(SURVEY, RELEASE) == []
    assert all(one.views == (0, 1) for cell in RELEASE.cells for one in cell.columns)


def test_cells_made_apart_are_those_made_together() -> None:
    cells = [certified_cell(SURVEY, SURVEY_PLAN, records) for records in reversed(cell_records(SURVEY, SURVEY_PLAN))]
    again = gathered(SURVEY, SURVEY_PLAN, pickle.loads(pickle.dumps(cells[::-1])))  # as another process sends them
    for one, other in zip(RELEASE.cells, again.cells, strict=True):
        assert np.array_equal(one.records, other.records)
        for column, twin in zip(one.columns, other.columns, strict=True):
            assert column.collapses == twin.collapses
            for told, same in zip(column.figures, twin.figures, strict=True):
                assert np.array_equal(told.histogram, same.histogram)
                assert np.array_equal(told.sum_low, same.sum_low)


def test_boxes_hold_their_members() -> None:
    here = RELEASE.cells[2]
    label = here.counts[1].of(here.leaf[1])
    for name, box in RELEASE.class_boxes(SURVEY, 2, 1):
        codes = SURVEY.column(name).codes[here.records]
        assert box[label, codes].all()
        assert box.any(axis=1).all()
    classes = here.frontier(1, "diabetes")
    assert classes is not None
    assert {box.shape[0] for _, box in RELEASE.class_boxes(SURVEY, 2, 1, "diabetes")} == {classes.classes}


@pytest.mark.parametrize("views", [1, 2, 3])
def test_order_of_records_changes_no_figure(views: int) -> None:
    table = random_table(11, records=40)
    mixed = np.random.default_rng(3).permutation(40)
    quasi = tuple(replace(column, codes=column.codes[mixed]) for column in table.quasi)
    sensitive = tuple(
        replace(
            column,
            codes=column.codes[mixed],
            measures=tuple(replace(measure, values=measure.values[mixed]) for measure in column.measures),
        )
        for column in table.sensitive
    )
    one = certified_views(table, plan(views, 3))
    other = certified_views(RecordTable(quasi, sensitive), plan(views, 3))
    for left, right in zip(one.cells[0].columns, other.cells[0].columns, strict=True):
        for told, same in zip(left.figures, right.figures, strict=True):
            assert np.array_equal(told.histogram, same.histogram)
            assert np.array_equal(told.sum_low, same.sum_low)


@pytest.mark.parametrize("seed", range(8))
def test_hostile_tables_keep_every_certificate(seed: int) -> None:
    table, wanted = hostile(seed)
    assert problems(table, certified_views(table, wanted)) == []


def constant(name: str, records: int) -> SensitiveColumn:
    return SensitiveColumn(name, np.zeros(records, dtype=np.int64), 2)


def test_a_constant_is_withheld() -> None:
    table = RecordTable(random_table(1, records=30).quasi, (constant("ill", 30),))
    release = certified_views(table, plan(3, 3))
    assert [one.views for one in release.cells[0].columns] == [()]
    assert release.cells[0].columns[0].collapses[0].reason.startswith("withheld")
    assert problems(table, release) == []


def test_a_column_of_nulls_is_withheld() -> None:
    nulls = SensitiveColumn("ill", np.full(30, -1), 2)
    release = certified_views(RecordTable(random_table(1, records=30).quasi, (nulls,)), plan(2, 3))
    assert release.cells[0].columns[0].views == ()


def test_people_who_are_all_equal_are_one_class() -> None:
    quasi = tuple(replace(column, codes=np.zeros(30, dtype=np.int64)) for column in random_table(1, records=30).quasi)
    table = RecordTable(quasi, (SensitiveColumn("ill", np.arange(30) % 2, 2),))
    release = certified_views(table, plan(4, 3))
    assert [view.classes for view in release.cells[0].counts] == [1, 1, 1, 1]
    assert problems(table, release) == []


@pytest.mark.parametrize("records", [0, 1, 2])
def test_fewer_than_k_people_are_refused(records: int) -> None:
    none = np.zeros(records, dtype=np.int64)
    table = RecordTable((QuasiIdentifier("age", none, 1),), ())
    with pytest.raises(TooFewPeople):
        certified_views(table, ViewPlan((("age",),), (), 3))


def test_one_person_with_many_records_is_one_person() -> None:
    table = RecordTable((QuasiIdentifier("age", np.arange(50) % 3, 3),), (), persons=np.zeros(50, dtype=np.int64))
    with pytest.raises(TooFewPeople):
        certified_views(table, ViewPlan((("age",),), (), 2))


@pytest.mark.parametrize("seed", range(5))
def test_persons_with_several_records_are_counted_once(seed: int) -> None:
    table = random_table(seed, records=60, persons=True)
    release = certified_views(table, plan(2 + seed % 2, 3))
    assert problems(table, release) == []


def test_a_measure_must_fit_its_bins() -> None:
    huge = Measure(np.array([0]), np.array([0]), np.array([2**62]), 5, 15)
    with pytest.raises(ValueError, match="outside its bin"):
        SensitiveColumn("x", np.array([0]), 1, (Measure(np.array([9]), np.array([0]), np.array([4]), 5, 15),))
    with pytest.raises(ValueError, match="do not fit"):
        SensitiveColumn("x", np.array([0]), 1, (huge,))


def test_linked_columns_keep_joint_bins_and_both_sums() -> None:
    table = survey_like(600)
    first, second = table.sensitive[0], table.sensitive[2]
    missing = (first.codes < 0) | (second.codes < 0)
    names, joint = np.unique(np.stack([first.codes, second.codes]) // 4, axis=1, return_inverse=True)
    measures = []
    for place, column in enumerate((first, second)):
        one = column.measures[0]
        low = np.where(names.min(axis=0) < 0, 1, one.low[np.maximum(names[place] * 4, 0)])
        width = 4 * (one.high[0] - one.low[0] + 1)
        high = np.where(names.min(axis=0) < 0, 0, low + width - 1)
        measures.append(Measure(np.where(missing, 0, one.values), low, high, one.span, one.step))
    both = SensitiveColumn("both", joint.reshape(-1), names.shape[1], tuple(measures))
    linked = RecordTable(table.quasi, (both,))
    release = certified_views(linked, SURVEY_PLAN)
    assert problems(linked, release) == []
    assert any(one.views for cell in release.cells for one in cell.columns)


def test_numbers_whose_sums_are_not_told_keep_their_guard() -> None:
    table = survey_like(600)
    untold = [replace(c, measures=tuple(replace(m, step=0) for m in c.measures)) for c in table.sensitive]
    silent = RecordTable(table.quasi, tuple(untold))
    release = certified_views(silent, SURVEY_PLAN)
    assert problems(silent, release) == []
    assert any(one.views for cell in release.cells for one in cell.columns)


@pytest.mark.parametrize("seed", range(6))
def test_guards_of_the_anonymiser_hold_in_every_class(seed: int) -> None:
    table = random_table(seed, records=60)
    drug, sbp = table.sensitive[1], table.sensitive[2]
    every = np.arange(60)
    values = np.where(sbp.codes < 0, np.nan, sbp.measures[0].values.astype(float))
    diverse = Distinct(Sensitive("drug", every, drug.bins, np.ones(60, dtype=np.int64), 4), 3)
    spread = SpreadGuard(Numbers("sbp", every, values, np.ones(60, dtype=np.int64)), 10.0)
    guarded = RecordTable(table.quasi, (replace(drug, guards=(diverse,)), replace(sbp, guards=(spread,))))
    release = certified_views(guarded, plan(2, 3))
    assert problems(guarded, release) == []
    told = 0
    for one in release.cells[0].columns:
        for view in one.views:
            label = release.cells[0].labels(view, one.name)
            assert label is not None
            for name in np.unique(label):
                members = release.cells[0].records[label == name]
                told += 1
                if one.name == "drug":
                    assert np.unique(drug.codes[members]).size >= 3
                else:
                    known = values[members][~np.isnan(values[members])]
                    assert np.ptp(known) >= 10.0
    assert told


@pytest.mark.parametrize("seed", range(3))
def test_insertion_leaves_earlier_views_as_they_are(seed: int) -> None:
    table = random_table(seed, records=30)
    two, four = (certified_views(table, plan(views, 3)).cells[0] for views in (2, 4))
    for before, after in zip(two.counts, four.counts, strict=False):
        assert np.array_equal(before.top, after.top)
    for before, after in zip(two.columns, four.columns, strict=True):
        assert after.views[: len(before.views)] == before.views
        for told, same in zip(before.figures, after.figures, strict=False):
            assert np.array_equal(told.nodes, same.nodes)
            assert np.array_equal(told.histogram, same.histogram)
            assert np.array_equal(told.sum_low, same.sum_low)


def test_a_frame_is_crossed_by_no_class() -> None:
    table = survey_like(700)
    frame = (FrameColumn("age", (20, 40)), FrameColumn("sex"))
    release = certified_views(table, replace(SURVEY_PLAN, frame=frame))
    assert len(release.cells) == 6
    for cell in release.cells:
        assert np.unique(table.column("sex").codes[cell.records]).size == 1
        assert np.unique(table.column("age").codes[cell.records] // 20).size == 1
