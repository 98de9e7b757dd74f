"""Which ways to publish a custodian is shown beside the policy's own."""

from __future__ import annotations

import tomllib

import pytest

from querygate.core.errors import ConfigError
from querygate.custody.workload.view_candidates import CLASSES, view_candidates
from tests.policies import AGE, SBP, make_policy, quasi

CATEGORIES = {name: quasi("category", values=["a", "b"]) for name in ("sex", "race", "school")}
POLICY = make_policy("t", {"age": AGE, **CATEGORIES, "sbp": SBP | {"bins": 10, "guard": 10}}, views={"mode": "auto"})


def test_the_policys_own_come_first_then_classes_then_others_by_each_category_and_in_its_frame() -> None:
    own, classes, *others = view_candidates(POLICY.parsed())
    assert own.policy == POLICY.parsed()
    assert classes.name == CLASSES
    assert classes.policy.views is None
    assert [one.name for one in others] == [
        'spanning = [["age", "race", "sex"], ["age", "race", "school"]], extra = [["sex", "school"]]',
        'spanning = [["age", "school", "sex"], ["age", "school", "race"]], extra = [["sex", "race"]]',
        'spanning = [["age", "sex", "race", "school"], ["age", "sex", "school"]]',
        'frame = ["sex"], spanning = [["sex", "age", "race"], ["sex", "school"]], extra = [["race", "school"]]',
        'frame = ["race"], spanning = [["race", "age", "sex"], ["race", "school"]], extra = [["sex", "school"]]',
        'frame = ["school"], spanning = [["school", "age", "sex"], ["school", "race"]], extra = [["sex", "race"]]',
    ]


def test_only_a_small_table_may_be_one_frame_cell() -> None:
    *others, last = view_candidates(POLICY.parsed(), is_small=True)
    assert tuple(others) == view_candidates(POLICY.parsed())
    spanning = '[["age", "sex", "race"], ["age", "sex", "school"]]'
    assert last.name == f'frame = [], spanning = {spanning}, extra = [["race", "school"]]'
    assert last.policy.views is not None
    assert last.policy.views.frame == ()


def test_the_frame_of_the_schema_is_tried_where_the_policy_has_another() -> None:
    rules = {"frame": ["sex"], "spanning": [["sex", "age", "race"], ["sex", "school"]], "mode": None}
    found = view_candidates(POLICY.but(views=rules).parsed())
    assert found[0].name == 'spanning = [["sex", "age", "race"], ["sex", "school"]]'
    (usual,) = [one for one in found if one.name.startswith('frame = ["age"]')]
    assert usual.policy.views == POLICY.but(views={"extra": []}).parsed().views


def test_a_category_of_many_or_unknown_values_is_no_frame() -> None:
    many = quasi("category", values=[str(number) for number in range(13)])
    found = view_candidates(POLICY.but(columns={"race": many, "school": {"values": None}}).parsed())
    named = [one.name for one in found if one.name.startswith("frame")]
    spanning = '[["sex", "age", "race"], ["sex", "school"]]'
    assert named == [f'frame = ["sex"], spanning = {spanning}, extra = [["race", "school"]]']


def test_every_candidate_is_a_policy_that_the_file_could_say() -> None:
    for one in view_candidates(POLICY.parsed(), is_small=True):
        if one.policy.views is not None:
            said = tomllib.loads(one.name.replace(", spanning", "\nspanning").replace(", extra", "\nextra"))
            assert POLICY.but(views={"mode": "spanning", **said}).parsed().views == one.policy.views


def test_few_quasi_identifiers_leave_one_view_and_no_category_none_beside_it() -> None:
    few = POLICY.but(columns={"race": None, "school": None}).parsed()
    assert [one.name for one in view_candidates(few)] == [
        'spanning = [["age", "sex"]]',
        CLASSES,
        'frame = ["sex"], spanning = [["sex", "age"]]',
    ]
    ages = POLICY.but(columns=dict.fromkeys(CATEGORIES)).parsed()
    assert [one.name for one in view_candidates(ages)] == ['spanning = [["age"]]', CLASSES]


def test_without_views_there_is_nothing_to_compare() -> None:
    with pytest.raises(ConfigError, match="no table \\[views\\]") as refused:
        view_candidates(POLICY.but(views=None).parsed())
    assert refused.value.code == "QG801"
