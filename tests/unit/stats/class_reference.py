"""Small classes with a published sum, and every data set that is consistent with them, one by one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.types import ClassCells

Selection = tuple[int, ...]


@dataclass(frozen=True)
class Row:
    """Members of a class in one interval, of which between `least` and `most` are selected.

    Where `clip` is set, just those are selected whose value lies in it: the condition is on the column itself.
    """

    low: int
    high: int
    members: tuple[int, ...]
    least: int
    most: int
    clip: tuple[int, int] | None = None

    @property
    def selected(self) -> tuple[int, int]:
        return (
            (self.low, self.high) if self.clip is None else (max(self.low, self.clip[0]), min(self.high, self.clip[1]))
        )


@dataclass(frozen=True)
class Known:
    """A class: its rows, how far the public cell reaches below and above its sum, and the cell of its variance."""

    rows: tuple[Row, ...]
    slack: tuple[int, int]
    variance: tuple[float, float] | None

    @property
    def total(self) -> int:
        return sum(sum(row.members) for row in self.rows)

    def allows(self, data: Sequence[Sequence[int]]) -> bool:
        """Whether these could be the members of the class."""
        values = [x for row in data for x in row]
        if not self.total - self.slack[0] <= sum(values) <= self.total + self.slack[1]:
            return False
        return self.variance is None or self.variance[0] <= variance(values) <= self.variance[1]

    def selections(self) -> set[Selection]:
        """Everything that can be selected from the class."""
        found: set[Selection] = set()
        ways = [
            itertools.combinations_with_replacement(range(row.low, row.high + 1), len(row.members)) for row in self.rows
        ]
        for data in itertools.product(*ways):
            if self.allows(data):
                picks = [list(_picks(row, values)) for row, values in zip(self.rows, data, strict=True)]
                found.update(tuple(sorted(x for part in parts for x in part)) for parts in itertools.product(*picks))
        return found


def _picks(row: Row, values: tuple[int, ...]) -> Iterator[Selection]:
    if row.clip is not None:
        yield tuple(x for x in values if row.clip[0] <= x <= row.clip[1])
        return
    for number in range(row.least, row.most + 1):
        yield from itertools.combinations(values, number)


def variance(values: Sequence[float], ddof: int = 0) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((x - mean) ** 2 for x in values) / (len(values) - ddof)


def random_class(random: np.random.Generator, kind: str) -> Known:
    rows = []
    start = int(random.integers(-4, 5))
    for _ in range(int(random.integers(1, 4))):
        width, number = int(random.integers(0, 4)), int(random.integers(1, 3))
        members = tuple(random.integers(start, start + width + 1, number).tolist())
        most = number if random.random() < 0.5 else int(random.integers(0, number + 1))
        least = most if random.random() < 0.5 else int(random.integers(0, most + 1))
        row = Row(start, start + width, members, least, most)
        if kind == "whole":
            row = Row(start, start + width, members, number, number)
        elif kind == "clipped" and random.random() < 0.7:
            edge = int(random.integers(start, start + width + 1))
            clip = (edge, 99) if random.random() < 0.5 else (-99, edge)
            inside = (clip[0] <= start and start + width <= clip[1]) * number
            row = Row(start, start + width, members, inside, number, clip)
        rows.append(row)
        start += width + 1 if random.random() < 0.7 else 0
    slack = (int(random.integers(0, 3)), int(random.integers(0, 3)))
    known = [x for row in rows for x in row.members]
    told = random.random() < 0.4
    spread = variance(known)
    cell = (max(0.0, spread - random.random()), spread + random.random()) if told else None
    return Known(tuple(rows), slack, cell)


def as_cells(classes: Sequence[Known], *, integer: bool, shift: float = 0.0) -> ClassCells:
    """As they are handed to the statistics; `shift` moves everything away from zero."""
    rows = [(row, group) for group, known in enumerate(classes) for row in known.rows]
    kind = np.int64 if integer else np.float64

    def column(values: list[float]) -> np.ndarray:
        return np.array(values, dtype=kind) + kind(shift)

    sizes = np.array([sum(len(row.members) for row in known.rows) for known in classes])
    sums = np.array([known.total for known in classes], dtype=np.float64) + sizes * shift
    return ClassCells(
        low=column([row.selected[0] for row, _ in rows]),
        high=column([row.selected[1] for row, _ in rows]),
        floor=column([row.low for row, _ in rows]),
        ceiling=column([row.high for row, _ in rows]),
        size=np.array([len(row.members) for row, _ in rows]),
        least=np.array([row.least for row, _ in rows]),
        most=np.array([row.most for row, _ in rows]),
        group=np.array([group for _, group in rows]),
        sum_low=sums - [known.slack[0] for known in classes],
        sum_high=sums + [known.slack[1] for known in classes],
        var_low=np.array([np.nan if known.variance is None else known.variance[0] for known in classes]),
        var_high=np.array([np.nan if known.variance is None else known.variance[1] for known in classes]),
        integer=integer,
        apart=all(row.clip is None for row, _ in rows),
    )


def cases(kind: str, number: int, seed: int = 3) -> Iterator[tuple[list[Known], set[Selection]]]:
    """Random classes with all that can be selected from them."""
    random = np.random.default_rng(seed)
    made = 0
    while made < number:
        classes = [random_class(random, kind) for _ in range(int(random.integers(1, 4)))]
        options = [known.selections() for known in classes]
        if math.prod(map(len, options)) > 1500 or not any(row.most for known in classes for row in known.rows):
            continue
        made += 1
        every = {tuple(sorted(x for part in parts for x in part)) for parts in itertools.product(*options)}
        yield classes, every
