"""What the custodian's audits leave in the log: that they were made, and the findings without values.

A gate has no raw records and cannot audit. It reads what the last audit found here, and no module that could open data.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from querygate.control.alerts import Alerts
from querygate.site.open_gate import OpenSite

RUN, FOUND = "audit.run", "audit.findings"

MOST_KEPT = 500
"""Findings that are put on record, the gravest first; their number is told."""

MOST_ALERTS = 100

NOTHING: dict[str, Any] = {
    "k": None,
    "queries": 0,
    "severities": {},
    "cases": [],
    "findings": [],
    "not_audited": [],
    "left_out": [],
}


def note_run(opened: OpenSite, dataset: str, body: Mapping[str, Any], *, user: str, revealed: bool) -> None:
    """Put an audit on record, and its findings where they differ from those of the audit before. `body` is masked."""
    if body["revealed"]:
        raise ValueError("values are not recorded")
    kept = _kept(body)
    mark = hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()
    last = opened.log.last(FOUND, dataset)
    if last is None or last["body"]["sha256"] != mark:
        opened.log.note(FOUND, user=user, dataset=dataset, body={**kept, "sha256": mark})
    counts = {"findings": len(body["findings"]), "cases": len(body["cases"]), "revealed": revealed, "sha256": mark}
    opened.log.note(RUN, user=user, dataset=dataset, body=counts)


def find_last(opened: OpenSite, dataset: str) -> dict[str, Any]:
    """What the last audit of a dataset found, with the statements concerned, and what the watch told of last.

    `audited` is None where there was no audit since the log was rotated.
    """
    alerts = Alerts(opened.log.database, opened.log).latest(dataset, MOST_ALERTS)
    run, found = opened.log.last(RUN, dataset), opened.log.last(FOUND, dataset)
    if run is None or found is None:
        return {"dataset": dataset, "audited": None, "by": None, **_kept(NOTHING), "statements": [], "alerts": alerts}
    held = {name: value for name, value in found["body"].items() if name != "sha256"}
    queries = dict.fromkeys(query for case in held["cases"] for query in case["queries"])
    lines = (opened.log.query(query) for query in list(queries)[:MOST_KEPT])
    statements = [{name: line[name] for name in ("id", "time", "user", "sql")} for line in lines if line is not None]
    audit = {"dataset": dataset, "audited": run["time"], "by": run["user"]}
    return {**audit, **held, "statements": statements, "alerts": alerts}


def _kept(body: Mapping[str, Any]) -> dict[str, Any]:
    findings = body["findings"][:MOST_KEPT]
    names = {finding["id"] for finding in findings}
    cases = [case for case in body["cases"] if names.intersection(case["findings"])]
    return {
        "k": body["k"],
        "queries": body["queries"],
        "severities": body["severities"],
        "cases": [{**case, "findings": [name for name in case["findings"] if name in names]} for case in cases],
        "findings": findings,
        "findings_in_all": len(body["findings"]),
        "not_audited": body["not_audited"][:MOST_KEPT],
        "left_out": body["left_out"][:MOST_KEPT],
    }
