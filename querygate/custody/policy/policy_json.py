"""A resolved policy as JSON and back: a version keeps the policy it was published under beside its raw rows.

>>> from querygate.custody.policy import parse_policy
>>> policy = parse_policy('''
... dataset = "patients"
... k = 5
... [columns.age]
... role = "quasi-identifier"
... type = "integer"
... domain = [0, 120]
... ''')
>>> read_policy(write_policy(policy)) == policy
True
"""

from __future__ import annotations

import dataclasses
import json

from querygate.core.json_body import from_json
from querygate.custody.policy.policy_types import Policy

FORMAT = 1


def write_policy(policy: Policy) -> str:
    return json.dumps({"format": FORMAT, "policy": dataclasses.asdict(policy)}, ensure_ascii=False, allow_nan=False)


def read_policy(text: str) -> Policy:
    """The policy; ValueError if the text is not one, or has another format."""
    body = json.loads(text)
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        raise ValueError("not a policy written by this version of QueryGate")
    return from_json(Policy, body["policy"])
