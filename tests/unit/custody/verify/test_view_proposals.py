"""What the publisher proposes to the verifier counts where it holds, and nothing but that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from querygate.core.errors import ConfigError
from querygate.custody.publish.view_certificates import CellCertificates
from querygate.methods.views.balance import Balance
from querygate.methods.views.balance_check import least_support
from querygate.methods.views.certificate_check import BinnedNumber, TotalsGiven, WitnessCheck
from querygate.methods.views.worlds import World
from tests.policies import make_policy, quasi, sensitive
from tests.seeds import seeds
from tests.unit.custody.verify.view_stores import ViewStore, publish_views

POLICY = make_policy(
    "t",
    {
        "age": quasi("integer", (0, 9), grid=1),
        "ward": quasi("category", values=["a", "b", "c"]),
        "shift": quasi("category", values=["x", "y", "z"]),
        "sbp": sensitive("integer", (40, 300), bins=10, guard=10),
        "ill": sensitive("category", values=["no", "yes"]),
    },
    k=2,
    views={
        "mode": "spanning",
        "spanning": [["age", "ward"], ["age", "shift"]],
        "extra": [["ward", "shift"]],
        "frame": [],
    },
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ViewStore:
    """Three views that all divide their only frame cell."""
    random = np.random.default_rng(2)
    people = {
        "age": random.integers(0, 4, 90).tolist(),
        "ward": random.choice(["a", "b", "c"], 90).tolist(),
        "shift": random.choice(["x", "y", "z"], 90).tolist(),
        "sbp": random.integers(100, 160, 90).tolist(),
        "ill": random.choice(["no", "yes"], 90).tolist(),
    }
    return publish_views(tmp_path_factory.mktemp("three"), POLICY, people)


def test_three_views_are_shown_by_what_is_proposed(store: ViewStore) -> None:
    (given,) = store.proposals.values()
    assert given.balances[0]
    found = store.verify()
    assert found.views is not None
    assert found.views.shown["ill"] == 90


def test_without_balances_a_third_view_is_refused(store: ViewStore) -> None:
    with pytest.raises(ConfigError, match="views together tell of k = 2 people or of nobody"):
        store.verify(proposals={})


def changed(store: ViewStore, change: Callable[[CellCertificates], CellCertificates]) -> dict[int, Any]:
    return {frame: change(given) for frame, given in store.proposals.items()}  # type: ignore[arg-type]


def other_balance(one: Balance) -> Balance:
    return replace(one, numbers=(one.numbers[0] + 1, *one.numbers[1:]))


@pytest.mark.parametrize(
    "change",
    [
        lambda given: replace(given, balances=tuple(tuple(map(other_balance, one)) for one in given.balances)),
        lambda given: replace(given, balances=tuple(one[1:] for one in given.balances)),
        lambda given: replace(
            given, balances=tuple(tuple(replace(b, denominator=0) for b in one) for one in given.balances)
        ),
        lambda given: replace(
            given, balances=tuple(tuple(replace(b, atom=10**6) for b in one) for one in given.balances)
        ),
        lambda given: replace(
            given, balances=tuple(tuple(replace(b, numbers=()) for b in one) for one in given.balances)
        ),
    ],
    ids=["another number", "one less", "no denominator", "no such atom", "no numbers"],
)
def test_balances_that_do_not_hold_show_nothing(store: ViewStore, change: Callable[[Any], Any]) -> None:
    with pytest.raises(ConfigError, match="views together tell of"):
        store.verify(proposals=changed(store, change))


# -- witnesses ---------------------------------------------------------------------------------------------------------

LABELS = np.array([[0, 0, 0, 1, 1, 1], [0, 0, 1, 0, 1, 1]])
"""Two views of six people."""

BINS = np.array([0, 0, 0, 1, 1, 1])


def number(values: list[int]) -> BinnedNumber:
    return BinnedNumber(np.array(values), np.array([0, 10]), np.array([9, 19]), 10, 60)


def test_worlds_that_are_none_show_nothing() -> None:
    check = WitnessCheck(LABELS, BINS, [number([1, 2, 3, 11, 12, 13])], 2)
    before = check.can.copy()
    true = check.world(0)
    for world in (
        TotalsGiven(0, true.totals[:, :-1]),
        TotalsGiven(0, true.totals + 1_000),
        TotalsGiven(5, np.zeros((0, 0), dtype=np.int64)),
    ):
        assert not check.swap(world)
    assert np.array_equal(check.can, before)


def test_linked_columns_are_uncertain_one_by_one() -> None:
    """Everybody could have another joint value, but all have the same value of one column."""
    for second, is_unsafe in (([1, 0], False), ([0, 0], True)):
        check = WitnessCheck(np.zeros_like(LABELS), BINS, [], 2, (np.array([0, 1]), np.array(second)))
        assert set(check.unsafe().tolist()) == {is_unsafe}


@pytest.mark.parametrize(("span", "is_unsafe"), [(20, False), (21, True)])
def test_numbers_keep_their_guard_where_no_sums_are_told(span: int, is_unsafe: bool) -> None:
    untold = replace(number([1, 2, 3, 11, 12, 13]), span=span, step=0)
    check = WitnessCheck(np.zeros_like(LABELS), BINS, [untold], 2)
    assert set(check.unsafe().tolist()) == {is_unsafe}


def test_the_table_itself_is_a_world() -> None:
    check = WitnessCheck(LABELS, BINS, [number([1, 2, 3, 11, 12, 13])], 2)
    world = World(0, np.asarray(check.world(0).totals), np.zeros((1, 4), dtype=np.int64))
    assert check.room(TotalsGiven(world.exact, world.totals)) is not None


# -- combinations ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [1, 720_720, 2**34])
def test_weights_may_be_large(weight: int) -> None:
    """People with many records weigh many parts; what is told is never too much."""
    random = np.random.default_rng(1)
    first, second = random.integers(0, 4, 400), random.integers(0, 4, 400)
    plain = least_support(first, second, np.ones(400, dtype=np.int64))
    found = least_support(first, second, np.full(400, weight))
    assert plain * weight * 0.99 <= found <= plain * weight


def brute_least(first: Any, second: Any, weight: Any) -> int:
    """The least cut of a component, by all sets of classes."""
    size = int(first.max()) + int(second.max()) + 2
    ends = np.stack([first, second + int(first.max()) + 1])
    cuts = []
    for chosen in range(1, 2**size - 1):
        inside = np.array([chosen >> vertex & 1 for vertex in range(size)], dtype=np.bool_)
        crossing = inside[ends[0]] != inside[ends[1]]
        if crossing.any():
            cuts.append(int(weight[crossing].sum()))
    return min(cuts)


@pytest.mark.parametrize("seed", seeds(40))
def test_the_least_cut_is_that_of_all_cuts(seed: int) -> None:
    random = np.random.default_rng(seed)
    records = int(random.integers(2, 30))
    first, second = (np.unique(random.integers(0, 4, records), return_inverse=True)[1] for _ in range(2))
    weight = random.integers(1, 9, records)
    assert least_support(first, second, weight) == brute_least(first, second, weight)
