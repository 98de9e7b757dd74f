"""A policy that was kept is the policy that was kept."""

from __future__ import annotations

import json

import pytest

from querygate.custody.policy import parse_policy
from querygate.custody.policy.policy_json import read_policy, write_policy

FULL = """
dataset = "patients"
title = "A study"
k = 5
[anonymise]
statistics = ["mean(age)", "count"]
max_width = { "mean(age)" = 4 }
[laplace]
epsilon_per_query = 0.1
epsilon_total = 1
epsilon_per_user = 0.5
[answers]
modes = ["interval", "laplace"]
[columns.mrn]
role = "identifier"
[columns.age]
role = "quasi-identifier"
type = "integer"
domain = [0, 120]
cuts = [20, 40]
[columns.zip]
role = "quasi-identifier"
type = "category"
hierarchy = "digits"
[columns.sbp]
role = "sensitive"
type = "number"
domain = [40, 300]
bins = [40, 100, 140, 300]
[columns.disease]
role = "sensitive"
type = "category"
diversity = { kind = "recursive", c = 3, l = 2 }
"""


def test_it_is_the_same() -> None:
    policy = parse_policy(FULL)
    again = read_policy(write_policy(policy))
    assert again == policy
    assert again.hash == policy.hash


@pytest.mark.parametrize("text", ["", "{}", "[]", json.dumps({"format": 99, "policy": {}})])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_policy(text)
