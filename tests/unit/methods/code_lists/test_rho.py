"""rho-uncertainty: checked by listing every subset of every record as what is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest

from querygate.methods.code_lists.baskets import SUPPRESSED, Baskets
from querygate.methods.code_lists.rho_uncertainty import rho_uncertain
from querygate.methods.code_lists.unprotectable import Unprotectable
from tests.bench.itemsets import groceries
from tests.each import each
from tests.seeds import seeds
from tests.unit.methods.code_lists.test_coherence import kept
from tests.unit.methods.code_lists.test_km import random_case

Antecedent = tuple[int, ...]


def sure(
    records: Sequence[Sequence[int]], sensitive: set[int], rho: float, length: int | None = None
) -> set[tuple[Antecedent, int]]:
    """Rules of any length that are more confident than rho."""
    held: Counter[Antecedent] = Counter()
    for record in records:
        longest = len(record) if length is None else min(len(record), length + 1)
        held.update(one for size in range(longest + 1) for one in combinations(sorted(record), size))
    return {
        (known, code)
        for both, count in held.items()
        for code in sensitive & set(both)
        if (known := tuple(one for one in both if one != code)) is not None and count / held[known] > rho + 1e-9
    }


@each("seed", seeds(40))
def test_no_rule_of_any_length(seed: int) -> None:
    baskets, _, _ = random_case(seed)
    rho = (0.3, 0.5, 0.8)[seed % 3]
    items = rho_uncertain(baskets, np.array([0, 1]), rho)
    assert sure(kept(baskets, items), {0, 1}, rho) == set()
    dropped = set(np.flatnonzero(items.of == SUPPRESSED).tolist())
    assert dropped <= {code for known, code in sure(baskets.lists(), {0, 1}, rho) for code in (*known, code)}


def test_up_to_a_length() -> None:
    baskets, _ = groceries()
    sensitive = np.argsort(baskets.supports())[80:83]
    items = rho_uncertain(baskets, sensitive, rho=0.5, length=2)
    assert sure(kept(baskets, items), set(sensitive.tolist()), 0.5, 2) == set()
    assert items.number > 10


def test_more_than_can_be_searched_is_refused() -> None:
    random = np.random.default_rng(3)
    baskets = Baskets.of([np.flatnonzero(random.random(30) < 0.6).tolist() for _ in range(500)], 30)
    with pytest.raises(Unprotectable, match="More than 2,000 sets"):
        rho_uncertain(baskets, np.array([0]), rho=0.95, most=2000)


def test_a_sensitive_code_of_every_record_goes() -> None:
    assert rho_uncertain(Baskets.of([[0, 1], [0]], 2), np.array([0]), 0.5).of.tolist() == [SUPPRESSED, 0]


def test_a_public_code_of_every_record_stays() -> None:
    assert rho_uncertain(Baskets.of([[0, 1], [0], [0]], 2), np.array([1]), 0.5).number == 2


def test_sensitive_codes_tell_of_one_another() -> None:
    items = rho_uncertain(Baskets.of([[0, 1], [0, 1], [], [], []], 2), np.array([0, 1]), 0.5)
    assert sorted(items.of.tolist()) == [SUPPRESSED, 0]


def test_records_without_codes_and_none_at_all() -> None:
    assert rho_uncertain(Baskets.of([[], []], 2), np.array([0]), 0.5).number == 2
    assert rho_uncertain(Baskets.of([], 2), np.array([0]), 0.5).number == 2


@pytest.mark.parametrize(("rho", "length"), [(0.0, None), (1.0, None), (0.5, -1)])
def test_bad_arguments(rho: float, length: int | None) -> None:
    with pytest.raises(ValueError, match=r"between 0 and 1|0 at least"):
        rho_uncertain(Baskets.of([[0]], 1), np.array([0]), rho, length)
