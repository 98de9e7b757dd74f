"""The report on an audit, from which the table, the stored findings and the page are made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from querygate.core.audit.audit_body import (
    AuditCase,
    AuditFinding,
    AuditReport,
    OmittedTest,
    UnauditedQuery,
    UnprovedFinding,
)
from querygate.custody.audit.audit import Audit, LogStatement, Unproved
from querygate.custody.audit.finding_text import describe_case, describe_finding
from querygate.custody.audit.masked_text import masked
from querygate.custody.audit.true_totals import Exact
from querygate.methods.audit.cases import GRAVITY, make_cases
from querygate.methods.audit.coalitions import make_views


@dataclass(frozen=True)
class AuditOutcome:
    """One log (for one version of a dataset) with its findings."""

    found: Audit
    entries: Sequence[LogStatement]
    k: int
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    version: int = 0  # 0: the log is another system's
    reveal: bool = False  # whether it was made from the secret values, to be shown with them; else from none of them
    exact: Exact = field(default_factory=dict)  # true totals
    domains: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # public ones
    table: str = ""  # which of several tables of the log; empty: there is one


def make_body(audited: Sequence[AuditOutcome], title: str) -> AuditReport:
    """The whole report. Findings have the shape of the contract; each names its case."""
    reveal = any(one.reveal for one in audited)
    findings: list[AuditFinding] = []
    cases: list[AuditCase] = []
    for one in audited:
        records = _findings(one)
        found = [finding for finding, _ in one.found.findings]
        made = make_cases(found, one.entries, one.found.totals, one.found.weights, one.k)
        table = one.table or None
        cases += [replace(describe_case(case, records, version=one.version), table=table) for case in made]
        findings += [replace(records[i], case=case.id, table=table) for case in made for i in case.findings]
    users = tuple(dict.fromkeys(entry.user for one in audited for entry in one.entries))
    counted = Counter(finding.severity for finding in findings)
    return AuditReport(
        title=title,
        k=max((one.k for one in audited), default=None),
        queries=sum(one.found.entries for one in audited),
        queries_audited=sum(one.found.entries - len(one.found.unread) for one in audited),
        users=users,
        views={name: tuple(held) for one in audited for name, held in make_views(users, one.groups).items()},
        revealed=reveal,
        severities={severity: counted[severity] for severity in sorted(GRAVITY, key=lambda name: -GRAVITY[name])},
        cases=tuple(sorted(cases, key=lambda case: -GRAVITY[case.severity])),
        findings=tuple(sorted(findings, key=lambda finding: -GRAVITY[finding.severity])),
        unproved=tuple(_unproved(unproved, one) for one in audited for unproved in one.found.unproved),
        not_audited=tuple(
            UnauditedQuery(query, why, one.found.incidents.get(query))
            for one in audited
            for query, why in one.found.unread
        ),
        left_out=tuple(
            OmittedTest(view, _measure(left.measure, one), left.reason, left.incident or None)
            for one in audited
            for view, left in one.found.left
        ),
    )


def _unproved(unproved: Unproved, one: AuditOutcome) -> UnprovedFinding:
    """It does not say whom it is about, since that is unproved."""
    found, version, table = unproved.finding, one.version or None, one.table or None
    return UnprovedFinding(unproved.incident, found.kind, found.queries, found.users, found.view, version, table)


def _measure(measure: str, one: AuditOutcome) -> str:
    return measure if one.reveal else masked(measure, {entry.id: entry.sql for entry in one.entries})


def _findings(one: AuditOutcome) -> list[AuditFinding]:
    statements = {entry.id: entry.sql for entry in one.entries}
    return [
        describe_finding(
            finding,
            where,
            reveal=one.reveal,
            version=one.version,
            weights=one.found.weights,
            exact=one.exact.get(number),
            statements=statements,
        )
        for number, (finding, where) in enumerate(one.found.findings)
    ]


def belongs(finding: AuditFinding, case: Mapping[str, Any]) -> bool:
    """Is a finding, made with secrets, about the queries of a logged case, which was made without?"""
    mine = set(finding.users) <= set(case["users"]) and finding.version == case.get("version", finding.version)
    return mine and not set(finding.queries).isdisjoint(case["queries"])
