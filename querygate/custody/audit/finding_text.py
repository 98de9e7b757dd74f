"""Findings and cases for readers: the JSON of the contract, and sentences. Values appear only if they are revealed.

Nothing here opens data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from querygate.core.audit.audit_body import AuditCase, AuditFinding, CombinedAnswer, InferredValue, IsolatedGroup
from querygate.core.count_text import counted
from querygate.core.types import Ints
from querygate.custody.audit.masked_text import masked, where_asked
from querygate.methods.audit import PRESENCE, VARIANCE, Finding, Inference
from querygate.methods.audit.cases import Case, finding_id

TELLING = frozenset({"group", "dominance"})
"""Notices whose note says which value a group has."""

LARGEST_FLOAT = 10**300
"""Beyond it, fractions that do not terminate are written as whole numbers."""

MOST_NAMED = 12
"""The most queries or users that a sentence names."""


def describe_finding(
    finding: Finding,
    where: str,
    *,
    reveal: bool,
    version: int = 0,
    weights: Mapping[str, Ints] | None = None,
    exact: Mapping[str, Fraction] | None = None,
    statements: Mapping[str, str] | None = None,
) -> AuditFinding:
    """A finding as the contract has it. `exact` are true totals by measure: what exact answers would have revealed.

    Unless values are revealed, it uses the words of its own statements.
    """
    exact = exact if reveal and exact else {}
    asked = {query: (statements or {}).get(query, "") for query in finding.queries}
    told = AuditFinding(
        id=finding_id(finding),
        kind=finding.kind,
        severity=finding.severity,
        queries=tuple(finding.queries),
        users=tuple(finding.users),
        view=finding.view,
        isolates=IsolatedGroup(finding.records, where if reveal else where_asked(finding, asked)),
        combination=tuple(_combination(finding, weights or {}, reveal=reveal)),
        inferred=tuple(_inferred(one, exact, reveal=reveal) for one in finding.inferred),
        explanation="",
        version=version or None,
    )
    if not reveal:
        told = _masked(told, asked)
        if finding.kind == "averaging":  # it names what was measured, and how often
            finding = replace(finding, note=masked(finding.note, {**asked, "": str(len(asked))}))
    return replace(told, explanation=explain(finding, told.isolates.where, reveal=reveal, exact=exact))


def _masked(told: AuditFinding, asked: Mapping[str, str]) -> AuditFinding:
    """A measure may name a value that no statement has: each value of a secret that was grouped by."""
    return replace(
        told,
        combination=tuple(replace(one, measure=masked(one.measure, asked)) for one in told.combination),
        inferred=tuple(replace(one, column=masked(one.column, asked)) for one in told.inferred),
    )


def _combination(finding: Finding, weights: Mapping[str, Ints], *, reveal: bool) -> Iterator[CombinedAnswer]:
    totals = finding.totals if len(finding.totals) == len(finding.coefficients) else [None] * len(finding.coefficients)
    for (measure, query, times), total in zip(finding.coefficients, totals, strict=True):
        yield CombinedAnswer(
            measure=measure,
            query=query,
            times=str(times),
            records=int(weights[measure][total.members].sum()) if total is not None and measure in weights else None,
            answer=(total.said or None) if reveal and total is not None else None,
        )


def _inferred(one: Inference, exact: Mapping[str, Fraction], *, reveal: bool) -> InferredValue:
    if not reveal:
        return InferredValue(one.measure, hidden=True)
    low, high, told = number(one.low), number(one.high), number(exact.get(one.measure))
    return InferredValue(one.measure, one.arithmetic, low, high, told, limited=one.limited or None)


def describe_case(case: Case, findings: Sequence[AuditFinding], *, version: int = 0) -> AuditCase:
    """A case with the ids of its findings; `findings` is the list that the case was made from."""
    return AuditCase(
        id=case.id,
        severity=case.severity,
        kinds=tuple(case.kinds),
        users=tuple(case.users),
        view=case.view,
        queries=tuple(case.queries),
        first=case.first or None,
        last=case.last or None,
        records=case.records,
        signs=tuple(case.signs),
        findings=tuple(findings[i].id for i in case.findings),
        version=version or None,
    )


def explain(finding: Finding, where: str, *, reveal: bool, exact: Mapping[str, Fraction] | None = None) -> str:
    """What was done, in one or two sentences."""
    asked = f"{named(finding.queries)} of {named(finding.users)}"
    if finding.severity == "notice" and finding.totals:  # an attempt, if the answers were not of certified views
        return f"{asked}: exact answers would isolate {people(finding.records)}: {where}. {finding.note}"
    if finding.severity == "notice":
        told = reveal or finding.kind not in TELLING
        return (
            f"{asked}: {(finding.note or where) if told else 'what the answers reveal about a whole group is hidden.'}"
        )
    isolate = "isolates" if len(finding.queries) == 1 else "isolate"
    text = f"{asked} {isolate} {people(finding.records)}: {where}."
    for one in finding.inferred if reveal else ():
        what = what_of(one.measure, finding.records, "" if finding.coefficients else _extreme(finding))
        if one.low is not None and one.high is not None:
            leaves = ", within what is known otherwise, leaves" if one.limited else " ="
            text += f" {one.arithmetic}{leaves} {between(number(one.low), number(one.high))}: {what}."
        if exact and one.measure in exact and not one.low == one.high == exact[one.measure]:
            text += f" Exact answers would have revealed {number(exact[one.measure])}: {what}."
    return text


def _extreme(finding: Finding) -> str:
    return finding.totals[0].extreme if finding.totals else ""


def what_of(measure: str, records: int, extreme: str = "") -> str:
    """What an inferred number means. A minimum is the value of one of the records; a median need not be.

    >>> what_of("sbp", 1), what_of("sbp", 2), what_of("sbp", 2, "max"), what_of("sbp", 2, "median")
    ('sbp', 'the sum of sbp', 'sbp of one of them', 'the median of sbp')
    """
    if measure == PRESENCE:
        return "their number"
    if records == 1 or extreme == VARIANCE:
        return measure
    kinds = {"": f"the sum of {measure}", "min": f"{measure} of one of them", "max": f"{measure} of one of them"}
    return kinds.get(extreme, f"the {extreme} of {measure}")


def named(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """
    >>> named(["q1", "q2"]), named([f"q{i}" for i in range(9)], 4)
    ('q1, q2', 'q0, q1, q2, q3 and 5 more')
    """
    more = len(names) - most
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:most])} and {more:,} more"


def people(records: int) -> str:
    return counted(records, "record")


def number(value: Fraction | None) -> int | float | None:
    if value is None:
        return None
    return int(value) if value.denominator == 1 or abs(value) > LARGEST_FLOAT else float(value)


def between(low: float | None, high: float | None) -> str:
    """
    >>> between(165, 165), between(110, 220), between(None, None)
    ('165', '110 .. 220', 'unknown')
    """
    if low is None or high is None:
        return "unknown"
    return f"{low}" if low == high else f"{low} .. {high}"
