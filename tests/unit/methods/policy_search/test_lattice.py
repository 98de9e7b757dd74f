"""Policies: groups, their order, labels, and what is no policy."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.methods.policy_search import LatticeAttribute, PolicyLattice, cells, recode, rules, whole_numbers

AGE = whole_numbers("age", 50, 54, open_top=True)
RACE = LatticeAttribute("race", ("White", "Black", "Asian"))
LATTICE = PolicyLattice((AGE, RACE, cells("bmi", [10, 18.5, 25, 60])))


def test_bits_of_attributes_stand_one_after_the_other() -> None:
    policy = LATTICE.policy("1001" + "10" + "01")
    assert LATTICE.length == 8
    assert policy.groups("age") == ((50,), (51, 52, 53), (54,))
    assert policy.groups("race") == (("White",), ("Black", "Asian"))
    assert policy.labels("bmi") == ("10 to 25", "25 to 60")
    assert policy.labels("age") == ("50", "51-53", "54+")


def test_order_is_that_of_what_is_kept() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        one, other = (LATTICE.policy(rng.random(LATTICE.length) < 0.6) for _ in range(2))
        # Specialises: each of its groups lies in one group of the other.
        inside = all(
            any(set(group) <= set(wider) for wider in other.groups(attribute.name))
            for attribute in LATTICE.attributes
            for group in one.groups(attribute.name)
        )
        assert one.specialises(other) == inside == other.generalises(one)
        assert LATTICE.coarsest.generalises(one)
        assert LATTICE.finest.specialises(one)


def test_policies_of_other_lattices_are_not_compared() -> None:
    with pytest.raises(ValueError, match="different attributes"):
        PolicyLattice((RACE,)).finest.specialises(PolicyLattice((LatticeAttribute("sex", ("F", "M", "X")),)).finest)


@pytest.mark.parametrize("bits", ["", "1111111", "111111111", "1111111x"])
def test_a_policy_has_as_many_bits_as_boundaries(bits: str) -> None:
    with pytest.raises(ValueError, match="8 bits"):
        LATTICE.policy(bits)


@pytest.mark.parametrize(
    ("name", "values", "kind", "word"),
    [
        ("age", (1, 3, 2), "number", "ascend"),
        ("age", (1.5, 2.5), "number", "whole"),
        ("sex", ("F", "F"), "category", "different"),
        ("sex", (), "category", "at least one"),
        ("zip", ("37212",), "zip", "area"),
    ],
)
def test_what_is_no_attribute(name: str, values: tuple[int, ...], kind: str, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        LatticeAttribute(name, values, kind)  # type: ignore[arg-type]


def test_names_are_different() -> None:
    with pytest.raises(ValueError, match="different names"):
        PolicyLattice((RACE, RACE))
    with pytest.raises(ValueError, match="no attribute sex"):
        LATTICE.place("sex")


def test_values_are_encoded() -> None:
    assert AGE.encode([50, 54, 99]).tolist() == [0, 4, 4]
    assert cells("bmi", [10, 18.5, 25, 60]).encode([10, 18.4, 18.5, 60]).tolist() == [0, 0, 1, 2]
    assert RACE.encode(["Asian", "White"]).tolist() == [2, 0]


@pytest.mark.parametrize(
    ("attribute", "value"),
    [(AGE, 49), (AGE, 51.5), (AGE, np.nan), (cells("bmi", [10, 60]), 61), (cells("bmi", [10, 60]), 9), (RACE, "Other")],
)
def test_a_value_that_the_attribute_does_not_have_is_refused(attribute: LatticeAttribute, value: float | str) -> None:
    with pytest.raises(ValueError, match="has no value"):
        attribute.encode([value])


def test_recoded_values_are_the_labels_of_their_groups() -> None:
    policy = LATTICE.policy("1001" + "01" + "01")
    made = recode(policy, {"age": [53, 50, 80], "race": ["Black", "Asian", "White"], "bmi": [12.0, 24.9, 25]})
    assert made["age"].tolist() == ["51-53", "50", "54+"]
    assert made["race"].tolist() == ["White/Black", "Asian", "White/Black"]
    assert made["bmi"].tolist() == ["10 to 25", "10 to 25", "25 to 60"]


def test_rules_name_what_is_changed() -> None:
    assert rules(LATTICE.finest) == ()
    assert rules(LATTICE.coarsest) == ("age suppressed", "race suppressed", "bmi suppressed")
    assert rules(LATTICE.policy("1010" + "11" + "01")) == ("ages 51-52, 53+ combined", "bmi 10 to 25 combined")
