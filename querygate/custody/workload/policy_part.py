"""The part of a policy that some questions need: a trial publication makes only what is asked about.

In views each sensitive column has its own classes, made from those of counts (methods/views/make), so without the
others it is published as before. In classes over all quasi-identifiers all columns keep their guards in the same
classes, and nothing can be left out.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from querygate.custody.policy import Policy, ViewRules


def part_about(policy: Policy, columns: Collection[str], *, inserted: bool = True) -> Policy:
    """The policy without sensitive columns that are neither among these nor linked to one of them; and without
    inserted views, if so. These take most of the time, and no range is narrower without them (views.md).
    """
    if policy.views is None:
        return policy
    views = policy.views if inserted else replace(policy.views, extra=_needed(policy.views))
    linked = tuple(group for group in policy.views.linked if set(group) & set(columns))
    kept = {*columns, *(name for group in linked for name in group)}
    parts = (
        replace(column, role="withheld")
        if column.role == "sensitive" and column.name not in kept and column.of_codes is None
        else column
        for column in policy.columns
    )
    return replace(policy, columns=tuple(parts), views=replace(views, linked=linked))


def _needed(views: ViewRules) -> tuple[tuple[str, ...], ...]:
    """The inserted views that have a column of no spanning view."""
    told = {name for view in views.spanning for name in view}
    return tuple(view for view in views.extra if not set(view) <= told)


def changed_columns(before: Policy, after: Policy) -> frozenset[str] | None:
    """The sensitive columns whose answers a change of the policy can touch; None where it may touch all."""
    if before.views is None or after.views is None:
        return None
    names = [column.name for column in before.columns]
    if names != [column.name for column in after.columns]:
        return None
    pairs = list(zip(before.columns, after.columns, strict=True))
    changed = {old.name for old, new in pairs if old != new}
    if any(old.role != "sensitive" or new.role != "sensitive" for old, new in pairs if old != new):
        return None
    if replace(after, columns=before.columns, warnings=before.warnings) != before:
        return None
    for group in before.views.linked:
        changed |= set(group) if changed & set(group) else set()
    return frozenset(changed)
