"""The JSON shapes of audits: cases and findings, without values."""

from __future__ import annotations

from querygate.web.schemas.schema_parts import MAYBE_TEXT, TEXT, WHOLE, Schema, array, record, ref

FINDINGS_EXAMPLE = {
    "dataset": "patients",
    "audited": "2026-03-02T10:00:00.000000Z",
    "by": "local",
    "k": 5,
    "queries": 2,
    "queries_audited": 2,
    "severities": {"disclosed": 0, "exposed": 0, "attempt": 1, "notice": 0},
    "cases": [
        {
            "id": "c_9f3386977c",
            "severity": "attempt",
            "kinds": ["differencing"],
            "users": ["ann"],
            "view": "ann",
            "queries": ["q_01KJKB3Q00Z5V7N0M1C2X3Y4W5", "q_01KJKB3Q00Z5V7N0M1C2X3Y4W6"],
            "first": "2026-03-02T09:14:00.000000Z",
            "last": "2026-03-02T09:16:30.000000Z",
            "records": 1,
            "signs": ["a single user", "asked within 3 minutes"],
            "findings": ["f_c0a4327dc0"],
            "version": 3,
        }
    ],
    "findings": [
        {
            "id": "f_c0a4327dc0",
            "kind": "differencing",
            "severity": "attempt",
            "queries": ["q_01KJKB3Q00Z5V7N0M1C2X3Y4W6", "q_01KJKB3Q00Z5V7N0M1C2X3Y4W5"],
            "users": ["ann"],
            "view": "ann",
            "isolates": {"records": 1, "where": "age BETWEEN 40 AND 51, without age BETWEEN 40 AND 50"},
            "combination": [
                {
                    "measure": "sbp",
                    "query": "q_01KJKB3Q00Z5V7N0M1C2X3Y4W6",
                    "times": "1",
                    "records": 11,
                    "answer": None,
                },
                {
                    "measure": "sbp",
                    "query": "q_01KJKB3Q00Z5V7N0M1C2X3Y4W5",
                    "times": "-1",
                    "records": 10,
                    "answer": None,
                },
            ],
            "inferred": [{"column": "sbp", "from": None, "low": None, "high": None, "hidden": True}],
            "explanation": "q_01KJKB3Q00Z5V7N0M1C2X3Y4W6, q_01KJKB3Q00Z5V7N0M1C2X3Y4W5 of ann isolate 1 record: "
            "age BETWEEN 40 AND 51, without age BETWEEN 40 AND 50.",
            "case": "c_9f3386977c",
            "version": 3,
        }
    ],
    "findings_in_all": 1,
    "unproved": [],
    "not_audited": [],
    "left_out": [],
    "statements": [
        {
            "id": "q_01KJKB3Q00Z5V7N0M1C2X3Y4W5",
            "time": "2026-03-02T09:14:00.000000Z",
            "user": "ann",
            "sql": "SELECT AVG(sbp) FROM patients WHERE age BETWEEN 40 AND 50",
        },
        {
            "id": "q_01KJKB3Q00Z5V7N0M1C2X3Y4W6",
            "time": "2026-03-02T09:16:30.000000Z",
            "user": "ann",
            "sql": "SELECT AVG(sbp) FROM patients WHERE age BETWEEN 40 AND 51",
        },
    ],
    "alerts": [],
}

INCIDENT: Schema = {**TEXT, "description": "If the auditor failed: the incident number in the server's log."}

SEVERITY: Schema = {"enum": ["notice", "attempt", "exposed", "disclosed"]}

