"""Readings of one measure in several margins: counts met by frame cell, mosaics, and what is never wider than any."""

from __future__ import annotations

import random

import numpy as np
import pytest

from querygate.bounds.margin_readings import Readings, read_stacks
from querygate.core.cell_stack import CellStack
from querygate.core.plan import MeasureCells
from querygate.core.types import Cells, ClassCells
from tests.seeds import seeds


def read(parts: list[MeasureCells], limits: tuple[np.ndarray, np.ndarray] | None = None) -> Readings:
    """The readings of one group."""
    told = None if limits is None else (limits[0][None], limits[1][None])
    return read_stacks([CellStack.joined([part]) for part in parts], told).parts()[0]


def cells(rows: list[tuple], *, values: bool = True) -> MeasureCells:
    """From (frame, low, high, least, most)."""
    frame, low, high, least, most = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    found = (Cells(low, high, least, most, True),) if values else ()
    return MeasureCells(most, least, most, found, frame=frame)


def rows_of(found: MeasureCells) -> list[tuple]:
    assert found.frame is not None
    ends = [found.values[0].low, found.values[0].high] if found.values else [np.zeros_like(found.least)] * 2
    return sorted(zip(*(a.tolist() for a in (found.frame, *ends, found.least, found.most)), strict=True))


def test_counts_are_met_in_each_frame_cell_and_then_added() -> None:
    one = cells([(0, 0, 0, 5, 5), (1, 0, 0, 0, 40)], values=False)
    two = cells([(0, 0, 0, 0, 30), (1, 0, 0, 7, 8)], values=False)
    met = read([one, two]).met
    assert met is not None
    assert rows_of(met) == [(0, 0, 0, 5, 5), (1, 0, 0, 7, 8)]
    assert (met.least.sum(), met.most.sum()) == (12, 13)  # one alone says 5 to 45, the other 7 to 38


def test_a_frame_cell_that_one_margin_excludes_is_empty() -> None:
    one = cells([(0, 0, 0, 0, 5), (1, 0, 0, 0, 4)], values=False)
    two = cells([(1, 0, 0, 0, 9)], values=False)
    met = read([one, two]).met
    assert met is not None
    assert rows_of(met) == [(1, 0, 0, 0, 4)]


def test_counts_of_the_same_values_are_met_value_by_value() -> None:
    one = cells([(0, 1, 1, 2, 9), (0, 2, 2, 0, 3), (0, 2, 2, 1, 1)])
    two = cells([(0, 1, 1, 4, 5), (0, 2, 2, 0, 9), (0, 3, 3, 0, 2)])
    found = read([one, two])
    assert found.settled
    assert found.met is not None
    assert rows_of(found.met) == [(0, 1, 1, 4, 5), (0, 2, 2, 1, 4)]


def test_values_that_overlap_are_not_taken_for_the_same() -> None:
    """In frame cell 0 a record with 5 is under other values in the other margin; in frame cell 1 none is."""
    one = cells([(0, 1, 5, 3, 3), (1, 1, 5, 0, 3)])
    two = cells([(0, 5, 9, 2, 4), (1, 1, 5, 1, 4)])
    found = read([one, two])
    assert not found.settled
    assert found.met is not None
    assert rows_of(found.met) == [(0, 1, 5, 3, 3), (1, 1, 5, 1, 3)]


def test_sets_of_categories_are_met_where_they_are_the_same_or_apart() -> None:
    def with_sets(frame: list[int], sets: list[set[int]], least: list[int], most: list[int]) -> MeasureCells:
        counts = [np.array(column, dtype=np.int64) for column in (most, least, most)]
        return MeasureCells(*counts, sets=tuple(map(frozenset, sets)), frame=np.array(frame))

    one = with_sets([0, 0, 1], [{1}, {2, 3}, {1}], [1, 0, 2], [4, 5, 2])
    two = with_sets([0, 0, 1], [{1}, {2, 3}, {1, 2}], [0, 2, 0], [3, 9, 6])
    found = read([one, two])
    assert not found.settled  # in frame cell 1 a record with 1 may be in either set
    assert found.met is not None
    assert found.met.frame is not None
    told = zip(found.met.frame.tolist(), found.met.sets, found.met.least.tolist(), found.met.most.tolist(), strict=True)
    expected = [(0, frozenset({1}), 1, 3), (0, frozenset({2, 3}), 2, 5), (1, frozenset({1}), 2, 2)]
    assert sorted(told, key=repr) == expected


def test_a_mosaic_has_each_frame_cell_from_the_margin_that_decides_most() -> None:
    one = cells([(0, 1, 3, 4, 4), (1, 1, 3, 0, 9), (2, 1, 2, 0, 0 + 1)])
    two = cells([(0, 1, 9, 0, 6), (1, 2, 9, 5, 6), (2, 2, 3, 1, 1)])
    mosaic = read([one, two]).others[0]
    assert rows_of(mosaic) == [(0, 1, 3, 4, 4), (1, 2, 9, 5, 6), (2, 2, 3, 1, 1)]


