"""What the independent checker refuses: one collapse undone, one figure changed, one certificate missing or wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from querygate.core.types import Ints
from querygate.methods.views import (
    CellRelease,
    QuasiIdentifier,
    RecordTable,
    SensitiveColumn,
    ViewPlan,
    certified_views,
)
from querygate.methods.views.crossings import uncrossed
from querygate.methods.views.frontier import Frontier
from tests.unit.methods.views.recheck import cell_problems, problems
from tests.unit.methods.views.tables import SURVEY_PLAN, plan, random_table, survey_like

SURVEY = survey_like(1_500)
RELEASE = certified_views(SURVEY, SURVEY_PLAN)


def reopened(cell: CellRelease) -> list[CellRelease]:
    """The cell with one collapse of counts undone each time."""
    found = []
    for one in cell.collapses:
        view = cell.counts[one.view]
        top = view.top.copy()
        below = slice(int(view.tree.first[one.node]), int(view.tree.last[one.node]))
        if (top[below] == one.node).all():
            top[below] = Frontier.finest(view.tree).top[below]
            counts = list(cell.counts)
            counts[one.view] = Frontier(view.tree, top)
            found.append(replace(cell, counts=tuple(counts)))
    return found


def crossing_table() -> RecordTable:
    """Two columns that are nearly the same: three people are in the one group and not in the other."""
    first = np.repeat([0, 1], 30)
    second = first.copy()
    second[:3] = 1
    quasi = (QuasiIdentifier("ward", first, 2), QuasiIdentifier("clinic", second, 2))
    return RecordTable(quasi, (SensitiveColumn("ill", np.arange(60) % 2, 2),))


def test_an_undone_collapse_is_refused() -> None:
    table = crossing_table()
    release = certified_views(table, ViewPlan((("ward",), ("clinic",)), (), 5))
    assert problems(table, release) == []
    broken = reopened(release.cells[0])
    assert broken
    for cell in broken:
        assert any("R2" in text for text in problems(table, replace(release, cells=(cell,))))


def undone(cell: CellRelease, name: str) -> list[CellRelease]:
    """The cell with the frontier of a column as fine as that of counts, in one view each time."""
    found = []
    place = next(i for i, one in enumerate(cell.columns) if one.name == name)
    one = cell.columns[place]
    for view, frontier in enumerate(one.safe.views):
        if frontier.classes < cell.counts[view].classes:
            views = (*one.safe.views[:view], cell.counts[view], *one.safe.views[view + 1 :])
            column = replace(one, safe=replace(one.safe, views=views))
            found.append(replace(cell, columns=(*cell.columns[:place], column, *cell.columns[place + 1 :])))
    return found


def test_a_column_as_fine_as_counts_is_refused() -> None:
    seen = 0
    for cell in RELEASE.cells[:2]:
        for broken in undone(cell, "diabetes"):
            seen += 1
            assert cell_problems(SURVEY, RELEASE, broken)
    assert seen


def changed(cell: CellRelease, name: str, change: str) -> CellRelease:
    place = next(i for i, one in enumerate(cell.columns) if one.name == name)
    one = cell.columns[place]
    told = one.figures[0]
    if change == "count":
        histogram = told.histogram.copy()
        histogram[0, np.argmax(histogram[0])] -= 1
        told = replace(told, histogram=histogram)
    else:
        told = replace(told, sum_high=told.sum_high - (told.sum_high - told.sum_low) // 2)
    column = replace(one, figures=(told, *one.figures[1:]))
    return replace(cell, columns=(*cell.columns[:place], column, *cell.columns[place + 1 :]))


@pytest.mark.parametrize(("change", "word"), [("count", "histogram"), ("sum", "sum")])
def test_a_changed_figure_is_refused(change: str, word: str) -> None:
    broken = changed(RELEASE.cells[1], "sbp", change)
    assert any(word in text for text in cell_problems(SURVEY, RELEASE, broken))


def test_a_class_split_in_two_is_refused() -> None:
    cell = RELEASE.cells[0]
    view = cell.counts[0]
    leaf: Ints = cell.leaf.copy()
    tree = view.tree
    mine = np.flatnonzero(leaf[0] == 0)
    leaf[0, mine[0]] = 1  # one of equal people is put into the class beside
    assert tree.leaves > 1
    assert cell_problems(SURVEY, RELEASE, replace(cell, leaf=leaf))


def test_certificates_that_were_changed_are_refused() -> None:
    table = random_table(1, records=50)
    release = certified_views(table, plan(3, 3))
    cell = release.cells[0]
    assert problems(table, release) == []
    assert cell.balances[0]
    missing = replace(cell, balances=(cell.balances[0][1:],))
    assert any("R2*" in text for text in problems(table, replace(release, cells=(missing,))))
    first = cell.balances[0][0]
    wrong = replace(first, numbers=tuple(number + 1 for number in first.numbers))
    false = replace(cell, balances=((wrong, *cell.balances[0][1:]),))
    assert any("R2*" in text for text in problems(table, replace(release, cells=(false,))))


def test_a_world_that_was_changed_is_refused() -> None:
    places = [
        (number, place)
        for number, cell in enumerate(RELEASE.cells)
        for place, one in enumerate(cell.columns)
        if one.safe.worlds and one.safe.worlds[0].totals.size
    ]
    number, place = places[0]
    cell = RELEASE.cells[number]
    one = cell.columns[place]
    worlds = tuple(replace(world, totals=world.totals + 1_000) for world in one.safe.worlds)
    column = replace(one, safe=replace(one.safe, worlds=worlds))
    broken = replace(cell, columns=(*cell.columns[:place], column, *cell.columns[place + 1 :]))
    assert any("R3" in text for text in cell_problems(SURVEY, RELEASE, broken))


def test_views_that_cross_in_few_people_are_coarsened_at_the_cheapest_place() -> None:
    table = crossing_table()
    release = certified_views(table, ViewPlan((("ward",), ("clinic",)), (), 5))
    cell = release.cells[0]
    assert sorted(view.classes for view in cell.counts) == [1, 2]
    assert cell.least_cut == 30 or cell.least_cut == 27
    finest = [Frontier.finest(view.tree) for view in cell.counts]
    same, done = uncrossed(finest[0], finest[1], cell.leaf, table.weights, 3)
    assert not done  # three people are enough at k = 3
    assert [view.classes for view in same] == [2, 2]
