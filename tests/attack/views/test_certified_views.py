"""Partitions that are safe one by one give people up together; certified ones give up nobody.

On the demo study, on NHANES and on a made-up survey. A control without any partition shows that the attack itself
fixes nobody.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import querygate.demo
from querygate.core.types import Ints
from querygate.methods.views import (
    CellRelease,
    FrameColumn,
    Measure,
    QuasiIdentifier,
    RecordTable,
    SensitiveColumn,
    ViewPlan,
    ViewsRelease,
    certified_views,
)
from querygate.methods.views.certificates import class_sums
from querygate.methods.views.frontier import Frontier
from tests.attack.view_attacks import Told, certain_by_programmes, exposed_by_algebra
from tests.places import DATA
from tests.unit.methods.views.tables import SURVEY_PLAN, survey_like

K = 5
ATTACKED = ("smoked", "systolic", "smoker", "diabetes", "sbp", "high")


def demo_survey() -> RecordTable:
    """Adults from 20 to 49 of the demo study."""
    with (Path(querygate.demo.__file__).parent / "survey.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if 20 <= int(row["age"]) < 50]
    age = QuasiIdentifier("age", np.array([int(row["age"]) - 20 for row in rows]), 30, ordered=True, prefer=(5, 15, 25))
    quasi = [age, *(category(rows, name) for name in ("sex", "ethnicity", "education"))]
    smoked = category(rows, "smoked")
    values = np.array([int(float(row["systolic"] or -1)) for row in rows])
    low = 40 + 5 * np.arange(52)
    measure = Measure(values, low, low + 4, span=10, step=30)
    pressure = SensitiveColumn("systolic", np.where(values < 0, -1, (values - 40) // 5), 52, (measure,))
    return RecordTable(tuple(quasi), (SensitiveColumn("smoked", smoked.codes, smoked.size), pressure))


def nhanes() -> RecordTable:
    """People from 20 to 44 of NHANES 2009-10."""
    with gzip.open(DATA / "nhanes_2009_10.csv.gz", "rt", newline="") as file:
        rows = [row for row in csv.DictReader(file) if 20 <= int(row["age"]) < 45]
    age = QuasiIdentifier("age", np.array([int(row["age"]) - 20 for row in rows]), 25, ordered=True, prefer=(5, 15))
    quasi = [age, *(category(rows, name) for name in ("gender", "race", "education"))]
    values = np.array([int(row["sbp"]) for row in rows])
    low = 40 + 10 * np.arange(27)
    measure = Measure(values, low, low + 9, span=10, step=30)
    high = SensitiveColumn("high", (values >= 130).astype(np.int64), 2)
    return RecordTable(tuple(quasi), (high, SensitiveColumn("sbp", (values - 40) // 10, 27, (measure,))))


def category(rows: list[dict[str, str]], name: str) -> QuasiIdentifier:
    values = sorted({row[name] for row in rows} - {""})
    return QuasiIdentifier(name, np.array([values.index(row[name]) if row[name] else -1 for row in rows]), len(values))


def plan(*names: str, frame: tuple[int, ...] = (10, 20)) -> ViewPlan:
    shared, first, second = names
    return ViewPlan((("age", shared, first), ("age", shared, second)), (FrameColumn("age", frame),), K)


@cache
def made(name: str) -> tuple[RecordTable, ViewsRelease]:
    if name == "demo study":
        table = demo_survey()
        return table, certified_views(table, plan("sex", "ethnicity", "education"))
    if name == "NHANES":
        table = nhanes()
        return table, certified_views(table, plan("gender", "race", "education", frame=(5, 10, 15, 20)))
    table = survey_like(1_500)
    return table, certified_views(table, SURVEY_PLAN)


def certified(cell: CellRelease, column: str) -> Ints:
    one = next(one for one in cell.columns if one.name == column)
    assert one.views == (0, 1)  # nothing is safe here by being withheld
    return np.stack([view.top[leaf] for view, leaf in zip(one.safe.views, cell.leaf, strict=True)])


def unchecked(cell: CellRelease, column: str) -> Ints:
    """The smallest classes of k people of both views, as they come."""
    return cell.leaf


def no_views(cell: CellRelease, column: str) -> Ints:
    return np.zeros_like(cell.leaf)


def told(cell: CellRelease, column: SensitiveColumn, labels: Ints) -> Told:
    bins = column.bins[cell.records]
    if not column.measures:
        return Told(labels, bins)
    one = column.measures[0]
    places = [np.unique(row, return_inverse=True)[1].reshape(-1) for row in labels]
    sums = [class_sums(one, cell.records, bins, place) for place in places]
    ends = (
        [sums[i].low[place] for i, place in enumerate(places)],
        [sums[i].high[place] for i, place in enumerate(places)],
    )
    return Told(labels, bins, np.append(one.low, 1), np.append(one.high, 0), (np.stack(ends[0]), np.stack(ends[1])))


def fixed(name: str, partitions: Callable[[CellRelease, str], Ints], cells: int = 2) -> int:
    """People of some cells whose bin of some column is certain."""
    table, release = made(name)
    return sum(
        certain_by_programmes(told(cell, column, partitions(cell, column.name)))
        for cell in release.cells[:cells]
        for column in table.sensitive
        if column.name in ATTACKED
    )


def guarded_one_by_one(cell: CellRelease, column: SensitiveColumn) -> Ints:
    """Each class of each view has two values of the column at least, but nobody looks at both views together."""
    bins, found = column.bins[cell.records], []
    for view, leaf in zip(cell.counts, cell.leaf, strict=True):
        frontier = Frontier.finest(view.tree)
        while True:
            label = frontier.of(leaf)
            alike = [one for one in range(frontier.classes) if np.unique(bins[label == one]).size < 2]
            if not alike:
                break
            frontier = frontier.collapsed(int(view.tree.parent[frontier.nodes[alike[0]]]))
        found.append(frontier.of(leaf))
    return np.stack(found)


def test_guarding_each_class_is_not_enough() -> None:
    table, release = made("demo study")
    column = table.sensitive[0]
    assert sum(certain_by_programmes(told(c, column, guarded_one_by_one(c, column))) for c in release.cells) > 0


def test_the_attack_reads_sums_as_they_are_published() -> None:
    table, release = made("demo study")
    column = table.sensitive[1]
    for cell in release.cells:
        read = told(cell, column, certified(cell, column.name)).sums
        one = next(one for one in cell.columns if one.name == column.name)
        for view, figures in enumerate(one.figures):
            place = np.searchsorted(figures.nodes, certified(cell, column.name)[view])
            assert read is not None
            assert np.array_equal(read[0][view], figures.sum_low[0][place])
            assert np.array_equal(read[1][view], figures.sum_high[0][place])


STUDIES = ("demo study", "NHANES", "made-up survey")


@pytest.mark.parametrize("name", STUDIES)
def test_programmes_fix_nobody_without_partitions(name: str) -> None:
    assert fixed(name, no_views) == 0


@pytest.mark.parametrize("name", STUDIES)
def test_programmes_fix_people_of_unchecked_partitions(name: str) -> None:
    assert fixed(name, unchecked, cells=1) > 0


@pytest.mark.parametrize("name", STUDIES)
def test_programmes_fix_nobody_of_certified_views(name: str) -> None:
    assert fixed(name, certified) == 0


def test_algebra_exposes_small_groups_of_unchecked_partitions_alone() -> None:
    for name in STUDIES:
        _, release = made(name)
        k = release.k
        before = sum(exposed_by_algebra(cell.leaf, k) for cell in release.cells)
        counts = [np.stack([view.of(leaf) for view, leaf in zip(c.counts, c.leaf, strict=True)]) for c in release.cells]
        assert sum(exposed_by_algebra(labels, k) for labels in counts) == 0
        assert sum(exposed_by_algebra(np.zeros_like(cell.leaf), k) for cell in release.cells) == 0
        if name == "demo study":
            assert before > 0
