"""What a quick selection shows of a mean: where it reaches beyond a range, the full search finds nothing narrower."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from querygate.core.plan import SelectedAmong
from querygate.core.types import Cells, ClassCells, Range
from querygate.stats import STATISTICS
from querygate.stats.cells import leaning_up
from querygate.stats.knowledge.class_ranges import class_mean
from querygate.stats.knowledge.mean_reach import cells_reach, classes_reach

TRIED = 300


def random_rows(random: np.random.Generator) -> tuple[Cells, SelectedAmong | None, ClassCells]:
    """Rows of few classes: ties, nobody, huge and tiny numbers, and totals that say less than the rows or more."""
    rows, classes = int(random.integers(1, 12)), int(random.integers(1, 4))
    group = np.sort(random.integers(0, classes, rows))
    group = np.unique(group, return_inverse=True)[1].reshape(-1)
    scale = float(random.choice([1.0, 1e-9, 1e12]))
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
    return Range(ends[0].low, ends[1].high)


def test_a_selection_that_reaches_beyond_is_a_proof() -> None:
    random = np.random.default_rng(11)
    shown = {"cells": 0, "classes": 0}
    for _ in range(TRIED):
        cells, among, told = random_rows(random)
        middle = float(random.choice(cells.low) / 2 + random.choice(cells.high) / 2)
        width = float(random.choice([0.0, 0.3, 2.0])) * max(1e-12, float(np.ptp(cells.high)))
        found = Range(middle - width, middle + width, sharp=False)
        by_classes = class_mean(told)
        kinds = (
            ("cells", cells_reach(cells, among, found), mean_of(cells, among)),
            ("classes", classes_reach(told, found), by_classes),
        )
        for kind, reaches, told_range in kinds:
            if reaches and told_range is not None:
                shown[kind] += 1
                assert told_range.low is not None
                assert told_range.high is not None
                assert told_range.low <= found.low
                assert found.high <= told_range.high
    assert min(shown.values()) > TRIED // 20


def test_nothing_is_reached_beyond_what_is_certain() -> None:
    known = Cells(np.array([3.0]), np.array([3.0]), np.array([2]), np.array([2]))
    assert not cells_reach(known, None, Range(3.0, 3.0))
    assert not cells_reach(known, None, Range.null())
    assert not cells_reach(replace(known, high=np.array([np.nan])), None, Range(1.0, 2.0))