AUDIT_SCHEMAS: dict[str, Schema] = {
    "AuditRun": record(
        "Dataset whose queries to audit.",
        {"dataset": {**TEXT, "description": "Name of the dataset."}},
        example={"dataset": "patients"},
    ),
    "Findings": record(
        "What the last audit found. `audited` is null if there was none. Only the most serious of many findings are "
        "kept.",
        {
            "dataset": TEXT,
            "audited": MAYBE_TEXT,
            "by": MAYBE_TEXT,
            "k": {"type": ["integer", "null"]},
            "queries": WHOLE,
            "queries_audited": {
                **WHOLE,
                "description": "How many of them were audited. 0 says nothing about the others.",
            },
            "severities": {"type": "object", "additionalProperties": WHOLE},
            "cases": array(ref("Case")),
            "findings": array(ref("Finding")),
            "findings_in_all": WHOLE,
            "unproved": {**array(ref("Unproved")), "description": "Findings whose proof did not pass its check."},
            "not_audited": array(
                record(
                    "A query the audit does not cover.",
                    {"query": TEXT, "reason": TEXT, "incident": INCIDENT},
                    optional=("incident",),
                )
            ),
            "left_out": array(
                record(
                    "A test that was not made.",
                    {"view": TEXT, "measure": TEXT, "reason": TEXT, "incident": INCIDENT},
                    optional=("incident",),
                )
            ),
            "statements": array(record("A query in a case.", {"id": TEXT, "time": TEXT, "user": TEXT, "sql": TEXT})),
            "alerts": {**array(ref("Alert")), "description": "The latest alerts of `audit watch`, newest first."},
        },
        example=FINDINGS_EXAMPLE,
    ),
    "Alert": record(
        "What one answer, combined with earlier ones, disclosed; as the watch sends it.",
        {
            "id": TEXT,
            "dataset": TEXT,
            "version": WHOLE,
            "time": TEXT,
            "query": TEXT,
            "with": {**MAYBE_TEXT, "description": "An earlier query that it was compared with."},
            "user": TEXT,
            "view": TEXT,
            "rule": {"enum": ["small", "pair", "linear", "tied", "cap"]},
            "records": WHOLE,
        },
    ),
    "Unproved": record(
        "What the search found and the check of its proof rejected: a fault of the auditor, which accuses nobody.",
        {
            "incident": INCIDENT,
            "kind": TEXT,
            "queries": array(TEXT),
            "users": array(TEXT),
            "view": TEXT,
            "version": WHOLE,
        },
        optional=("version",),
    ),
    "Case": record(
        "Findings that belong together: same users, shared queries. As serious as the most serious of them.",
        {
            "id": TEXT,
            "severity": SEVERITY,
            "kinds": array(TEXT),
            "users": array(TEXT),
            "view": {**TEXT, "description": "Whose answers were combined."},
            "queries": array(TEXT),
            "first": MAYBE_TEXT,
            "last": MAYBE_TEXT,
            "records": {**WHOLE, "description": "Number of people isolated."},
            "signs": {**array(TEXT), "description": "Signs of intent: reasons to look and to talk."},
            "findings": array(TEXT),
            "version": WHOLE,
        },
        optional=("version",),
    ),
    "Finding": record(
        "Sets of queries that isolate fewer than k records. Answers and values are null here.",
        {
            "id": TEXT,
            "kind": TEXT,
            "severity": SEVERITY,
            "queries": array(TEXT),
            "users": array(TEXT),
            "view": TEXT,
            "isolates": record("Whom.", {"records": WHOLE, "where": TEXT}),
            "combination": array(
                record(
                    "An answer, and the factor it is multiplied by so that all but the isolated records cancel out.",
                    {
                        "measure": TEXT,
                        "query": TEXT,
                        "times": {**TEXT, "description": "A whole number or a fraction."},
                        "records": WHOLE,
                        "answer": {"type": "null"},
                    },
                    optional=("records",),
                )
            ),
            "inferred": array(
                record(
                    "What follows from the answers; hidden here.",
                    {
                        "column": TEXT,
                        "from": {"type": "null"},
                        "low": {"type": "null"},
                        "high": {"type": "null"},
                        "hidden": {"const": True},
                    },
                )
            ),
            "explanation": TEXT,
            "case": TEXT,
            "version": WHOLE,
        },
        optional=("version",),
    ),
}
