"""Which views a custodian is shown beside the policy's own."""

from __future__ import annotations

from querygate.custody.policy import Policy
from querygate.custody.workload.view_candidates import SMALL, other_views
from tests.policies import AGE, SBP, PolicyText, make_policy, quasi

CATEGORIES = {name: quasi("category", values=["a", "b"]) for name in ("sex", "race", "school")}
POLICY = make_policy("t", {"age": AGE, **CATEGORIES, "sbp": SBP | {"bins": 10, "guard": 10}}, views={"mode": "auto"})

Told = tuple[tuple[str, ...], tuple[tuple[str, ...], ...], tuple[tuple[str, ...], ...]]


def told(policy: Policy, records: int = SMALL + 1) -> list[Told]:
    """Frame, spanning and extra of each."""
    return [(tuple(name for name, _ in one.frame), one.spanning, one.extra) for one in other_views(policy, records)]


def test_views_by_each_other_category_and_in_the_frame_of_each() -> None:
    age = ("age",)
    assert told(POLICY.parsed()) == [
        (age, (("age", "race", "sex"), ("age", "race", "school")), (("sex", "school"),)),
        (age, (("age", "school", "sex"), ("age", "school", "race")), (("sex", "race"),)),
        (age, (("age", "sex", "race", "school"), ("age", "sex", "school")), ()),
        (("sex",), (("sex", "age", "race"), ("sex", "school")), (("race", "school"),)),
        (("race",), (("race", "age", "sex"), ("race", "school")), (("sex", "school"),)),
        (("school",), (("school", "age", "sex"), ("school", "race")), (("sex", "race"),)),
    ]


def test_only_a_small_table_may_be_one_frame_cell() -> None:
    policy = POLICY.parsed()
    *others, last = other_views(policy, SMALL)
    assert tuple(others) == other_views(policy, SMALL + 1)
    assert policy.views is not None
    assert (last.frame, last.spanning, last.extra) == ((), policy.views.spanning, policy.views.extra)


def test_the_frame_of_the_schema_is_tried_where_the_policy_has_another() -> None:
    rules = {"frame": ["sex"], "spanning": [["sex", "age", "race"], ["sex", "school"]], "mode": None}
    found = other_views(POLICY.but(views=rules).parsed(), SMALL + 1)
    (usual,) = [one for one in found if [name for name, _ in one.frame] == ["age"]]
    assert usual == POLICY.but(views={"extra": []}).parsed().views


def test_a_category_of_many_or_unknown_values_is_no_frame() -> None:
    many = quasi("category", values=[str(number) for number in range(13)])
    policy = POLICY.but(columns={"race": many, "school": {"values": None}}).parsed()
    assert {frame for frame, _, _ in told(policy)} == {("age",), ("sex",)}


def test_few_quasi_identifiers_leave_one_view_and_no_category_none_beside_it() -> None:
    def few(text: PolicyText, **columns: None) -> list[Told]:
        return told(text.but(columns=columns).parsed())

    assert few(POLICY, race=None, school=None) == [(("sex",), (("sex", "age"),), ())]
    assert few(POLICY, sex=None, race=None, school=None) == []


def test_without_views_there_are_no_others() -> None:
    assert other_views(POLICY.but(views=None).parsed(), 1) == ()
