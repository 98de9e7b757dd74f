"""What the answers leave open, all of them together: the least and the greatest total of a group that they allow.

Answers are inequalities over the totals of atoms, and a public domain bounds what each record can add. The ends are
found by linear programming in double arithmetic and widened a little, so that a result is never too narrow by rounding
alone; what only they tell is called *exposed*, never *disclosed*.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import scipy  # its optimize is slow to import, and comes where it is used
from scipy.sparse import csr_matrix, vstack

from querygate.core.count_text import counted
from querygate.core.types import Bools, Floats, Ints
from querygate.methods.audit.severity import Domain, Domains
from querygate.methods.audit.small_groups import Unexamined, distinct
from querygate.methods.audit.total_matrix import TotalCells, lay_out
from querygate.methods.audit.totals import PRESENCE, Base, Finding, Inference, Pattern, QueryTotal, signs_left

MOST_PROGRAMMES = 50
"""Groups of one audit that are bounded; two programmes each."""

MOST_WORK = 100_000_000
"""Entries of all programmes of one audit."""

NARROW = Fraction(1, 10)
"""Share of the domain below which what is left open exposes."""

SLACK = 1e-6

OUT_OF_TIME = 1
"""What the solver says then."""

ROUNDED = 2.0**-40
"""Share of the largest number of a programme by which its rounding may move an end."""

OPEN = 1e20
"""From here on the solver takes a limit for none."""

LONGEST_S = 2.0
"""Of one programme. Answers of very different sizes can keep the solver busy for ever; then nothing is bounded."""


@dataclass
class Allowance:
    """How many more groups of an audit may be bounded."""

    groups: int = MOST_PROGRAMMES
    work: int = MOST_WORK

    def take(self, entries: int) -> bool:
        """Is there room for one more? Then it is taken."""
        if self.groups < 1 or self.work < entries:
            return False
        self.groups, self.work = self.groups - 1, self.work - entries
        return True


class TotalBounds:
    """The answered totals of one base in one view as inequalities."""

    def __init__(self, totals: Sequence[QueryTotal], weights: Ints, base: Base, domain: Domain | None) -> None:
        self.totals = [total for total in distinct(totals) if total.width is not None]
        self.weights, self.domain = weights, domain
        self.stuck = False
        self.cells: TotalCells = lay_out(self.totals, weights, len(base.minterms))
        self.bounds = self._of_columns(len(base.minterms))
        matrix = csr_matrix(self.cells.over.astype(np.float64))
        low, high = (
            np.array([_limit(end or 0) for end in ends]) for ends in zip(*map(_ends, self.totals), strict=True)
        )
        self.matrix, self.limits = vstack([matrix, -matrix], "csr"), np.concatenate([high, -low])

    def _of_columns(self, minterms: int) -> Floats:
        """What a column can be: whoever is in another minterm of a place adds nothing to this one."""
        columns = self.cells.over.shape[1]
        if self.domain is None or not self.domain.public:
            return np.tile([-np.inf, np.inf], (columns, 1))
        low, high = _limit(self.domain.low), _limit(self.domain.high)
        if minterms > 1:
            low, high = min(low, 0.0), max(high, 0.0)
        used = self.cells.label[:, 0] >= 0
        records = np.bincount(
            self.cells.label[used].reshape(-1), np.repeat(self.weights[used], minterms), minlength=columns
        )
        return np.stack([records * low, records * high], axis=1)

    def target(self, pattern: Pattern, places: Bools) -> Ints | None:
        """The total of some places over columns; None where it is no sum of whole columns."""
        wanted = np.zeros(self.cells.label.shape, dtype=np.int64)
        wanted[places & (self.weights > 0)] = pattern
        used = self.cells.label[:, 0] >= 0
        label, times = self.cells.label[used].reshape(-1), wanted[used].reshape(-1)
        found = np.zeros(self.cells.over.shape[1], dtype=np.int64)
        found[label] = times
        return found if np.array_equal(found[label], times) else None

    def ends(self, target: Ints) -> tuple[Fraction, Fraction] | None:
        """The least and the greatest, widened; None where either is open or the answers contradict each other."""
        found: list[float] = []
        bounds = [(float(low), float(high)) for low, high in self.bounds]
        largest = np.abs(self.limits).max(initial=0)
        for sign in (1.0, -1.0):
            if self.stuck:
                return None
            solved = scipy.optimize.linprog(
                sign * target,
                A_ub=self.matrix,
                b_ub=self.limits,
                bounds=bounds,
                method="highs",
                options={"time_limit": LONGEST_S},
            )
            self.stuck = solved.status == OUT_OF_TIME
            if solved.status != 0 or solved.fun is None or abs(solved.fun) >= OPEN:
                return None
            found.append(sign * float(solved.fun))
        slack = SLACK * (1 + max(map(abs, found))) + ROUNDED * float(largest)
        return Fraction(found[0] - slack), Fraction(found[1] + slack)


def _limit(value: Fraction | int) -> float:
    """A number as the solver takes it: nothing is beyond what it takes for infinite."""
    return float(max(min(value, Fraction(OPEN)), Fraction(-OPEN)))


def _ends(total: QueryTotal) -> tuple[Fraction | None, Fraction | None]:
    return total.low, total.high


def narrowed(
    findings: Sequence[Finding],
    bounds: Mapping[str, TotalBounds],
    measures: Mapping[str, tuple[str, Pattern]],
    domains: Domains,
    allowance: Allowance,
) -> tuple[list[Finding], int]:
    """Findings with what all answers together leave open of their groups; and how many were left as they were.

    `measures` are the base and the pattern of each measure.
    """
    found, left = [], 0
    for finding in findings:
        told = []
        severity = finding.severity
        for one in finding.inferred:
            better, skipped = _narrower(one, finding, bounds, measures, domains, allowance)
            left += skipped
            told.append(better)
            if severity == "attempt" and is_narrow(better, finding.records, domains):
                severity = "exposed"
        found.append(replace(finding, inferred=tuple(told), severity=severity))
    return found, left


def _narrower(
    one: Inference,
    finding: Finding,
    bounds: Mapping[str, TotalBounds],
    measures: Mapping[str, tuple[str, Pattern]],
    domains: Domains,
    allowance: Allowance,
) -> tuple[Inference, int]:
    """One inference, at most as wide as it was; and 1 if there was no room or no time to look."""
    if one.measure == PRESENCE:
        return one, 0  # the cells have as many records as they have: nothing that answers tell
    system, pattern = measures.get(one.measure, ("", ()))
    if system not in bounds or not finding.coefficients or (one.low is not None and one.low == one.high):
        return one, 0
    if min(signs_left(finding, one.measure).values(), default=1) < 0:
        return one, 0  # what the answers tell is a difference, and what is possible of a sum says nothing of it
    target = bounds[system].target(pattern, finding.places)
    if target is None or any(total.parts and len(total.parts) > 1 for total in finding.totals):
        return one, 0
    if not allowance.take(bounds[system].cells.over.size):
        return one, 1
    ends = bounds[system].ends(target)
    if ends is None:
        return one, int(bounds[system].stuck)
    low, high = whole_ends(*ends, domains.get(one.measure))
    low = low if one.low is None else max(low, one.low)
    high = high if one.high is None else min(high, one.high)
    if low > high:
        return one, 0
    return replace(one, low=low, high=high, limited=one.limited or (low, high) != (one.low, one.high)), 0


def whole_ends(low: Fraction, high: Fraction, domain: Domain | None) -> tuple[Fraction, Fraction]:
    """Of whole numbers only whole ones are possible."""
    if domain is not None and domain.whole and math.ceil(low) <= high:
        return Fraction(math.ceil(low)), Fraction(math.floor(high))
    return low, high


def is_narrow(one: Inference, records: int, domains: Domains) -> bool:
    """Is less than a tenth of the domain left open?"""
    domain = domains.get(one.measure)
    if one.low is None or one.high is None or domain is None:
        return False
    return one.high - one.low < NARROW * records * (domain.high - domain.low)


def suspects(
    view: str,
    system: str,
    base: Base,
    bounds: TotalBounds,
    k: int,
    domains: Domains,
    told: set[tuple[str, bytes]],
    allowance: Allowance,
) -> tuple[list[Finding], list[Unexamined]]:
    """Atoms of fewer than k records of which all answers together leave less than a tenth of the domain open.

    Those in a set whose total is at an end of its domain are reported by a notice. The tightest sets come first.
    """
    found: list[Finding] = []
    left = 0
    domain = bounds.domain
    if domain is None or not domain.public or not bounds.totals:
        return [], []
    for name, pattern in list(base.measures.items())[: base.asked]:
        groups = bounds.cells.groups(pattern)
        inside = groups.group >= 0
        records = np.bincount(groups.group[inside], bounds.weights[inside], len(groups.labels)).astype(np.int64)
        slack = _slack(bounds, domain)
        order = np.array([min(slack[c] for c in labels) for labels in groups.labels])
        few = np.flatnonzero(groups.possible & (records > 0) & (records < k) & (order > 0) & np.isfinite(order))
        for group in few[np.argsort(order[few], kind="stable")].tolist():
            places = groups.group == group
            if (name, places.tobytes()) in told:
                continue
            if not allowance.take(bounds.cells.over.size):
                left += 1
                continue
            ends = bounds.ends(groups.target(group, bounds.cells.over.shape[1]))
            if ends is None:
                left += bounds.stuck
                continue
            one = Inference(name, *whole_ends(*ends, domains.get(name)), "all answers together")
            if is_narrow(one, int(records[group]), domains):
                found.append(_finding(view, one, int(records[group]), places, bounds.totals))
    reason = f"what all answers together leave possible was not examined for {counted(left, 'more group')}"
    return found, [Unexamined(system, reason)] if left else []


def _slack(bounds: TotalBounds, domain: Domain) -> Floats:
    """Of each column, by the tightest total it is in: how far that is from an end of its domain; infinite in none."""
    low, high = bounds.bounds[:, 0], bounds.bounds[:, 1]
    slack = np.full(len(low), np.inf)
    for row, total in zip(bounds.cells.over, bounds.totals, strict=True):
        if (row < 0).any() or total.low is None or total.high is None:
            continue
        used = row > 0
        room = min(_limit(total.high) - low[used].sum(), high[used].sum() - _limit(total.low))
        slack[used] = np.minimum(slack[used], room)
    return slack


def _finding(view: str, one: Inference, records: int, places: Bools, totals: Sequence[QueryTotal]) -> Finding:
    near = [total for total in totals if (total.members & places).any()]
    queries = tuple(dict.fromkeys(total.query for total in near))
    users = tuple(dict.fromkeys(total.user for total in near))
    return Finding("bounds", "exposed", queries, users, records, places, (), (one,), view, ())
