"""What the answers given tell about an isolated group, and how grave that is.

The combination that isolates the group is applied to the answers, in fractions. Exact answers fix its total:
`11*115 - 10*110 = 165`. Ranges leave a range. Severity (docs/how-to/audit-a-log.md):

    attempt    the query sets isolate fewer than k records; the answers are not known, or leave all of it open
    exposed    the answers narrow what the group has
    disclosed  they fix a value of one person
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from querygate.core.audit.audit_body import Severity
from querygate.core.types import Bools, Ints
from querygate.methods.audit.power_sums import two_values
from querygate.methods.audit.small_groups import IsolatedGroup
from querygate.methods.audit.totals import FAMILY, PRESENCE, VARIANCE, Finding, Inference, Kind, QueryTotal

FIXED = Fraction(1, 10**9)
"""Share of the domain below which a range is called a value: means come as doubles, with their last digit in doubt."""


class Domain(NamedTuple):
    """The least and the greatest of one value of a measure, and whether it is a whole number.

    Only a public domain is combined with the answers: that of the data would itself be news.
    """

    low: Fraction
    high: Fraction
    whole: bool = False
    public: bool = False


Domains = Mapping[str, Domain]


def infer(isolated: IsolatedGroup, domains: Domains) -> Inference:
    """The range of the group's total that the answers leave; None where an answer is missing."""
    low, high = plain = _combined(isolated.parts)
    domain = domains.get(isolated.measure)
    if low is not None and high is not None and domain is not None and domain.public and not isolated.difference:
        least, most = isolated.records * domain.low, isolated.records * domain.high
        if isolated.measure == PRESENCE:  # their number is what the answers tell; that it is known helps nobody here
            least, most = Fraction(0), max(high, Fraction(0))
        if least <= high and low <= most:  # answers that contradict the domain are told as they are
            low, high = max(low, least), min(high, most)
    if low is not None and high is not None and domain is not None and domain.whole and math.ceil(low) <= high:
        low, high = Fraction(math.ceil(low)), Fraction(math.floor(high))
    return Inference(isolated.measure, low, high, arithmetic(isolated.parts), (low, high) != plain)


def _combined(parts: Iterable[tuple[QueryTotal, Fraction]]) -> tuple[Fraction | None, Fraction | None]:
    low = high = Fraction(0)
    for total, c in parts:
        if total.low is None or total.high is None:
            return None, None
        low += c * (total.low if c > 0 else total.high)
        high += c * (total.high if c > 0 else total.low)
    return low, high


def arithmetic(parts: Iterable[tuple[QueryTotal, Fraction]]) -> str:
    """The combination as a person would write it, what is added before what is taken away."""
    text = ""
    for total, c in sorted(parts, key=lambda part: part[1] < 0):
        sign = (" - " if c < 0 else " + ") if text else ("-" if c < 0 else "")
        factor = "" if abs(c) == 1 else f"{abs(c)}*"
        said = total.said or f"total({total.query})"
        text += f"{sign}{factor}{f'({said})' if factor and not said.isalnum() else said}"
    return text


def kind_of(parts: int, users: int) -> Kind:
    """By what it takes: one set, two, three or four as trackers do, or more."""
    if users > 1:
        return "collusion"
    return "narrow" if parts == 1 else "differencing" if parts == 2 else "tracker" if parts <= 4 else "linear"


def severity_of(inferred: Sequence[Inference], records: int, domains: Domains) -> Severity:
    """The gravest of what follows for any measure."""
    found: Severity = "attempt"
    for one in inferred:
        if one.low is None or one.high is None:
            continue
        domain = domains.get(one.measure, Domain(one.low, one.low))
        width, room = one.high - one.low, domain.high - domain.low
        fixed = width <= FIXED * room
        if fixed and records == 1 and one.measure != PRESENCE:
            return "disclosed"
        if fixed or width < records * room:
            found = "exposed"
    return found


def make_findings(isolated: Sequence[IsolatedGroup], domains: Domains, view: str) -> list[Finding]:
    """One finding for each isolated group, whatever the number of measures it is isolated in.

    Where values are missing, measures of the same places are about different numbers of records: groups of their own.
    """
    groups: dict[tuple[bytes, int], list[IsolatedGroup]] = {}
    for one in isolated:
        groups.setdefault((one.places.tobytes(), one.records), []).append(one)
    return [_finding(group, domains, view) for group in groups.values()]


def _finding(group: Sequence[IsolatedGroup], domains: Domains, view: str) -> Finding:
    # secrets before mere presence, and what was asked before what it may be
    group = sorted(group, key=lambda one: (one.measure == PRESENCE, one.measure.startswith(FAMILY), one.measure))
    inferred = tuple(infer(one, domains) for one in group)
    severity = severity_of(inferred, group[0].records, domains)
    pair = _pair(inferred) if group[0].records == 2 and not group[0].difference else ()
    totals = tuple(total for one in group for total, _ in one.parts)
    users = _users([total for total, _ in group[0].parts])
    return Finding(
        kind_of(len(group[0].parts), len(users)),
        "disclosed" if pair else severity,
        tuple(dict.fromkeys(each.query for total in totals for each in (total, *total.beside))),
        users,
        group[0].records,
        group[0].places,
        tuple((one.measure, total.query, c) for one in group for total, c in one.parts),
        (*inferred, *pair),
        view,
        totals,
    )


def _pair(inferred: Sequence[Inference]) -> tuple[Inference, ...]:
    """The two values of a group of two whose sum and sum of squares are fixed."""
    by_measure = {one.measure: one for one in inferred}
    for name, one in by_measure.items():
        found = two_values(one, by_measure[f"{name}^2"]) if f"{name}^2" in by_measure else None
        if found is not None:
            return found
    return ()


def _users(totals: Iterable[QueryTotal]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.user for total in totals for each in (total, *total.beside)))


def extreme_finding(one: QueryTotal, other: QueryTotal, places: Bools, held: Ints, view: str) -> Finding:
    """Two extremes over sets that differ by few: where their answers differ, the difference holds the extreme.

    `held` are the records of each place that have a value: who has none is in no set.
    """
    records = int(held[places].sum())
    users = _users((one, other))
    queries = tuple(dict.fromkeys((one.query, other.query)))
    severity: Severity = "attempt"
    inferred: tuple[Inference, ...] = ()
    if one.extreme == VARIANCE:
        if one.low is not None:
            inferred = (Inference(f"{one.measure} about the mean", one.low, one.high, one.said),)
            severity = "exposed"
    elif all(t.low is not None and t.low == t.high for t in (one, other)) and (one is other or one.low != other.low):
        severity = "exposed"
        theirs = _theirs(one, other)
        if theirs is not None:
            inferred = (Inference(one.measure, theirs.low, theirs.high, f"{one.extreme}({theirs.query})"),)
            severity = "disclosed" if records == 1 else "exposed"
    kind: Kind = "collusion" if len(users) > 1 else "narrow" if one is other else "differencing"
    return Finding(kind, severity, queries, users, records, places, (), inferred, view, (one, other))


def _theirs(one: QueryTotal, other: QueryTotal) -> QueryTotal | None:
    """The answer that is the value of somebody whom only one of two sets has.

    The larger of two maxima is, whichever set is larger. A median that moves need not be anybody's.
    """
    if one is other:
        return one
    lower, higher = (one, other) if (one.low or 0) < (other.low or 0) else (other, one)
    return {"max": higher, "min": lower}.get(one.extreme)
