"""(h, k, p)-coherence: checked by listing what is known of every record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest

from querygate.methods.code_lists.baskets import SUPPRESSED, Baskets, Items
from querygate.methods.code_lists.coherence import coherent
from querygate.methods.code_lists.unprotectable import Unprotectable
from tests.bench.itemsets import groceries
from tests.each import each
from tests.seeds import seeds
from tests.unit.methods.code_lists.test_km import random_case


def moles(records: Sequence[Sequence[int]], sensitive: set[int], k: int, p: int, share: float) -> list[tuple[int, ...]]:
    """Sets of up to p public codes that few records hold, or that tell of a sensitive code."""
    held: Counter[tuple[int, ...]] = Counter()
    told: Counter[tuple[tuple[int, ...], int]] = Counter()
    for record in records:
        public = [code for code in record if code not in sensitive]
        for known in (one for size in range(1, p + 1) for one in combinations(public, size)):
            held[known] += 1
            told.update((known, code) for code in record if code in sensitive)
    sure = {known for (known, _), count in told.items() if count / held[known] > share + 1e-9}
    return [known for known, count in held.items() if count < k or known in sure]


def kept(baskets: Baskets, items: Items) -> list[list[int]]:
    return [[code for code in record if items.of[code] != SUPPRESSED] for record in baskets.lists()]


@each("seed", seeds(30))
def test_random_records(seed: int) -> None:
    baskets, _, k = random_case(seed)
    sensitive, share, p = np.array([0, 1]), (0.5, 0.7)[seed % 2], 1 + seed % 3
    if baskets.supports()[:2].max() > share * baskets.records:
        with pytest.raises(Unprotectable, match="whatever else is known"):
            coherent(baskets, sensitive, k, p, share)
        return
    items = coherent(baskets, sensitive, k, p, share)
    assert moles(kept(baskets, items), {0, 1}, k, p, share) == []
    assert (items.of[:2] != SUPPRESSED).all()
    dropped = set(np.flatnonzero(items.of == SUPPRESSED).tolist())
    assert dropped <= {code for mole in moles(baskets.lists(), {0, 1}, k, p, share) for code in mole}


def test_groceries() -> None:
    baskets, _ = groceries()
    sensitive = np.argsort(baskets.supports())[80:83]
    items = coherent(baskets, sensitive, k=5, p=2, share=0.2)
    assert moles(kept(baskets, items), set(sensitive.tolist()), 5, 2, 0.2) == []
    assert 10 < items.number < baskets.size


def test_a_sensitive_code_of_every_record_is_refused() -> None:
    with pytest.raises(Unprotectable, match="1 sensitive code occurs in more than a share"):
        coherent(Baskets.of([[0, 1], [0]], 2), np.array([0]), 1, 1, 0.5)


def test_a_public_code_of_every_record_stays() -> None:
    baskets = Baskets.of([[0, 1], [0], [0], [0, 2]], 3)
    assert coherent(baskets, np.array([1]), 2, 2, 0.5).groups() == [(0,), (1,)]


def test_records_without_codes() -> None:
    assert coherent(Baskets.of([[], [], [0], [0]], 1), np.array([], dtype=np.int64), 2, 2, 0.5).number == 1
    assert coherent(Baskets.of([[], []], 1), np.array([0]), 2, 2, 0.5).number == 1


@pytest.mark.parametrize(
    ("k", "p", "share", "sensitive"), [(0, 1, 0.5, 0), (1, 0, 0.5, 0), (1, 1, 1.0, 0), (1, 1, 0.5, 9)]
)
def test_bad_arguments(k: int, p: int, share: float, sensitive: int) -> None:
    with pytest.raises(ValueError, match=r"at least 1|between 0 and 1|numbers of codes"):
        coherent(Baskets.of([[0], [1], [1]], 2), np.array([sensitive]), k, p, share)


def test_k_above_the_records_is_refused() -> None:
    with pytest.raises(Unprotectable, match="fewer than k = 4"):
        coherent(Baskets.of([[0], [1], [1]], 2), np.array([0]), 4, 1, 0.5)
