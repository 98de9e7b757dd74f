"""A policy that was kept is the policy that was kept."""

from __future__ import annotations

import json

import pytest

from querygate.custody.policy.policy_json import read_policy, write_policy
from tests.policies import IDENTIFIER, ILLNESS, ROUGH_AGE, ZIP, diverse, make_policy, sensitive

FULL = make_policy(
    "patients",
    {
        "mrn": IDENTIFIER,
        "age": ROUGH_AGE | {"cuts": [20, 40]},
        "zip": ZIP,
        "sbp": sensitive("number", (40, 300), bins=[40, 100, 140, 300]),
        "disease": ILLNESS | diverse("recursive", c=3, l=2),
    },
    title="A study",
    anonymise={"statistics": ["mean(age)", "count"], "max_width": {"mean(age)": 4}},
    laplace={"epsilon_per_query": 0.1, "epsilon_total": 1, "epsilon_per_user": 0.5},
    answers={"modes": ["interval", "laplace"]},
)


def test_it_is_the_same() -> None:
    policy = FULL.parsed()
    again = read_policy(write_policy(policy))
    assert again == policy
    assert again.hash == policy.hash


@pytest.mark.parametrize("text", ["", "{}", "[]", json.dumps({"format": 99, "policy": {}})])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_policy(text)
