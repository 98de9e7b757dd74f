"""Whose answers are put together: each user's, each project's, everybody's, and groups that a custodian names.

A finding is reported in the smallest view that has it: what one person could work out alone is that person's, what only
several could is theirs together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from querygate.core.count_text import counted
from querygate.core.types import Ints
from querygate.methods.audit.feasible_totals import Allowance, TotalBounds, narrowed, suspects
from querygate.methods.audit.finding_check import verify
from querygate.methods.audit.power_sums import with_squares
from querygate.methods.audit.severity import Domains, extreme_finding, make_findings
from querygate.methods.audit.small_groups import Unexamined, examine, noted
from querygate.methods.audit.totals import PRESENCE, SEVERITIES, Base, Finding, Pattern, QueryTotal

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
    totals: Sequence[QueryTotal],
    weights: Mapping[str, Ints],
    k: int,
    domains: Domains | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    bases: Mapping[str, Base] | None = None,
) -> tuple[list[Finding], list[tuple[str, Unexamined]]]:
    """All findings, each in the smallest view that has it and with its proof checked; and what was not looked into.

    One whose proof does not hold says so: it is `rejected`.
    """
    users = list(dict.fromkeys(total.user for total in totals))
    search = _Search(weights, k, domains or {}, bases or {})
    for view, members in make_views(users, groups or {}).items():
        failed: list[Unexamined] = []
        with noted(failed, ""):
            search.look(view, members, [total for total in totals if total.user in members])
        search.left += [(view, one) for one in failed]
    return [_checked(finding, weights, k, bases) for finding in search.found], search.left


def _checked(finding: Finding, weights: Mapping[str, Ints], k: int, bases: Mapping[str, Base] | None) -> Finding:
    try:
        verify(finding, weights, k, bases)
    except Exception as problem:
        return replace(finding, rejected=problem)
    return finding


@dataclass
class _Search:
    """One audit: what was found so far, and how much more may be bounded."""

    weights: Mapping[str, Ints]
    k: int
    domains: Domains
    bases: Mapping[str, Base]
    found: list[Finding] = field(default_factory=list)
    left: list[tuple[str, Unexamined]] = field(default_factory=list)
    allowance: Allowance = field(default_factory=Allowance)
    by_places: dict[bytes, list[Finding]] = field(default_factory=dict)

    def look(self, view: str, members: Sequence[str], totals: Sequence[QueryTotal]) -> None:
        """Everything in one view that no smaller one has."""
        isolated, extremes, not_done = examine(totals, self.weights, self.k, self.bases)
        self.left += [(view, one) for one in not_done]
        found = make_findings(isolated, self.domains, view)
        for one, other, places in extremes:
            found.append(extreme_finding(one, other, places, self.weights[one.measure], view))
        new = [finding for finding in found if not self._is_told(finding, members)]
        failed: list[Unexamined] = []
        with noted(failed, ""):
            new = self._bounded(view, members, totals, new, found)
        self.left += [(view, one) for one in failed]
        for finding in new:
            self.found.append(finding)
            self.by_places.setdefault(finding.places.tobytes(), []).append(finding)

    def _is_told(self, finding: Finding, members: Sequence[str]) -> bool:
        """Has a smaller view the same group of records, by users of this view, and as grave?"""
        return any(
            set(one.users) <= set(members)
            and {i.measure for i in one.inferred} >= {i.measure for i in finding.inferred}
            and SEVERITIES.index(one.severity) >= SEVERITIES.index(finding.severity)
            for one in self.by_places.get(finding.places.tobytes(), ())
        )

    def _bounded(
        self,
        view: str,
        members: Sequence[str],
        totals: Sequence[QueryTotal],
        new: Sequence[Finding],
        found: Sequence[Finding],
    ) -> list[Finding]:
        """Findings with what all answers leave open, the gravest first, and groups of which that is very little."""
        bounds = self._bounds(totals)
        order = sorted(new, key=lambda one: (-SEVERITIES.index(one.severity), one.records))
        better, skipped = narrowed(order, bounds, self._measures(), self.domains, self.allowance)
        by_old = {id(old): one for old, one in zip(order, better, strict=True)}
        if skipped:
            reason = f"what all answers together leave possible was not examined for {counted(skipped, 'finding')}"
            self.left.append((view, Unexamined("", reason)))
        told = {(one.measure, finding.places.tobytes()) for finding in found for one in finding.inferred}
        more: list[Finding] = []
        for system, one in bounds.items():
            base = self.bases.get(system, Base({system: (1,)}, 1))
            exposed, not_done = suspects(view, system, base, one, self.k, self.domains, told, self.allowance)
            more += [finding for finding in exposed if not self._is_told(finding, members)]
            self.left += [(view, one_left) for one_left in not_done]
        return [*(by_old[id(finding)] for finding in new), *more]

    def _bounds(self, totals: Sequence[QueryTotal]) -> dict[str, TotalBounds]:
        """The answered totals of each base."""
        by_system: dict[str, list[QueryTotal]] = {}
        for total in with_squares(totals):
            if not total.extreme and total.width is not None:
                by_system.setdefault(total.system, []).append(total)
        found = {}
        for system, mine in by_system.items():
            base = self.bases.get(system, Base({system: (1,)}, 1))
            domain = next((self.domains[name] for name in base.measures if name in self.domains), None)
            if any(total.width for total in mine) or (domain is not None and domain.public and not _is_presence(base)):
                found[system] = TotalBounds(mine, self.weights[system], base, domain)
        return found

    def _measures(self) -> dict[str, tuple[str, Pattern]]:
        listed = {name: (system, p) for system, base in self.bases.items() for name, p in base.measures.items()}
        return {**{name: (name, (1,)) for name in self.weights if name not in listed}, **listed}


def _is_presence(base: Base) -> bool:
    """The sizes of places are taken to be known: nothing is left open."""
    return PRESENCE in base.measures
