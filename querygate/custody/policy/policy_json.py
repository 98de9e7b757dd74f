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
import types
import typing
from typing import Any

from querygate.custody.policy.model import Policy

FORMAT = 1


def write_policy(policy: Policy) -> str:
    return json.dumps({"format": FORMAT, "policy": dataclasses.asdict(policy)}, ensure_ascii=False, allow_nan=False)


def read_policy(text: str) -> Policy:
    """The policy; ValueError where the text is none, or one of another format."""
    body = json.loads(text)
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        raise ValueError("not a policy written by this version of QueryGate")
    found = _read(Policy, body["policy"])
    assert isinstance(found, Policy)  # noqa: S101 - for the type checker
    return found


def _read(kind: Any, value: Any) -> Any:
    """The value as its type says: classes from tables, tuples from lists."""
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = typing.get_type_hints(kind)
        return kind(**{name: _read(hints[name], part) for name, part in value.items()})
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return None if value is None else _read_one_of(inner, value)
    if origin is tuple and isinstance(value, list):
        kinds = [inner[0]] * len(value) if inner[1:] == (...,) else list(inner)
        return tuple(_read(one, part) for one, part in zip(kinds, value, strict=True))
    return value


def _read_one_of(kinds: tuple[Any, ...], value: Any) -> Any:
    """A list is the tuple among them, a table the class, and anything else stands for itself."""
    for kind in kinds:
        is_tuple = typing.get_origin(kind) is tuple
        if isinstance(value, list) == is_tuple and isinstance(value, dict) == dataclasses.is_dataclass(kind):
            return _read(kind, value)
    return value
