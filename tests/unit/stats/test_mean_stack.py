"""Means of many readings at once: what each of them says by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from querygate.core.cell_stack import CellStack, ClassStack
from querygate.core.plan import MeasureCells, SelectedAmong
from querygate.core.types import Cells, ClassCells, Range
from querygate.stats import STATISTICS
from querygate.stats.cells import leaning_up
from querygate.stats.knowledge.class_means import ToldMean, class_mean, class_means
from querygate.stats.mean_stack import stacked_means

TRIED = 300


def means_of(cells: list[Cells], amongs: list[SelectedAmong | None]) -> list[Range] | None:
    """All of them at once."""
    parts = [
        MeasureCells(each.most, each.least, each.most, (each,), among=among)
        for each, among in zip(cells, amongs, strict=True)
    ]
    stack = CellStack.joined(parts)
    return stacked_means(stack.cells.values[0], stack.of, stack.groups, stack.cells.among)


def told_means(told: list[ClassCells]) -> list[ToldMean]:
    stack = ClassStack.of_groups(told)
    assert stack is not None
    return class_means(stack)


def random_rows(random: np.random.Generator, scale: float) -> tuple[Cells, SelectedAmong | None, ClassCells]:
    """Rows of few classes: ties, nobody, huge and tiny numbers, and totals that say less than the rows or more."""
    rows, classes = int(random.integers(1, 12)), int(random.integers(1, 4))
    group = np.sort(random.integers(0, classes, rows))
    group = np.unique(group, return_inverse=True)[1].reshape(-1)
    floor = random.integers(-3, 5, rows) * scale
    ceiling = floor + random.integers(0, 4, rows) * scale
    size = random.integers(1, 6, rows)
    most = random.integers(0, size + 1)
    most[random.integers(0, rows)] = 1
    least = random.integers(0, most + 1)
    number = int(group.max()) + 1
    held = [np.bincount(group, counts, number).astype(np.int64) for counts in (least, most)]
    fewest = random.integers(held[0], held[1] + 1)
    greatest = random.integers(fewest, held[1] + 1)
    values = floor + random.random(rows) * (ceiling - floor)
    sums = np.bincount(group, size * values, number)
    slack = random.random(number) * scale
    nothing = np.full(number, np.nan)
    told = ClassCells(
        floor, ceiling, floor, ceiling, size, least, most, group, sums - slack, sums + slack, nothing, nothing,
        integer=False, apart=True, frame=np.zeros(number, dtype=np.int64), total_least=fewest, total_most=greatest,
    )  # fmt: skip
    if random.random() < 0.3:
        told = replace(told, total_least=None, total_most=None)
    among = SelectedAmong(group, fewest, greatest) if random.random() < 0.7 else None
    return Cells(floor, ceiling, least, most), among, told


def mean_of(cells: Cells, among: SelectedAmong | None) -> Range:
    """The mean with the largest, or the smallest, of rows that belong together taken first."""
    if among is None:
        return STATISTICS.get("avg").range(cells)
    ends = []
    for values in (-cells.low, cells.high):
        least, most = leaning_up(values, cells.least, cells.most, among.place, (among.least, among.most))
        ends.append(STATISTICS.get("avg").range(replace(cells, least=least, most=most)))
    return replace(ends[0], high=ends[1].high)


def test_many_means_at_once_are_those_of_each_by_itself() -> None:
    random = np.random.default_rng(11)
    compared = 0
    for scales in ([1.0], [0.5], [1e-9], [1.0, 1e-9, 1e12]) * (TRIED // 28):
        some = [random_rows(random, float(random.choice(scales))) for _ in range(7)]
        found = means_of([cells for cells, *_ in some], [among for _, among, _ in some])
        for mean, (cells, among, _) in zip(found or [], some, strict=bool(found)):
            alone = mean_of(cells, among)
            assert (mean.is_null, mean.may_be_null) == (alone.is_null, alone.may_be_null)
            if not alone.is_null:
                assert [mean.low, mean.high] == pytest.approx([alone.low, alone.high], rel=1e-9)
            compared += 1
        for (mean, _), (*_, classes) in zip(told_means([classes for *_, classes in some]), some, strict=True):
            by_itself = class_mean(classes)
            assert (mean is None) == (by_itself is None)
            if mean is not None and by_itself is not None:
                # Of zeros alone the ends are as many subnormals away from them as there are terms.
                scale = max(float(np.abs([classes.floor, classes.ceiling]).max()), 1e-300)
                assert [mean.low, mean.high] == pytest.approx(
                    [by_itself.low, by_itself.high], rel=1e-9, abs=1e-12 * scale
                )
                compared += 1
    assert compared > TRIED


def rising(told: ClassCells) -> ClassCells:
    """The rows of each class in the order of their ends, as a block has them."""
    low, high = (ends[np.lexsort((ends, told.group))] for ends in (told.low, told.high))
    return replace(told, low=low, floor=low, high=high, ceiling=high)


def test_a_mean_by_classes_lies_within_the_one_by_rows_where_it_says_so() -> None:
    random, shown = np.random.default_rng(12), 0
    for _ in range(TRIED // 7):
        some = [
            rising(told) for *_, told in (random_rows(random, 1.0) for _ in range(9)) if told.total_least is not None
        ]
        for (mean, is_narrowest), told in zip(told_means(some), some, strict=True):
            assert told.total_least is not None
            assert told.total_most is not None
            among = SelectedAmong(told.group, told.total_least, told.total_most)
            by_rows = mean_of(Cells(told.low, told.high, told.least, told.most), among)
            if mean is not None and is_narrowest:
                assert mean.low is not None
                assert mean.high is not None
                assert by_rows.low is not None
                assert by_rows.high is not None
                assert by_rows.low - 1e-9 <= mean.low
                assert mean.high <= by_rows.high + 1e-9
                shown += 1
    assert shown > TRIED // 20


def test_the_largest_floor_comes_first_of_rows_with_one_value() -> None:
    """A class of two rows, one of which is certain to have large values even of those who are not selected: taking the
    other first would leave too little of the sum."""
    floor, ceiling = np.array([9.0, 0.0]), np.array([10.0, 10.0])
    one, nobody = np.array([1, 1]), np.array([0, 0])
    total, nothing = np.array([10.0]), np.array([np.nan])
    cells = ClassCells(
        floor, ceiling, floor, ceiling, one, nobody, one, nobody, total, total, nothing, nothing,
        integer=False, apart=True, frame=np.array([0]), total_least=np.array([1]), total_most=np.array([1]),
    )  # fmt: skip
    for rows in (slice(None), slice(None, None, -1)):
        turned = replace(cells, floor=floor[rows], low=floor[rows])
        found = class_mean(turned)
        assert found is not None
        assert found.high is not None
        assert found.high >= 10.0  # the first has 10 and the other nothing


def test_a_group_of_clean_numbers_has_clean_ends_beside_any_other() -> None:
    one, two = np.array([1]), np.array([2])
    clean = Cells(np.array([17.5]), np.array([20.0]), one, two)
    odd = Cells(np.array([0.1]), np.array([0.3]), one, two)
    found = means_of([odd, clean], [None, None])
    assert found is not None
    assert (found[1].low, found[1].high) == (17.5, 20.0)
