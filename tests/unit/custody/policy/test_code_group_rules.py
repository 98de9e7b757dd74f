"""The table [views.codes]: groups become flags, and whatever is wrong is named by its key."""

from __future__ import annotations

from typing import Any

import pytest

from querygate.core.errors import ConfigError
from querygate.custody.policy.column_policy import CodeGroup
from querygate.custody.policy.policy_json import read_policy, write_policy
from tests.policies import AGE, SBP, SEX, code_list, make_policy

GROUPS = {"diabetes": ["250"], "Hypertonie, alle": ["402", " 401 ", "401"]}
POLICY = make_policy(
    "t",
    {"age": AGE, "sex": SEX, "sbp": SBP | {"guard": 10}, "dx": code_list("icd9cm")},
    views={"codes": {"dx": GROUPS}},
)


def problem(**changes: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        POLICY.but(**changes).parsed()
    assert caught.value.code == "QG801"
    return caught.value.detail


def test_a_group_is_a_flag_that_stands_for_its_list() -> None:
    policy = POLICY.parsed()
    assert [column.name for column in policy.published] == ["age", "sex", "sbp", "diabetes", "Hypertonie, alle"]
    flag = policy.column("Hypertonie, alle")
    assert (flag.role, flag.type, flag.values) == ("sensitive", "boolean", ("false", "true"))
    assert flag.of_codes == CodeGroup("dx", ("401", "402"))
    assert policy.warnings == ()
    assert read_policy(write_policy(policy)) == policy


def test_the_hash_is_of_what_groups_mean() -> None:
    other = POLICY.but(views={"codes": {"dx": {"Hypertonie, alle": ["401", "402"], "diabetes": ["250"]}}})
    assert other.parsed().hash == POLICY.parsed().hash
    assert POLICY.but(views={"codes": {"dx": GROUPS | {"diabetes": ["251"]}}}).parsed().hash != POLICY.parsed().hash


def test_flags_are_linked_like_any_sensitive_columns() -> None:
    policy = POLICY.but(views={"linked": [["diabetes", "sbp"]]}).parsed()
    assert policy.views is not None
    assert policy.views.linked == (("diabetes", "sbp"),)


@pytest.mark.parametrize(
    ("codes", "said"),
    [
        ([], "views.codes: must be a table"),
        ({"sex": {"f": ["F"]}}, "views.codes.sex: is not a column with role codes; accepted: dx"),
        ({"dx": ["250"]}, "views.codes.dx: is not a table of groups"),
        ({"dx": {}}, "views.codes.dx: is not a table of groups"),
        ({"dx": {"d": "250"}}, "views.codes.dx.d: is not a list of codes"),
        ({"dx": {"d": []}}, "views.codes.dx.d: is not a list of codes"),
        ({"dx": {"d": ["250", 401]}}, "views.codes.dx.d: is not a list of codes"),
        ({"dx": {"d": [" "]}}, "views.codes.dx.d: is not a list of codes"),
        ({"dx": {" ": ["250"]}}, 'views.codes.dx." ": is no name'),
        ({"dx": {"SBP": ["250"]}}, "views.codes.dx.SBP: is the name of another column already"),
        ({"dx": {"d": ["250"], "D": ["401"]}}, "views.codes.dx.D: is the name of another column already"),
    ],
)
def test_what_is_no_group_is_named_by_its_key(codes: object, said: str) -> None:
    assert said in problem(views={"codes": codes})


def test_a_list_needs_groups_in_views_and_has_no_items_there() -> None:
    assert "columns.dx.role: views publish groups of codes, and views.codes has none" in problem(views={"codes": None})
    protected = {"dx": {"protect": {"kind": "k^m"}, "method": "cba", "utility": {"kind": "none"}}}
    for key in ("protect", "method", "utility"):
        assert f"columns.dx.{key}: is about codes that are published as items" in problem(columns=protected)
    assert "views.codes: does not apply to mode none" in problem(views={"mode": "none"})
    assert POLICY.but(views=None).parsed().column("diabetes").role == "withheld"
