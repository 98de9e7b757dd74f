"""The outcome of an audit as one JSON object, from which the table, the stored findings and the page are made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from querygate.custody.audit.audit import Audit, LogStatement
from querygate.custody.audit.finding_text import case_to_dict, to_dict
from querygate.custody.audit.true_totals import Exact
from querygate.methods.inference.cases import GRAVITY, make_cases
from querygate.methods.inference.coalitions import make_views


@dataclass(frozen=True)
class AuditOutcome:
    """One log (of one version of a dataset) with what was found in it."""

    found: Audit
    entries: Sequence[LogStatement]
    k: int
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    version: int = 0  # 0: the log is another system's
    exact: Exact = field(default_factory=dict)  # true totals; empty unless values are to be shown
    domains: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # public ones


def make_body(audited: Sequence[AuditOutcome], title: str, *, reveal: bool) -> dict[str, Any]:
    """Everything there is to tell. Findings have the shape of the contract; each names its case."""
    findings: list[dict[str, Any]] = []
    cases: list[dict[str, Any]] = []
    for one in audited:
        records = _findings(one, reveal=reveal)
        found = [finding for finding, _ in one.found.findings]
        made = make_cases(found, one.entries, one.found.totals, one.found.weights, one.k)
        for case in made:
            for i in case.findings:
                records[i]["case"] = case.id
        cases += [case_to_dict(case, records, version=one.version) for case in made]
        findings += [records[i] for case in made for i in case.findings]
    users = list(dict.fromkeys(entry.user for one in audited for entry in one.entries))
    counted = Counter(record["severity"] for record in findings)
    return {
        "title": title,
        "k": max((one.k for one in audited), default=None),
        "queries": sum(one.found.entries for one in audited),
        "users": users,
        "views": {name: list(held) for one in audited for name, held in make_views(users, one.groups).items()},
        "revealed": reveal,
        "severities": {severity: counted[severity] for severity in sorted(GRAVITY, key=lambda name: -GRAVITY[name])},
        "cases": sorted(cases, key=lambda case: -GRAVITY[case["severity"]]),
        "findings": sorted(findings, key=lambda record: -GRAVITY[record["severity"]]),
        "not_audited": [{"query": query, "reason": why} for one in audited for query, why in one.found.unread],
        "left_out": [
            {"view": view, "measure": left.measure, "reason": left.reason}
            for one in audited
            for view, left in one.found.left
        ],
    }


def _findings(one: AuditOutcome, *, reveal: bool) -> list[dict[str, Any]]:
    records = []
    for number, (finding, where) in enumerate(one.found.findings):
        told = to_dict(
            finding,
            where,
            reveal=reveal,
            version=one.version,
            weights=one.found.weights,
            exact=one.exact.get(number),
        )
        records.append(told)
    return records
