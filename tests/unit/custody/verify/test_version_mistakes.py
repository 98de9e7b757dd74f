"""The verifier of a version beside another: each mistake of the publisher is refused by the promise that it breaks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from querygate.core.errors import ConfigError
from querygate.core.types import Ints
from querygate.custody.publish import view_division
from querygate.methods.views import (
    CellRelease,
    EarlierViews,
    RecordTable,
    ViewPlan,
    certified_beside,
    certified_cell,
)
from querygate.methods.views.certificates import figures_of
from querygate.site.open_gate import OpenSite
from tests.unit.custody.publish.publications import copy_site, new_site, put
from tests.unit.custody.publish.test_view_versions import VIEWS, newcomers, people, plus

Make = Callable[[RecordTable, ViewPlan, Ints, EarlierViews], CellRelease]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    opened = new_site(tmp_path_factory.mktemp("published"))
    put(opened, VIEWS, people())
    return opened


@pytest.fixture
def opened(published: OpenSite, tmp_path: Path) -> OpenSite:
    return copy_site(published, tmp_path)


def refused(opened: OpenSite, rows: dict[str, list[Any]]) -> str:
    with pytest.raises(ConfigError) as error:
        put(opened, VIEWS, rows, handling=None)
    assert "The verifier found" in error.value.detail
    return str(error.value.detail)


def as_if_alone(table: RecordTable, plan: ViewPlan, records: Ints, earlier: EarlierViews) -> CellRelease:
    return certified_cell(table, plan, records)


def without_balances(table: RecordTable, plan: ViewPlan, records: Ints, earlier: EarlierViews) -> CellRelease:
    return replace(certified_beside(table, plan, records, earlier), together=())


def units_as_counts(table: RecordTable, plan: ViewPlan, records: Ints, earlier: EarlierViews) -> CellRelease:
    """The sensitive column in all classes of counts, whoever may be found out by that."""
    made = certified_beside(table, plan, records, earlier)
    columns = []
    for column, one in zip(table.sensitive, made.columns, strict=True):
        views = tuple(range(len(made.counts)))
        safe = replace(one.safe, views=made.counts)
        told = figures_of(column, records, made.leaf, views, safe)
        columns.append(replace(one, views=views, safe=safe, figures=told))
    return replace(made, columns=tuple(columns))


@pytest.mark.parametrize(
    ("make", "promise"),
    [
        (as_if_alone, "all versions together tell of k = 3 people or of nobody"),
        (without_balances, "all versions together tell of k = 3 people or of nobody"),
        (units_as_counts, "everybody could have another value of ill"),
    ],
)
def test_cells_that_were_made_wrongly(
    make: Make, promise: str, opened: OpenSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view_division, "certified_beside", make)
    assert promise in refused(opened, plus(people(), newcomers(60)))


def test_one_newcomer_whom_nobody_counted(opened: OpenSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_division, "check_people", lambda *_: None)
    monkeypatch.setattr(view_division, "certified_beside", as_if_alone)
    assert "all versions together tell of k = 3" in refused(opened, plus(people(), newcomers(1)))


def test_somebody_who_left_unnoticed(opened: OpenSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_division, "check_people", lambda *_: None)
    fewer = {name: values[:-1] for name, values in people().items()}
    assert "nobody left a frame cell of version 1" in refused(opened, fewer)


def test_frame_cells_that_were_not_joined(opened: OpenSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_division, "joined_cells", lambda _, cells, *__: list(cells))
    monkeypatch.setattr(view_division, "check_people", lambda *_: None)
    monkeypatch.setattr(view_division, "certified_beside", as_if_alone)
    rows = people()
    rows["age"][0] += 40
    assert "a frame cell of version 1 lies in one of the new version" in refused(opened, rows)
