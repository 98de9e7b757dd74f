"""People of a register who match, counted the fast way and one by one."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.custody.risk_report.register_matches import BoxColumn, Side, people_in_boxes, people_of_values


def table(rng: np.random.Generator, rows: int) -> np.ndarray:
    """Codes of three columns; some are unknown."""
    codes = rng.integers(0, (6, 3, 4), (rows, 3))
    codes[rng.random((rows, 3)) < 0.15] = -1
    return codes


@pytest.mark.parametrize("seed", range(5))
def test_by_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    classes, people, persons = table(rng, 60), table(rng, 80), rng.integers(0, 5, 80)
    expected = [
        sum(n for person, n in zip(people, persons, strict=True) if ((one == -1) | (one == person)).all())
        for one in classes
    ]
    assert people_of_values(classes, people, persons).tolist() == expected


def sides(rng: np.random.Generator) -> list[list[Side]]:
    numbers: list[Side] = [None]
    for _ in range(8):
        low, high = sorted(rng.integers(0, 30, 2).tolist())
        numbers.append((float(low), float(high)))
    words: list[Side] = [None, *(frozenset(rng.integers(-1, 4, size).tolist()) for size in (1, 2, 3))]
    return [numbers, words, [*numbers[1:4], None]]


def allows(side: Side, value: float) -> bool:
    if side is None:
        return True
    if isinstance(side, tuple):
        return side[0] <= value <= side[1]
    return value in side


@pytest.mark.parametrize("seed", range(5))
def test_by_boxes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    told, persons = sides(rng), rng.integers(0, 5, 90)
    values = [rng.integers(0, 30, 90).astype(float), rng.integers(0, 4, 90).astype(float), rng.random(90) * 30]
    for column in values:
        column[rng.random(90) < 0.1] = np.nan
    columns = [BoxColumn(of, rng.integers(0, len(of), 70), people) for of, people in zip(told, values, strict=True)]
    expected = [
        sum(
            int(persons[kind])
            for kind in range(90)
            if all(allows(one.sides[one.codes[box]], one.people[kind]) for one in columns)
        )
        for box in range(70)
    ]
    assert people_in_boxes(columns, persons).tolist() == expected


def test_one_column_and_an_interval_the_wrong_way_round() -> None:
    box = BoxColumn([(5.0, 2.0), (2.0, 5.0)], np.array([0, 1]), np.array([1.0, 3.0]))
    assert people_in_boxes([box], np.array([1, 1])).tolist() == [0, 1]
