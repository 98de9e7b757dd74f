"""What the custodian's audits leave in the log: that they were made, and the findings without values.

A gate has no raw records and cannot audit. It reads what the last audit found here, and no module that could open data.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from querygate.control import Log
from querygate.control.alerts import Alerts
from querygate.control.ports import Connection
from querygate.core.audit.audit_body import (
    AuditCase,
    AuditFinding,
    AuditReport,
    OmittedTest,
    UnauditedQuery,
    UnprovedFinding,
)
from querygate.core.json_body import JsonValue, to_json
from querygate.site.open_gate import OpenSite

RUN, FOUND = "audit.run", "audit.findings"

MOST_KEPT = 500
"""Findings that are put on record, the gravest first; their number is given."""

MOST_ALERTS = 100


@dataclass(frozen=True, slots=True)
class NotedFindings:
    """What of an audit is put on record."""

    k: int | None = None
    queries: int = 0
    queries_audited: int = 0
    severities: Mapping[str, int] = field(default_factory=dict)
    cases: tuple[AuditCase, ...] = ()
    findings: tuple[AuditFinding, ...] = ()
    findings_in_all: int = 0
    unproved: tuple[UnprovedFinding, ...] = ()
    not_audited: tuple[UnauditedQuery, ...] = ()
    left_out: tuple[OmittedTest, ...] = ()


def note_run(opened: OpenSite, dataset: str, report: AuditReport, *, user: str, revealed: bool) -> None:
    """Put an audit on record, and its findings where they differ from those of the audit before. `report` is masked."""
    with opened.log.database.writing() as connection:
        note_run_in(connection, opened.log, dataset, noted_run(report, revealed=revealed), user=user)


def noted_run(report: AuditReport, *, revealed: bool = False) -> dict[str, JsonValue]:
    """What of an audit is put on record: the findings without values, and how many there are."""
    if report.revealed:
        raise ValueError("values are not recorded")
    kept = to_json(_noted(report))
    mark = hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()
    counts: dict[str, JsonValue] = {"findings": len(report.findings), "cases": len(report.cases), "revealed": revealed}
    return {"found": {**kept, "sha256": mark}, "run": {**counts, "sha256": mark}}


def note_run_in(connection: Connection, log: Log, dataset: str, noted: Mapping[str, Any], *, user: str) -> None:
    """The same within a transaction of the caller."""
    last = log.last(FOUND, dataset)
    if last is None or last["body"]["sha256"] != noted["found"]["sha256"]:
        log.append(connection, FOUND, None, user, dataset, noted["found"])
    log.append(connection, RUN, None, user, dataset, noted["run"])


def find_last(opened: OpenSite, dataset: str) -> dict[str, JsonValue]:
    """What the last audit of a dataset found, with the statements concerned, and what the watch told of last.

    `audited` is None where there was no audit since the log was rotated.
    """
    alerts: JsonValue = [*Alerts(opened.log.database, opened.log).latest(dataset, MOST_ALERTS)]
    run, found = opened.log.last(RUN, dataset), opened.log.last(FOUND, dataset)
    if run is None or found is None:
        nothing = to_json(NotedFindings())
        return {"dataset": dataset, "audited": None, "by": None, **nothing, "statements": [], "alerts": alerts}
    held = {name: value for name, value in found["body"].items() if name != "sha256"}
    held.setdefault("queries_audited", held["queries"] - len(held["not_audited"]))  # audits before these were told
    held.setdefault("unproved", [])
    queries = dict.fromkeys(query for case in held["cases"] for query in case["queries"])
    lines = (opened.log.query(query) for query in list(queries)[:MOST_KEPT])
    statements = [{name: line[name] for name in ("id", "time", "user", "sql")} for line in lines if line is not None]
    audit = {"dataset": dataset, "audited": run["time"], "by": run["user"]}
    return {**audit, **held, "statements": statements, "alerts": alerts}


def _noted(report: AuditReport) -> NotedFindings:
    findings = report.findings[:MOST_KEPT]
    names = {finding.id for finding in findings}
    cases = [case for case in report.cases if names.intersection(case.findings)]
    return NotedFindings(
        k=report.k,
        queries=report.queries,
        queries_audited=report.queries_audited,
        severities=report.severities,
        cases=tuple(replace(case, findings=tuple(name for name in case.findings if name in names)) for case in cases),
        findings=findings,
        findings_in_all=len(report.findings),
        unproved=report.unproved[:MOST_KEPT],
        not_audited=report.not_audited[:MOST_KEPT],
        left_out=report.left_out[:MOST_KEPT],
    )
