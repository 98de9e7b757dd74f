"""rho-uncertainty with generalisation: every subset of every published record as what is known."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.methods.code_lists.baskets import SUPPRESSED, Baskets, Items
from querygate.methods.code_lists.rho_uncertainty import rho_uncertain
from querygate.methods.code_lists.td_control import td_control
from querygate.methods.code_lists.unprotectable import Unprotectable
from tests.each import each
from tests.seeds import seeds
from tests.unit.methods.code_lists.test_local_km import LEVELS, drawn
from tests.unit.methods.code_lists.test_rho import sure


def lost(baskets: Baskets, items: Items) -> float:
    size = np.array([len(group) for group in items.groups()] + [baskets.size])[items.of]
    share = np.where(items.of == SUPPRESSED, 1.0, np.where(size > 1, size / baskets.size, 0.0))
    return float((share * baskets.supports()).sum())


@each("seed", seeds(24))
def test_no_rule_tells_too_much_and_sensitive_codes_stay_apart(seed: int) -> None:
    baskets, sensitive = drawn(seed), np.array([0, 4])
    rho = (0.3, 0.5, 0.8)[seed % 3]
    items = td_control(baskets, sensitive, rho, levels=LEVELS)
    told = {int(item) for item in items.of[sensitive] if item != SUPPRESSED}
    assert sure(items.publish(baskets).lists(), told, rho) == set()
    assert all(len(group) == 1 for group in items.groups() if set(group) & {0, 4})


def test_generalising_keeps_what_suppression_would_lose() -> None:
    """Three of five with 0 or 1 have the secret: together they tell little enough, and 0 alone tells all."""
    baskets = Baskets.of([[0, 4], [0, 4], [0, 4], [1], [1], [2], [3]], 5)
    levels = [np.arange(5), np.array([0, 0, 1, 1, 2]), np.zeros(5, dtype=np.int64)]
    items = td_control(baskets, np.array([4]), 0.6, levels=levels)
    assert items.groups() == [(0, 1), (2,), (3,), (4,)]
    assert lost(baskets, items) < lost(baskets, rho_uncertain(baskets, np.array([4]), 0.6))


@pytest.mark.parametrize("lists", [[], [[]], [[0, 1, 2]] * 4, [[2], [2]], [[0, 1], [0, 1], [], []]])
def test_hostile_lists(lists: list[list[int]]) -> None:
    levels = [np.arange(3), np.zeros(3, dtype=np.int64)]
    baskets = Baskets.of(lists, 3)
    items = td_control(baskets, np.array([0, 1]), 0.5, levels=levels)
    told = {int(item) for item in items.of[:2] if item != SUPPRESSED}
    assert sure(items.publish(baskets).lists(), told, 0.5) == set()
    assert td_control(baskets, np.arange(3), 0.5, levels=levels).of.size == 3


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="rho"):
        td_control(Baskets.of([[0]], 8), np.array([0]), 1.5, levels=LEVELS)
    with pytest.raises(Unprotectable):
        td_control(drawn(1), np.array([0]), 0.95, levels=LEVELS, most=0)
