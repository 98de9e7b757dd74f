"""Ways to publish a dataset that a custodian may want to compare, named as the policy would say them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from querygate.custody.policy import Policy, ViewRules
from querygate.custody.policy.view_rules import spanning_views

CLASSES = 'mode = "none"'


@dataclass(frozen=True, slots=True)
class Candidate:
    """A policy, and the lines of its table [views]."""

    name: str
    policy: Policy


def view_candidates(policy: Policy) -> tuple[Candidate, ...]:
    """The policy's own views first, classes in their place, and views by other categories; none twice."""
    if policy.views is None:
        return (Candidate(CLASSES, policy),)
    found = [policy.views, *(replace(policy.views, spanning=views) for views in _others(policy))]
    named = {_name(rules): replace(policy, views=rules) for rules in found}
    return (
        *(Candidate(name, each) for name, each in list(named.items())[:1]),
        Candidate(CLASSES, replace(policy, views=None)),
        *(Candidate(name, each) for name, each in list(named.items())[1:]),
    )


def _others(policy: Policy) -> Iterator[tuple[tuple[str, ...], ...]]:
    """Two views that share each category in turn; and the first view with all columns."""
    quasi = policy.named("quasi-identifier")
    frame = policy.views.frame[0][0] if policy.views and policy.views.frame else ""
    for shared in (column for column in quasi if not column.is_numeric):
        yield spanning_views([shared, *(column for column in quasi if column != shared)], frame)
    views = spanning_views(quasi, frame)
    if len(views) == 2:
        yield tuple(dict.fromkeys((*views[0], *views[1]))), views[1]


def _name(rules: ViewRules) -> str:
    return f"spanning = {json.dumps(rules.spanning, ensure_ascii=False)}"
