"""Moments of classes against those who know the others: the last member, by exact sums and by rounded ones.

Each attack succeeds on what would be published with the rule off, and fails on what is published with it on.
"""

from __future__ import annotations

import math
import random
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from querygate.core.errors import ConfigError
from querygate.methods.anonymise.class_moments import Members, MomentRelease, exact_moments, rounded_moments
from tests.engine import reading
from tests.policies import AGE, SBP, make_policy
from tests.unit.custody.publish.publications import new_site, put

POLICY = make_policy("t", {"age": AGE, "sbp": SBP | {"grid": 1, "bins": 10, "guard": 10}})

E, K = 10, 5


def members(values: list[list[int]], bins: int = 10) -> Members:
    """Classes of these values, each published in its bin."""
    entries = sorted({(label, x) for label, part in enumerate(values) for x in part})
    counts = [values[label].count(x) for label, x in entries]
    label, value = np.array([a for a, _ in entries]), np.array([b for _, b in entries])
    low = value // bins * bins
    return Members(label, value, np.array(counts), low, low + bins - 1)


def hull_members(values: list[list[int]]) -> Members:
    """Classes of these values, each published with the hull of its class as tight as it can be."""
    plain = members(values)
    low, high = (np.array([end(values[label]) for label in plain.label]) for end in (min, max))
    return Members(plain.label, plain.value, plain.count, low, high)


# -- three members, exact sums ---------------------------------------------------------------------------------------


def third_value(told: MomentRelease, low: int, high: int) -> tuple[float, float]:
    """Both ends of a hull are somebody's values, so the third is the sum less these."""
    if math.isnan(told.sum_low[0]):
        return low, high
    return float(told.sum_low[0] - low - high), float(told.sum_high[0] - low - high)


def test_three_members_and_an_exact_sum() -> None:
    secret = 131
    given = hull_members([[100, secret, 160]])
    assert third_value(exact_moments(given, E, guarded=False), 100, 160) == (secret, secret)
    first, last = third_value(exact_moments(given, E), 100, 160)
    assert last - first >= E


@pytest.mark.parametrize("size", range(1, 9))
def test_power_sums_need_four_members_more(size: int) -> None:
    told = exact_moments(hull_members([[100 + 10 * i for i in range(size)]]), 1)
    assert bool(told.kept[0]) == (size >= 5)
    assert bool(~np.isnan(told.var_low[0])) == (size >= 6)


def test_a_policy_with_small_classes_has_no_exact_sums() -> None:
    policy = POLICY.but(k=9, anonymise={"class_moments": "exact"})
    with pytest.raises(ConfigError, match="exact needs a k of at least 10"):
        policy.parsed()
    assert any("last value exactly" in warning for warning in policy.but(k=10).parsed().warnings)


# -- all members but one ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Release:
    """What a coalition may read: the interval of each member, the cell of the sum, and that of the variance."""

    low: int
    high: int
    sum_low: float
    sum_high: float
    var_low: float
    var_high: float

    def candidates(self, others: list[int]) -> list[int]:
        """Every whole number that the last member can have, for all that the others know."""
        found = []
        for x in range(self.low, self.high + 1):
            data = np.array([*others, x])
            fits = math.isnan(self.sum_low) or self.sum_low <= data.sum() <= self.sum_high
            if fits and not math.isnan(self.var_low):
                fits = self.var_low <= data.var() <= self.var_high
            if fits:
                found.append(x)
        return found


def classes_of(seed: int, number: int = 40) -> list[list[int]]:
    rng = random.Random(seed)
    return [[round(rng.gauss(120, 18)) for _ in range(rng.randint(K, 3 * K))] for _ in range(number)]


def least_left(values: list[list[int]], given: Members, told: MomentRelease) -> list[int]:
    """Per class that tells a sum, the fewest values that are left for a member when all others pool theirs."""
    least = []
    for at, label in enumerate(told.classes.tolist()):
        if math.isnan(told.sum_low[at]):
            continue
        left = []
        for x in set(values[label]):
            row = int(np.flatnonzero((given.label == label) & (given.value == x))[0])
            others = list(values[label])
            others.remove(x)
            ends = (told.sum_low[at], told.sum_high[at], told.var_low[at], told.var_high[at])
            left.append(len(Release(int(given.low[row]), int(given.high[row]), *ends).candidates(others)))
        least.append(min(left))
    return least


@pytest.mark.parametrize("make", [members, hull_members], ids=["bins", "hull"])
@pytest.mark.parametrize("e", [5, 10])
def test_colluders_learn_no_less_than_e(make: object, e: int) -> None:
    values = [part for part in classes_of(7) if max(part) - min(part) >= e]
    given = make(values)  # type: ignore[operator]
    off = least_left(values, given, rounded_moments(given, e, K, guarded=False))
    on = least_left(values, given, rounded_moments(given, e, K))
    assert min(off) <= 2  # the attack is one
    assert len(on) > len(values) / 2
    assert min(on) >= e


def test_an_exact_sum_tells_the_last_member_to_all_others() -> None:
    """Not prevented, but said: the warning of the policy."""
    values = classes_of(3, 5)
    assert set(least_left(values, members(values), exact_moments(members(values), 5))) == {1}


# -- through the real path -------------------------------------------------------------------------------------------


def test_a_published_store_leaves_e_to_every_member(tmp_path: Path) -> None:
    rng = random.Random(2)
    ages = [rng.randint(0, 90) for _ in range(300)]
    pressures = [round(rng.gauss(120, 18)) for _ in ages]
    opened = new_site(tmp_path)
    rounded = {"method": "mondrian", "class_moments": "rounded"}
    policy = POLICY.but(columns={"sbp": {"guard": 5}}, anonymise=rounded)
    report = put(opened, policy, {"age": ages, "sbp": pressures})
    shutil.copy(opened.site.store / "t" / "v00001.duckdb", tmp_path / "store.duckdb")
    shutil.copy(opened.site.vault / "t" / "v00001.duckdb", tmp_path / "vault.duckdb")
    with reading(tmp_path / "store.duckdb") as store:
        told = {row[1]: row[2:] for row in store.execute("SELECT * FROM class_moment").fetchall()}
        bins = store.execute("SELECT DISTINCT c1_lo, c1_hi FROM cells").fetchall()
    with reading(tmp_path / "vault.duckdb") as vault:
        raw = vault.execute("SELECT class, sbp FROM rows JOIN row_class USING (row_id) ORDER BY 1, 2").fetchall()
    looked = 0
    for label, (n, *ends) in told.items():
        data = [x for other, x in raw if other == label]
        assert len(data) == n >= 5
        for x in set(data):
            others = list(data)
            others.remove(x)
            cells = [math.nan if end is None else end for end in ends]
            [interval] = [(low, high) for low, high in bins if low <= x <= high]
            assert len(Release(*interval, *cells).candidates(others)) >= 5
            looked += 1
    assert looked > 100
    [number] = report.numbers
    assert number.residual is not None
    assert number.residual >= 5 * (1 - 1e-9)
