"""Findings and cases as others read them: the JSON of the contract, and sentences. Values only where they are revealed.

Nothing here opens data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from querygate.core.types import Ints
from querygate.methods.inference import PRESENCE, Finding, Inference
from querygate.methods.inference.cases import Case, finding_id

TELLING = frozenset({"group", "dominance"})
"""Notices whose note says what a group has."""

MOST_NAMED = 12
"""Queries or users that a sentence names."""


def to_dict(
    finding: Finding,
    where: str,
    *,
    reveal: bool,
    version: int = 0,
    weights: Mapping[str, Ints] | None = None,
    exact: Mapping[str, Fraction] | None = None,
) -> dict[str, Any]:
    """A finding as the contract has it. `exact` are true totals by measure: what exact answers would have told."""
    exact = exact if reveal and exact else {}
    record: dict[str, Any] = {
        "id": finding_id(finding),
        "kind": finding.kind,
        "severity": finding.severity,
        "queries": list(finding.queries),
        "users": list(finding.users),
        "view": finding.view,
        "isolates": {"records": finding.records, "where": where},
        "combination": _combination(finding, weights or {}, reveal=reveal),
        "inferred": [_inferred(one, exact, reveal=reveal) for one in finding.inferred],
        "explanation": explain(finding, where, reveal=reveal, exact=exact),
    }
    return record if not version else {**record, "version": version}


def _combination(finding: Finding, weights: Mapping[str, Ints], *, reveal: bool) -> list[dict[str, Any]]:
    """Line by line: which answer, times which number, over how many records."""
    totals = finding.totals if len(finding.totals) == len(finding.coefficients) else [None] * len(finding.coefficients)
    lines = []
    for (measure, query, times), total in zip(finding.coefficients, totals, strict=True):
        line: dict[str, Any] = {"measure": measure, "query": query, "times": str(times)}
        if total is not None and measure in weights:
            line["records"] = int(weights[measure][total.members].sum())
        line["answer"] = (total.said or None) if reveal and total is not None else None
        lines.append(line)
    return lines


def _inferred(one: Inference, exact: Mapping[str, Fraction], *, reveal: bool) -> dict[str, Any]:
    if not reveal:
        return {"column": one.measure, "from": None, "low": None, "high": None, "hidden": True}
    told = {"column": one.measure, "from": one.arithmetic, "low": number(one.low), "high": number(one.high)}
    return {**told, "exact": number(exact[one.measure])} if one.measure in exact else told


def case_to_dict(case: Case, findings: list[dict[str, Any]], *, version: int = 0) -> dict[str, Any]:
    """A case with the ids of its findings; `findings` are the records of the list that the case was made from."""
    record: dict[str, Any] = {
        "id": case.id,
        "severity": case.severity,
        "kinds": list(case.kinds),
        "users": list(case.users),
        "view": case.view,
        "queries": list(case.queries),
        "first": case.first or None,
        "last": case.last or None,
        "records": case.records,
        "signs": list(case.signs),
        "findings": [findings[i]["id"] for i in case.findings],
    }
    return record if not version else {**record, "version": version}


def explain(finding: Finding, where: str, *, reveal: bool, exact: Mapping[str, Fraction] | None = None) -> str:
    """What was done, in one or two sentences."""
    asked = f"{named(finding.queries)} of {named(finding.users)}"
    if finding.severity == "notice":
        told = reveal or finding.kind not in TELLING
        return f"{asked}: {(finding.note or where) if told else 'what the answers tell of a whole group is hidden.'}"
    text = f"{asked} isolate {people(finding.records)}: {where}."
    for one in finding.inferred if reveal else ():
        what = what_of(one.measure, finding.records, extreme=any(total.extreme for total in finding.totals))
        if one.low is not None and one.high is not None:
            text += f" {one.arithmetic} = {between(number(one.low), number(one.high))}: {what}."
        if exact and one.measure in exact and not one.low == one.high == exact[one.measure]:
            text += f" Exact answers would have told {number(exact[one.measure])}: {what}."
    return text


def what_of(measure: str, records: int, *, extreme: bool) -> str:
    """What an inferred number is. An extreme is the value of one of the records, and no sum.

    >>> what_of("sbp", 1, extreme=False), what_of("sbp", 2, extreme=False), what_of("sbp", 2, extreme=True)
    ('sbp', 'the sum of sbp', 'sbp of one of them')
    """
    if measure == PRESENCE:
        return "their number"
    return measure if records == 1 else f"{measure} of one of them" if extreme else f"the sum of {measure}"


def named(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """
    >>> named(["q1", "q2"]), named([f"q{i}" for i in range(9)], 4)
    ('q1, q2', 'q0, q1, q2, q3 and 5 more')
    """
    more = len(names) - most
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:most])} and {more:,} more"


def people(records: int) -> str:
    return "1 record" if records == 1 else f"{records:,} records"


def number(value: Fraction | None) -> int | float | None:
    if value is None:
        return None
    return int(value) if value.denominator == 1 else float(value)


def between(low: Any, high: Any) -> str:
    """
    >>> between(165, 165), between(110, 220), between(None, None)
    ('165', '110 .. 220', 'not told')
    """
    if low is None or high is None:
        return "not told"
    return f"{low}" if low == high else f"{low} .. {high}"
