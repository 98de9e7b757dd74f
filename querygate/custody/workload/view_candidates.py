"""Ways to publish a dataset that a custodian may want to compare, named as the policy would say them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from querygate.core.errors import ConfigError
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
        raise ConfigError(
            "QG801",
            "The policy has no table [views], so there are no views to compare.",
            'Add the lines `[views]` and `mode = "auto"`.',
        )
    ways: dict[frozenset[frozenset[str]], ViewRules] = {}
    for views in (policy.views.spanning, *_others(policy, policy.views)):
        ways.setdefault(frozenset(map(frozenset, views)), replace(policy.views, spanning=views))
    own, *others = (Candidate(_name(rules), replace(policy, views=rules)) for rules in ways.values())
    return own, Candidate(CLASSES, replace(policy, views=None)), *others


def _others(policy: Policy, rules: ViewRules) -> Iterator[tuple[tuple[str, ...], ...]]:
    """Two views that share each category in turn; and the first view with all columns."""
    quasi = policy.named("quasi-identifier")
    frame = rules.frame[0][0] if rules.frame else ""
    for shared in (column for column in quasi if not column.is_numeric):
        yield spanning_views([shared, *(column for column in quasi if column != shared)], frame)
    views = spanning_views(quasi, frame)
    if len(views) == 2:
        yield tuple(dict.fromkeys((*views[0], *views[1]))), views[1]


def _name(rules: ViewRules) -> str:
    return f"spanning = {json.dumps(rules.spanning, ensure_ascii=False)}"
