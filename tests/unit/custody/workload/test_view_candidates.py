"""Which ways to publish a custodian is shown beside the policy's own."""

from __future__ import annotations

import pytest

from querygate.core.errors import ConfigError
from querygate.custody.workload.view_candidates import CLASSES, view_candidates
from tests.policies import AGE, SBP, make_policy, quasi

CATEGORIES = {name: quasi("category", values=["a", "b"]) for name in ("sex", "race", "school")}
POLICY = make_policy("t", {"age": AGE, **CATEGORIES, "sbp": SBP | {"bins": 10, "guard": 10}}, views={"mode": "auto"})


def test_the_policys_own_come_first_then_classes_then_others_by_each_category() -> None:
    own, classes, *others = view_candidates(POLICY.parsed())
    assert own.policy == POLICY.parsed()
    assert classes.name == CLASSES
    assert classes.policy.views is None
    assert [one.name for one in others] == [
        'spanning = [["age", "race", "sex"], ["age", "race", "school"]]',
        'spanning = [["age", "school", "sex"], ["age", "school", "race"]]',
        'spanning = [["age", "sex", "race", "school"], ["age", "sex", "school"]]',
    ]


def test_every_candidate_is_a_policy_that_the_file_could_say() -> None:
    for one in view_candidates(POLICY.parsed()):
        if one.policy.views is not None:
            views = {"mode": "spanning", "spanning": [list(view) for view in one.policy.views.spanning]}
            assert POLICY.but(views=views).parsed().views == one.policy.views


def test_few_quasi_identifiers_leave_one_view_and_no_category_none_beside_it() -> None:
    few = POLICY.but(columns={"race": None, "school": None}).parsed()
    assert [one.name for one in view_candidates(few)] == ['spanning = [["age", "sex"]]', CLASSES]
    ages = POLICY.but(columns=dict.fromkeys(CATEGORIES)).parsed()
    assert [one.name for one in view_candidates(ages)] == ['spanning = [["age"]]', CLASSES]


def test_without_views_there_is_nothing_to_compare() -> None:
    with pytest.raises(ConfigError, match="no table \\[views\\]") as refused:
        view_candidates(POLICY.but(views=None).parsed())
    assert refused.value.code == "QG801"