def test_a_mosaic_keeps_what_is_told_of_whole_classes() -> None:
    def with_classes(rows: list[tuple], sums: list[tuple[float, float]], frames: list[int]) -> MeasureCells:
        plain = cells(rows)
        value = plain.values[0]
        nothing = np.full(len(sums), np.nan)
        low, high = (np.array(ends) for ends in zip(*sums, strict=True))
        told = ClassCells(
            value.low, value.high, value.low, value.high, plain.size, plain.least, plain.most,
            np.arange(len(sums)), low, high, nothing, nothing, True, True, np.array(frames),
        )  # fmt: skip
        return MeasureCells(plain.size, plain.least, plain.most, plain.values, classes=(told,), frame=plain.frame)

    one = with_classes([(0, 0, 9, 4, 4), (1, 0, 9, 0, 6)], [(10.0, 12.0), (20.0, 22.0)], [0, 1])
    two = with_classes([(0, 0, 9, 0, 5), (1, 0, 9, 6, 6)], [(1.0, 2.0), (30.0, 31.0)], [0, 1])
    told = read([one, two]).others[0].classes[0]
    assert told is not None
    assert (told.sum_low.tolist(), told.sum_high.tolist()) == ([10.0, 30.0], [12.0, 31.0])
    assert (told.group.tolist(), told.least.tolist()) == ([0, 1], [4, 6])


def test_a_floor_raises_what_is_certain() -> None:
    one, two = cells([(0, 0, 0, 0, 5)], values=False), cells([(0, 0, 0, 0, 9)], values=False)
    met = read([one, two], (np.array([3]), np.array([9]))).met
    assert met is not None
    assert rows_of(met) == [(0, 0, 0, 3, 5)]


def test_margins_that_contradict_each_other_are_not_read() -> None:
    one, two = cells([(0, 0, 0, 6, 9)], values=False), cells([(0, 0, 0, 0, 5)], values=False)
    with pytest.raises(ValueError, match="damaged"):
        read([one, two])


def test_a_single_margin_is_read_as_it_is() -> None:
    one = cells([(0, 1, 3, 4, 4)])
    found = read([one])
    assert found.met is None
    assert [rows_of(each) for each in found.others] == [rows_of(one)]


@pytest.mark.parametrize("seed", seeds(40))
def test_every_reading_describes_the_records(seed: int) -> None:
    """Records with a value and a frame cell, divided at random in each margin: all readings hold, and where values are
    comparable the met counts are within those of any margin."""
    rng = random.Random(seed)
    records = [(rng.randrange(3), rng.randrange(4)) for _ in range(rng.randint(1, 30))]
    width = rng.choice([1, 2, 3])
    margins = []
    for _ in range(rng.randint(2, 3)):
        rows = []
        for frame in range(3):
            for value in range(0, 4, width):
                number = sum(f == frame and value <= v < value + width for f, v in records)
                slack = rng.randrange(3)
                rows.append((frame, value, value + width - 1, max(0, number - slack), number + rng.randrange(3)))
        margins.append(cells([row for row in rows if row[-1]] or [(0, 0, 0, 0, 1)]))
    found = read(margins)
    assert found.settled
    assert found.met is not None
    for reading in (found.met, *found.others):
        for frame in range(3):
            for value in range(4):
                held = sum(record == (frame, value) for record in records)
                rows = [row for row in rows_of(reading) if row[0] == frame]
                assert held <= sum(row[4] for row in rows if row[1] <= value <= row[2])
            assert sum(row[3] for row in rows) <= sum(f == frame for f, _ in records) <= sum(row[4] for row in rows)
    for margin in found.others:
        assert found.met.least.sum() >= margin.least.sum()
        assert found.met.most.sum() <= margin.most.sum()


def test_groups_read_at_once_say_what_each_says_by_itself() -> None:
    rng = random.Random(5)
    tried = {"settled": 0, "mosaic": 0, "limited": 0}
    for _ in range(60):
        limited, steps = rng.random() < 0.5, rng.choice([1, 3])
        groups, limits = [], []
        for _ in range(rng.randint(1, 5)):
            people = [(rng.randrange(4), rng.randrange(0, 9, steps)) for _ in range(rng.randint(1, 20))]
            groups.append([_margin_of(rng, people) for _ in range(2)])
            held = np.bincount([frame for frame, _ in people], minlength=4)
            limits.append((np.maximum(held - rng.randint(0, 2), 0), held + rng.randint(0, 3)))
        stacks = [CellStack.joined(margin) for margin in zip(*groups, strict=True)]
        told = tuple(np.stack(ends) for ends in zip(*limits, strict=True)) if limited else None
        for at_once, parts, limit in zip(read_stacks(stacks, told).parts(), groups, limits, strict=True):
            alone = read(parts, limit if limited else None)
            assert (at_once.settled, len(at_once.others)) == (alone.settled, len(alone.others))
            for one, other in zip((at_once.met, *at_once.others), (alone.met, *alone.others), strict=True):
                assert one is not None
                assert other is not None
                assert rows_of(one) == rows_of(other)
            tried["settled"] += alone.settled
            tried["mosaic"] += len(alone.others) > 2
            tried["limited"] += limited
    assert min(tried.values()) > 10


def _margin_of(rng: random.Random, people: list[tuple[int, int]]) -> MeasureCells:
    """Some of the people in one row each, with an interval around their value, and nobody for certain perhaps."""
    wide = rng.choice([0, 0, 2])
    rows = [(frame, x - wide, x + wide, rng.choice([0, 1]), 1) for frame, x in people]
    return cells(rows)
