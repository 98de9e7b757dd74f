"""Ways to publish a dataset that a custodian may want to compare, named as the policy would say them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from querygate.core.errors import ConfigError
from querygate.custody.policy import Policy, ViewRules
from querygate.custody.policy.view_rules import (
    FEW_VALUES,
    ONE_VIEW,
    crossing_views,
    frame_cuts,
    spanning_views,
    usual_frame,
)

CLASSES = 'mode = "none"'


@dataclass(frozen=True, slots=True)
class Candidate:
    """A policy, and the lines of its table [views]."""

    name: str
    policy: Policy


def view_candidates(policy: Policy, *, is_small: bool = False) -> tuple[Candidate, ...]:
    """The policy's own views first, classes in their place, views by other categories and views in other frames; none
    twice. Of a small table all records may be one frame cell.
    """
    if policy.views is None:
        raise ConfigError(
            "QG801",
            "The policy has no table [views], so there are no views to compare.",
            'Add the lines `[views]` and `mode = "auto"`.',
        )
    own = policy.views
    found = [own, *_other_views(policy, own), *_other_frames(policy, own)]
    if is_small:
        found.append(replace(own, frame=()))
    ways: dict[object, ViewRules] = {}
    for rules in found:
        views = (frozenset(map(frozenset, part)) for part in (rules.spanning, rules.extra))
        ways.setdefault((*views, rules.frame), rules)
    first, *others = (Candidate(_name(rules, own), replace(policy, views=rules)) for rules in ways.values())
    return first, Candidate(CLASSES, replace(policy, views=None)), *others


def _other_views(policy: Policy, rules: ViewRules) -> Iterator[ViewRules]:
    """Two views that share each category in turn; and the first view with all columns."""
    quasi = policy.named("quasi-identifier")
    frame = rules.frame[0][0] if rules.frame else ""
    for shared in (column for column in quasi if not column.is_numeric):
        others = [column for column in quasi if column != shared]
        yield _respanned(policy, rules, spanning_views([shared, *others], frame))
    views = spanning_views(quasi, frame)
    if len(views) == 2:
        yield _respanned(policy, rules, (tuple(dict.fromkeys((*views[0], *views[1]))), views[1]))


def _respanned(policy: Policy, rules: ViewRules, spanning: tuple[tuple[str, ...], ...]) -> ViewRules:
    """Other spanning views; further ones are chosen anew where the schema chose them."""
    quasi = policy.named("quasi-identifier")
    by_schema = rules.extra == crossing_views(quasi, rules.spanning)
    return replace(rules, spanning=spanning, extra=crossing_views(quasi, spanning) if by_schema else rules.extra)


def _other_frames(policy: Policy, rules: ViewRules) -> Iterator[ViewRules]:
    """The frame that the schema gives; and each category of few values, so that its rare values are told in total.
    Views share that and nothing else.
    """
    quasi = policy.named("quasi-identifier")
    usual, prefer = usual_frame(quasi), dict(rules.prefer)
    if usual != tuple(name for name, _ in rules.frame):
        cuts = tuple((name, frame_cuts(policy.column(name), prefer.get(name, ()))) for name in usual)
        yield replace(_respanned(policy, rules, spanning_views(quasi, usual[0] if usual else "")), frame=cuts)
    for column in quasi:
        few = 2 if column.type == "boolean" else len(column.groups or column.values)
        if not column.is_numeric and 0 < few <= FEW_VALUES:
            rest = [other.name for other in quasi if other != column]
            half = (len(rest) + 1) // 2 if len(quasi) > ONE_VIEW else len(rest)
            views = tuple((column.name, *part) for part in (rest[:half], rest[half:]) if part)
            yield replace(_respanned(policy, rules, views or ((column.name,),)), frame=((column.name, ()),))


def _name(rules: ViewRules, own: ViewRules) -> str:
    """What the table says; of the frame only where it is another."""
    spanning = f"spanning = {json.dumps(rules.spanning, ensure_ascii=False)}"
    if rules.extra:
        spanning += f", extra = {json.dumps(rules.extra, ensure_ascii=False)}"
    frame = json.dumps([name for name, _ in rules.frame], ensure_ascii=False)
    return spanning if rules.frame == own.frame else f"frame = {frame}, {spanning}"
