"""Risk against a count by hand; monotone under generalisation; no incomplete register makes a policy look safer."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from querygate.core.types import Ints
from querygate.methods.policy_search import (
    LatticeAttribute,
    LatticeCubes,
    LatticePolicy,
    PolicyLattice,
    cells,
    cube,
    recode,
    risk,
    whole_numbers,
)
from tests.unit.methods.policy_search.shelby import LATTICE, adult, study

SMALL = PolicyLattice(
    (LatticeAttribute("sex", ("F", "M")), whole_numbers("age", 30, 41), cells("bmi", [10, 18.5, 25, 30, 60]))
)


def cubes(rng: np.random.Generator) -> tuple[Ints, Ints]:
    """A file, and a register that leaves many out: fewer people than records in places, nobody in others."""
    people = rng.poisson(rng.choice([0.5, 3, 40]), SMALL.shape)
    file = rng.binomial(people, 0.3) + rng.poisson(0.2, SMALL.shape)
    file[0, 0, 0] += 1
    return file, people * (rng.random(SMALL.shape) < 0.8)


def by_hand(file: Ints, people: Ints, policy: LatticePolicy, gamma: float) -> float:
    """A record at a time, on the labels that would be published."""
    values = {name: policy.lattice.attributes[place].values for place, name in enumerate(("sex", "age", "bmi"))}
    at = np.indices(file.shape).reshape(3, -1)
    told = {
        name: recode(policy, {name: [v[0] if isinstance(v, tuple) else v for v in values[name]]})[name].tolist()
        for name in values
    }
    records, register = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
    for sex, age, bmi in at.T:
        label = (told["sex"][sex], told["age"][age], told["bmi"][bmi])
        records[label] += int(file[sex, age, bmi])
        register[label] += int(people[sex, age, bmi])
    return sum(n * (1 / max(n, register[label])) ** gamma for label, n in records.items() if n) / int(file.sum())


@pytest.mark.parametrize("gamma", [1.0, 0.5, 2.0])
def test_risk_is_what_a_count_by_hand_gives(gamma: float) -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        file, people = cubes(rng)
        policy = SMALL.policy(rng.random(SMALL.length) < rng.random())
        assert risk(file, people, policy, gamma) == pytest.approx(by_hand(file, people, policy, gamma), rel=1e-12)


def test_generalising_never_raises_the_risk() -> None:
    """On 1,000 random pairs of policies, half of them over the county, half over incomplete registers."""
    rng = np.random.default_rng(11)
    lower = 0
    for at in range(1000):
        one = study() if at % 2 else LatticeCubes(SMALL, *cubes(rng), gamma=float(rng.choice([0.3, 1, 3])))
        fine = rng.random(one.lattice.length) < rng.random()
        coarse = fine & (rng.random(len(fine)) < rng.random())
        before, after = one.risk_of(fine), one.risk_of(coarse)
        assert after <= before * (1 + 1e-12)
        lower += after < before
    assert lower > 700


def test_a_register_that_leaves_people_out_never_makes_a_policy_look_safer() -> None:
    rng = np.random.default_rng(12)
    for _ in range(200):
        file, people = cubes(rng)
        left = rng.binomial(people, rng.random())
        policy = SMALL.policy(rng.random(SMALL.length) < rng.random())
        assert risk(file, left, policy) >= risk(file, people, policy) * (1 - 1e-12)
    assert risk(file, np.zeros_like(people), SMALL.coarsest) == pytest.approx(1 / file.sum())


def test_what_the_register_lacks_is_counted() -> None:
    lattice = PolicyLattice((whole_numbers("age", 50, 53),))
    measured = LatticeCubes(lattice, np.array([1, 0, 2, 3]), np.array([10, 10, 0, 1])).measure(lattice.finest)
    assert (measured.unmatched, measured.short, measured.k_map, measured.classes) == (2, 3, 0, 3)
    assert measured.greatest == 0.5
    assert measured.risk == pytest.approx((1 / 10 + 2 / 2 + 3 / 3) / 6)
    assert set(measured.to_dict()) >= {"risk", "unmatched", "short"}


def test_a_study_forgets_and_measures_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Policies that change all axes, more of them than are remembered."""
    monkeypatch.setattr("querygate.methods.policy_search.policy_risk.KNOWN", 2000)
    lattice = PolicyLattice(
        (LatticeAttribute("code", tuple(f"{at:02d}" for at in range(14))), whole_numbers("age", 0, 19))
    )
    rng = np.random.default_rng(2)
    file = rng.poisson(1.0, lattice.shape)
    one = LatticeCubes(lattice, file, file * 7)
    for kept in rng.random((100, lattice.length)) < 0.5:
        assert one.risk_of(kept) == LatticeCubes(lattice, file, file * 7).risk_of(kept)


@pytest.mark.parametrize(
    ("file", "people", "gamma", "word"),
    [
        ([1, 2], [3, 4], 1, "shape"),
        ([1, 2, -1], [3, 4, 4], 1, "negative"),
        ([0, 0, 0], [3, 4, 4], 1, "record"),
        ([1, 0, 0], [3, 4, 4], -1, "gamma"),
    ],
)
def test_what_cannot_be_measured(file: list[int], people: list[int], gamma: float, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        LatticeCubes(PolicyLattice((whole_numbers("age", 1, 3),)), np.array(file), np.array(people), gamma)


def test_the_county() -> None:
    assert study().population.sum() == 937_166
    assert study().records == 30_162
    ages = np.array(adult()["age"])
    assert study().file.sum(axis=(0, 1))[90] == (ages == 90).sum() == 35
    assert LATTICE.length == 104


def test_cubes_count_people_of_a_table() -> None:
    lattice = PolicyLattice((LatticeAttribute("sex", ("F", "M")),))
    assert cube(lattice, {"sex": ["F", "M", "F"]}, [3, 4, 5]).tolist() == [8, 4]
