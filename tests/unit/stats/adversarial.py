"""Cells on which careless arithmetic gives a wrong range, and random data sets drawn from them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from querygate.core.types import Cells


def hard_cells() -> dict[str, Cells]:
    """Named hard cases; every one is a legal input."""
    random = np.random.default_rng(7)
    spread = random.normal(0, 1, 40)
    counts = random.integers(1, 4, 40)
    free = np.where(random.random(40) < 0.5, counts, 0)
    step = np.nextafter(1.0, 2.0)
    large = np.array([2**53 - 3, 2**53 + 1, 2**60], dtype=np.int64)
    decades = 10.0 ** random.uniform(-20, 20, 40)
    one = np.array([1])
    return {
        "offset 1e15": Cells(1e15 + spread, 1e15 + spread + 0.5, free, counts),
        "offset 1e6": Cells(1e6 + spread, 1e6 + spread + 0.5, free, counts),
        "tiny": Cells(np.array([1e-300, 2e-300]), np.array([2e-300, 3e-300]), np.array([1, 0]), np.array([2, 2])),
        "subnormal": Cells(np.array([5e-324, 1e-320]), np.array([1e-323, 2e-320]), np.array([1, 1]), np.array([2, 2])),
        "one ulp": Cells(np.array([1.0, step]), np.array([step, step]), np.array([2, 1]), np.array([3, 3])),
        "all equal": Cells(np.full(5, 0.1), np.full(5, 0.1), np.array([1, 2, 0, 0, 3]), np.array([1, 2, 2, 1, 3])),
        "all equal integers": Cells(
            np.full(3, 5), np.full(3, 5), np.array([1, 2, 0]), np.array([1, 2, 2]), integer=True
        ),
        "one record": Cells(np.array([0.1]), np.array([0.7]), one, one),
        "one possible record": Cells(np.array([0.1]), np.array([0.7]), np.array([0]), one),
        "integers about 2^53": Cells(large, large + 1, np.array([1, 0, 1]), np.array([2, 2, 1]), integer=True),
        "cancelling": Cells(np.array([1e16, -1e16, 1.0]), np.array([1e16, -1e16, 1.1]), np.ones(3, int), np.full(3, 2)),
        "forty decades": Cells(decades, decades * 1.1, free, counts),
        "mixed signs": Cells(-decades[:20], decades[20:], free[:20], counts[:20]),
        "thirds": Cells(spread / 3, spread / 3 + 0.1, counts, counts),
    }


def draws(cells: Cells, number: int) -> Iterator[list[float]]:
    """Random data sets consistent with the cells, in random order: half of them at ends, half anywhere."""
    random = np.random.default_rng(11)
    for turn in range(number):
        data: list[float] = []
        for low, high, least, most in zip(cells.low, cells.high, cells.least, cells.most, strict=True):
            size = int(random.integers(least, most + 1))
            if cells.integer:
                data.extend(int(v) for v in random.integers(low, high + 1, size))
            elif turn % 2:
                data.extend(float(v) for v in np.where(random.random(size) < 0.5, low, high))
            else:
                data.extend(min(max(float(v), float(low)), float(high)) for v in random.uniform(low, high, size))
        yield [data[i] for i in random.permutation(len(data))]
