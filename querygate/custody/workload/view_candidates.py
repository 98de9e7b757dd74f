"""Other views of a dataset that a custodian may want to compare with the policy's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from querygate.custody.policy import Policy, ViewRules
from querygate.custody.policy.view_rules import (
    FEW_VALUES,
    ONE_VIEW,
    crossing_views,
    frame_cuts,
    spanning_views,
    usual_frame,
)

SMALL = 5_000
"""Up to so many records all of them may be one frame cell: more people in a cell take longer to certify."""


def other_views(policy: Policy, records: int) -> tuple[ViewRules, ...]:
    """Views by other categories and in other frames; none twice, and none of the policy's own."""
    if policy.views is None:
        return ()
    own = policy.views
    found = [own, *_other_views(policy, own), *_other_frames(policy, own)]
    if records <= SMALL:
        found.append(replace(own, frame=()))
    ways: dict[object, ViewRules] = {}
    for rules in found:
        views = (frozenset(map(frozenset, part)) for part in (rules.spanning, rules.extra))
        ways.setdefault((*views, rules.frame), rules)
    return tuple(ways.values())[1:]


def _other_views(policy: Policy, rules: ViewRules) -> Iterator[ViewRules]:
    """Two views that share each category in turn; and the first view with all columns."""
    quasi = policy.dividing
    frame = rules.frame[0][0] if rules.frame else ""
    for shared in (column for column in quasi if not column.is_numeric):
        others = [column for column in quasi if column != shared]
        yield _respanned(policy, rules, spanning_views([shared, *others], frame))
    views = spanning_views(quasi, frame)
    if len(views) == 2:
        yield _respanned(policy, rules, (tuple(dict.fromkeys((*views[0], *views[1]))), views[1]))


def _respanned(policy: Policy, rules: ViewRules, spanning: tuple[tuple[str, ...], ...]) -> ViewRules:
    """Other spanning views; further ones are chosen anew where the schema chose them."""
    quasi = policy.dividing
    by_schema = rules.extra == crossing_views(quasi, rules.spanning)
    return replace(rules, spanning=spanning, extra=crossing_views(quasi, spanning) if by_schema else rules.extra)


def _other_frames(policy: Policy, rules: ViewRules) -> Iterator[ViewRules]:
    """The frame that the schema gives; and each category of few values, so that its rare values are told in total.
    Views share nothing else.
    """
    quasi = policy.dividing
    usual, prefer = usual_frame(quasi), dict(rules.prefer)
    if usual != tuple(name for name, _ in rules.frame):
        cuts = tuple((name, frame_cuts(policy.column(name), prefer.get(name, ()))) for name in usual)
        yield replace(_respanned(policy, rules, spanning_views(quasi, usual[0] if usual else "")), frame=cuts)
    for column in quasi:
        few = 2 if column.type == "boolean" else len(column.groups or column.values)
        if not column.is_numeric and column.hierarchy is None and 0 < few <= FEW_VALUES:
            rest = [other.name for other in quasi if other != column]
            half = (len(rest) + 1) // 2 if len(quasi) > ONE_VIEW else len(rest)
            views = tuple((column.name, *part) for part in (rest[:half], rest[half:]) if part)
            yield replace(_respanned(policy, rules, views or ((column.name,),)), frame=((column.name, ()),))
