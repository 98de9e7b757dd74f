"""Views of many records: refined frames, cells by several processes, and records that are read some cells at a time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from querygate.core.publications.vault_ports import Combinations
from querygate.custody.publish import view_division, view_records
from querygate.custody.verify import view_check
from querygate.methods.views import CellLimits
from querygate_adapters.vault.staging_tables import DuckDBStagingTables
from tests.unit.custody.publish.publications import ends
from tests.unit.custody.publish.test_views import POLICY, check, people, published
from tests.unit.custody.publish.view_stores import ViewStore

TABLES = ("cells", "class_moment", "set_value", "value_text")


def same(one: ViewStore, other: ViewStore) -> bool:
    return all(one.table(name) == other.table(name) for name in TABLES)


def refuse() -> int:
    raise PermissionError("no further process")


@pytest.mark.parametrize("how", ["two", "refused"])
def test_the_same_is_written_by_one_process_and_by_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(view_check, "SEVERAL", 0)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0})
    alone, _ = published(tmp_path / "alone", people(200))
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1})
    if how == "refused":
        monkeypatch.setattr(os, "fork", refuse)
    together, _ = published(tmp_path / "together", people(200))
    assert same(alone, together)


def test_refined_frames_are_certified_and_true_of_every_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, policy = people(300), POLICY.but(views={"extra": []})  # cells are divided by columns that all views have
    _, whole = published(tmp_path / "whole", rows, policy)
    monkeypatch.setattr(view_records, "MOST", CellLimits(classes=12, people=60))
    store, report = published(tmp_path / "refined", rows, policy)  # certified anew, or it would not be there
    check(store)
    assert whole.views is not None
    assert report.views is not None
    assert report.views.frame_cells > whole.views.frame_cells
    assert report.views.most_classes <= 12 < whole.views.most_classes
    for where, is_meant in (
        ("age < 35", lambda age, sex, town, job: age is not None and age < 35),
        ("sex = 'M' AND job = 'x'", lambda age, sex, town, job: sex == "M" and job == "x"),
        ("town = '' AND job = 'y'", lambda age, sex, town, job: town == "" and job == "y"),
    ):
        truth = [is_meant(*one) for one in zip(*(rows[name] for name in ("age", "sex", "town", "job")), strict=True)]
        low, high = ends(store.opened, "COUNT(*)", where)
        assert low <= sum(truth) <= high
        known = [value for value, here in zip(rows["sbp"], truth, strict=True) if here and value is not None]
        low, high = ends(store.opened, "AVG(sbp)", where)
        assert low <= sum(known) / len(known) <= high


def test_no_more_records_than_a_few_cells_have_are_read_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[tuple[bool, int]] = []
    combinations = DuckDBStagingTables.combinations

    def noted(staging: DuckDBStagingTables, *, by_record: bool = False, **which: Any) -> Combinations:
        found = combinations(staging, by_record=by_record, **which)
        read.append((by_record, found.counts.size))
        return found

    monkeypatch.setattr(DuckDBStagingTables, "combinations", noted)
    monkeypatch.setattr(view_records, "MOST", CellLimits(people=60))
    monkeypatch.setattr(view_division, "AT_ONCE", 80)
    store, report = published(tmp_path, people(300))
    check(store)
    assert report.views is not None
    by_record = [number for is_record, number in read if is_record]
    assert sum(by_record) == 300
    assert max(by_record) <= max(80, report.views.largest_cell)
    assert [number for is_record, number in read if not is_record] < [300]  # combinations of the whole table, once
