"""Complete k-anonymity by partitioning: every published set is published of k records, and is true of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from querygate.methods.code_lists.baskets import Baskets
from querygate.methods.code_lists.local_items import LocalItems
from querygate.methods.code_lists.set_partition import partitioned
from querygate.methods.code_lists.unprotectable import Unprotectable
from tests.bench.itemsets import balanced, groceries
from tests.each import each
from tests.seeds import seeds
from tests.unit.methods.code_lists.test_km import nodes, random_case


def check(baskets: Baskets, levels: Sequence[np.ndarray], made: LocalItems, k: int) -> None:
    """Each record like k - 1 others; each item has a code of the record; each code is in one item, or all in none."""
    published = [tuple(record) for record in made.published.lists()]
    assert min(Counter(published).values()) >= k
    assert set(made.groups) <= nodes(levels)
    emptied = 0
    for codes, record in zip(baskets.lists(), published, strict=True):
        groups = [set(made.groups[item]) for item in record]
        emptied += bool(codes) and not record
        assert all(group & set(codes) for group in groups)
        assert not record or all(sum(code in group for group in groups) == 1 for code in codes)
    assert emptied == made.suppressed


def loss(baskets: Baskets, made: LocalItems) -> float:
    total = []
    for codes, record in zip(baskets.lists(), made.published.lists(), strict=True):
        size = {code: len(made.groups[item]) for item in record for code in made.groups[item]}
        total += [1.0 if code not in size else 0.0 if size[code] == 1 else size[code] / baskets.size for code in codes]
    return float(np.mean(total)) if total else 0.0


@pytest.mark.parametrize("k", [2, 5, 50])
def test_groceries(k: int) -> None:
    baskets, levels = groceries()
    made = partitioned(baskets, levels, k)
    check(baskets, levels, made, k)
    assert made.loss == pytest.approx(loss(baskets, made))
    assert made.suppressed == 0
    assert made.loss < {2: 0.2, 5: 0.3, 50: 0.65}[k]


@each("seed", seeds(40))
def test_random_records(seed: int) -> None:
    baskets, levels, k = random_case(seed)
    made = partitioned(baskets, levels, k)
    check(baskets, levels, made, k)
    assert made.loss == pytest.approx(loss(baskets, made))


def test_equal_records_stay_as_they_are() -> None:
    baskets = Baskets.of([[0, 3], [0, 3], [1], [1]], 4)
    made = partitioned(baskets, balanced(4, 2), 2)
    assert [[made.groups[item] for item in record] for record in made.published.lists()] == [
        [(0,), (3,)],
        [(0,), (3,)],
        [(1,)],
        [(1,)],
    ]
    assert made.loss == 0


def test_few_records_without_codes_are_joined_by_the_shortest() -> None:
    baskets = Baskets.of([[], [0, 1, 2], [0, 1, 2], [3], [0, 1]], 4)
    made = partitioned(baskets, balanced(4, 2), 2)
    assert made.published.lists()[0] == made.published.lists()[3] == []
    assert made.suppressed == 1
    check(baskets, balanced(4, 2), made, 2)


def test_where_too_few_would_be_left_all_are_suppressed() -> None:
    made = partitioned(Baskets.of([[], [0], [1]], 2), balanced(2), 2)
    assert (made.published.lists(), made.suppressed, made.loss) == ([[], [], []], 2, 1.0)


def test_a_code_of_every_record() -> None:
    baskets = Baskets.of([[0, 1], [0, 2], [0, 3], [0]], 4)
    made = partitioned(baskets, balanced(4, 2), 2)
    check(baskets, balanced(4, 2), made, 2)


def test_k_above_the_records_is_refused() -> None:
    with pytest.raises(Unprotectable, match="2 records, fewer than k = 3"):
        partitioned(Baskets.of([[0], [1]], 2), balanced(2), 3)
    with pytest.raises(ValueError, match="at least 1"):
        partitioned(Baskets.of([[0], [1]], 2), balanced(2), 0)


def test_no_records() -> None:
    assert partitioned(Baskets.of([], 2), balanced(2), 3).published.records == 0
