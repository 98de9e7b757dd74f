"""A handful of kinds: each solution in one, alike ones together, said in words."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.methods.policy_search import PolicySolution, bisecting, explain_kind, kinds, safe_harbor
from querygate.methods.policy_search.solution_kinds import losses, parts
from tests.unit.methods.policy_search.shelby import LATTICE, study


def merged(*ages: int, sex: bool = True, race: str = "111") -> PolicySolution:
    """A policy that joins each of these ages with the next."""
    kept = np.ones(100, dtype=np.bool_)
    kept[list(ages)] = False
    policy = LATTICE.policy(f"{sex:d}{race}" + "".join("01"[int(bit)] for bit in kept))
    return PolicySolution(policy, study().risk(policy))


def test_long_attributes_are_seen_in_parts_of_equally_many_records() -> None:
    found = parts(study())
    assert [part.name for part in found] == ["sex", "race", "age 0-28", "age 29-37", "age 38-47", "age 48+"]
    records = study().file.sum(axis=(0, 1))
    shares = [records[part.start : part.end].sum() / records.sum() for part in found[2:]]
    assert shares == pytest.approx([0.25] * 4, abs=0.04)


def test_losses_are_those_of_records() -> None:
    assert losses(study(), LATTICE.finest).tolist() == [0] * 6
    assert losses(study(), LATTICE.coarsest) == pytest.approx([1] * 6)
    ages = study().file.sum(axis=(0, 1))
    joined = losses(study(), merged(30).policy)
    assert joined[3] == pytest.approx((ages[30] + ages[31]) / ages[29:38].sum() / 100)
    assert joined[[0, 1, 2, 4, 5]].tolist() == [0] * 5


def test_alike_solutions_are_of_one_kind() -> None:
    young, old = [merged(at) for at in range(18, 25)], [merged(at) for at in range(60, 70)]
    others = [merged(sex=False), merged(race="011")]
    found = kinds(study(), [*young, *others, *old], count=4)
    assert [set(kind.members) for kind in found[:2]] == [set(old), set(young)]
    assert [len(kind.members) for kind in found] == [10, 7, 1, 1]
    assert explain_kind(found[0]) == "10 policies merge values of age 48+."
    assert explain_kind(found[2]) in {f"1 policy merges values of {name}." for name in ("sex", "race")}


def test_every_solution_is_of_one_kind() -> None:
    threshold = study().risk(safe_harbor(LATTICE))
    best = bisecting(study(), threshold, 40, np.random.default_rng(3), complete=True).best
    found = kinds(study(), best, count=5)
    assert 2 <= len(found) <= 5
    assert sorted(one.policy.bits for kind in found for one in kind.members) == sorted(one.policy.bits for one in best)
    assert all(kind.representative in kind.members for kind in found)


def test_few_solutions() -> None:
    assert kinds(study(), []) == ()
    (only,) = kinds(study(), [PolicySolution(LATTICE.finest, 0.1)])
    assert explain_kind(only) == "1 policy merges no values that occur in the records."
