"""The largest mean of selections whose classes have a cap, beside the linear programme that it is the value of."""

from __future__ import annotations

import math
from functools import partial
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from querygate.stats.knowledge.class_caps import CapRows, joined, largest_capped_means

SCALES = (1.0, 1e-12, 1e9)


def drawn(random: np.random.Generator, scale: float) -> CapRows:
    """A few rows with ties, of which some cannot be selected; caps from those that bind for all to those for none."""
    number, classes = int(random.integers(1, 7)), int(random.integers(1, 4))
    group = np.unique(random.integers(0, classes, number), return_inverse=True)[1].reshape(-1)
    base = random.integers(-4, 5, number) * scale
    value = base + random.integers(0, 5, number) * scale
    most = random.integers(0, 4, number)
    most[0] = max(most[0], 1)
    least = random.integers(0, most + 1)
    least[0] = max(least[0], 1)
    room = np.bincount(group, most * (value - base))
    spare = random.choice([0.0, 0.3, 0.7, 2.0], room.size) * room
    return CapRows(value, base, least, most, group, spare, np.zeros(room.size, dtype=np.int64), 1)


def programme(rows: CapRows) -> float:
    """The largest mean of shares of members, by the transformation of Charnes and Cooper (1962)."""
    number, classes = rows.value.size, rows.spare.size
    belongs = (np.arange(classes)[:, None] == rows.group[None, :]).astype(np.float64)
    zero = np.zeros((number, classes))
    above = [  # each class has a total z, the members y, and t one over their number
        np.hstack([-belongs * rows.value, np.eye(classes), np.zeros((classes, 1))]),
        np.hstack([-belongs * rows.base, np.eye(classes), -rows.spare[:, None]]),
        np.hstack([np.eye(number), zero, -rows.most[:, None]]),
        np.hstack([-np.eye(number), zero, rows.least[:, None]]),
    ]
    once = np.hstack([np.ones(number), np.zeros(classes + 1)])[None, :]
    aim = np.hstack([np.zeros(number), -np.ones(classes), [0.0]])
    limits = [(0, None)] * number + [(None, None)] * classes + [(0, None)]
    table = np.vstack(above)
    found = linprog(aim, A_ub=table, b_ub=np.zeros(len(table)), A_eq=once, b_eq=[1.0], bounds=limits)
    assert found.status == 0
    return -float(found.fun)


def listed(rows: CapRows) -> float:
    """The largest mean of whole members, each selection tried."""
    best = -math.inf
    for taken in product(*(range(low, high + 1) for low, high in zip(rows.least, rows.most, strict=True))):
        plain = np.bincount(rows.group, taken * rows.value, rows.spare.size)
        capped = rows.spare + np.bincount(rows.group, taken * rows.base, rows.spare.size)
        best = max(best, float(np.minimum(plain, capped).sum()) / sum(taken))
    return best


@pytest.mark.parametrize("scale", SCALES)
def test_the_search_ends_at_the_least_bound_and_no_selection_exceeds_it(scale: float) -> None:
    random, narrower = np.random.default_rng(20), 0
    for turn in range(25):
        rows, other = drawn(random, scale), drawn(random, scale)
        largest = partial(largest_capped_means, reached=turn % 2 == 0)  # else what is settled is added up once
        bounds = [float(found.bound[0]) for found in map(largest, (rows, joined(rows, other)))]
        bounds.append(float(largest(joined(other, rows)).bound[1]))
        unit = rows._replace(value=rows.value / scale, base=rows.base / scale, spare=rows.spare / scale)

        assert min(bounds) >= listed(rows) - 1e-12 * scale
        assert bounds == pytest.approx([programme(unit) * scale] * 3, rel=1e-9, abs=1e-9 * scale)
        narrower += bounds[0] < float(rows.value.max()) * (1 - 1e-6)
    assert narrower > 5
