"""Whose answers are put together: each user's, each project's, everybody's, and groups that a custodian names.

A finding is reported in the smallest view that has it: what one person could work out alone is that person's, what only
several could is theirs together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from querygate.audit.examine import Left, examine
from querygate.audit.inference import Domains, extreme_finding, make_findings
from querygate.audit.totals import Finding, Total
from querygate.core.types import Ints

POOLED = "everybody"


def make_views(users: Sequence[str], groups: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Each view with its users, small ones first: single users, then groups, then everybody.

    >>> make_views(["ann", "bob", "eve"], {"project x": ["ann", "bob"]})
    {'ann': ('ann',), 'bob': ('bob',), 'eve': ('eve',), 'project x': ('ann', 'bob'), 'everybody': ('ann', 'bob', 'eve')}
    """
    views: dict[str, tuple[str, ...]] = {user: (user,) for user in users}
    for name, members in sorted(groups.items(), key=lambda item: len(item[1])):
        views[name] = tuple(user for user in members if user in views)
    if len(users) > 1:
        views[POOLED] = tuple(users)
    return views


def find(
    totals: Sequence[Total],
    weights: Mapping[str, Ints],
    k: int,
    domains: Domains | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
) -> tuple[list[Finding], list[tuple[str, Left]]]:
    """All findings, each in the smallest view that has it, and what could not be looked into."""
    users = list(dict.fromkeys(total.user for total in totals))
    found: list[Finding] = []
    left: list[tuple[str, Left]] = []
    for view, members in make_views(users, groups or {}).items():
        mine = [total for total in totals if total.user in members]
        isolated, extremes, not_done = examine(mine, weights, k)
        new = make_findings(isolated, domains or {}, view)
        for one, other, places in extremes:
            records = int(weights[one.measure][places].sum())
            new.append(extreme_finding(one, other, places, records, view))
        found += [finding for finding in new if not _is_told(finding, found, members)]
        left += [(view, one) for one in not_done]
    return found, left


def _is_told(finding: Finding, earlier: Sequence[Finding], members: Sequence[str]) -> bool:
    """Has a smaller view the same group of records, by users of this view, and as grave?"""
    return any(
        one.places.tobytes() == finding.places.tobytes()
        and set(one.users) <= set(members)
        and {i.measure for i in one.inferred} >= {i.measure for i in finding.inferred}
        for one in earlier
    )
