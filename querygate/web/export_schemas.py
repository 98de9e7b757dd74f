"""The JSON shapes of requests for extracts."""

from __future__ import annotations

from typing import get_args

from querygate.core.approval import ACTIONS, STATES
from querygate.core.extract_spec import Format, Kind
from querygate.web.schema_parts import MAYBE_TEXT, NUMBER, TEXT, WHOLE, Schema, array, record, ref

WISH_EXAMPLE = {
    "dataset": "trial",
    "purpose": "Does age matter for survival?",
    "kind": "condensed",
    "columns": ["time", "status", "age", "sex"],
    "k": 20,
    "models": ["cox: Surv(time, status) ~ age + sex"],
    "tolerances": {"significance": 0.1},
}

EXPORT_EXAMPLE = {
    "id": "x_01KJKB3Q00Z5V7N0M1C2X3Y4W5",
    "number": 3,
    "dataset": "trial",
    "requester": "ann",
    "state": "in_review",
    "created": "2026-03-01T12:30:00.000000Z",
    "changed": "2026-03-02T09:00:00.000000Z",
    "expires": None,
    "approvals": [],
    "reviewers": 1,
    "wish": {
        **WISH_EXAMPLE,
        "where": "",
        "method": "",
        "suppress": 0.0,
        "suppress_cells": 0.0,
        "formats": ["csv", "parquet"],
    },
    "summary": None,
    "manifest": None,
    "failure": None,
    "may": ["comment", "withdraw"],
    "events": [
        {
            "number": 1,
            "time": "2026-03-01T12:30:00.000000Z",
            "user": "ann",
            "action": "request",
            "before": None,
            "after": "draft",
            "comment": "",
        },
        {
            "number": 2,
            "time": "2026-03-01T12:31:00.000000Z",
            "user": "ann",
            "action": "submit",
            "before": "draft",
            "after": "submitted",
            "comment": "",
        },
        {
            "number": 3,
            "time": "2026-03-02T09:00:00.000000Z",
            "user": "carl",
            "action": "take",
            "before": "submitted",
            "after": "in_review",
            "comment": "",
        },
    ],
}

_LISTED = {name: value for name, value in EXPORT_EXAMPLE.items() if name != "events"}

WISH: Schema = {
    "dataset": {**TEXT, "description": "Dataset to take records from."},
    "purpose": {**TEXT, "description": "What for."},
    "kind": {"enum": list(get_args(Kind)), "description": "How records are protected. The default is k-anonymous."},
    "columns": {**array(TEXT), "description": "Columns. Empty: all but notes and sequences."},
    "where": {**TEXT, "description": "Which records, as a condition in SQL."},
    "method": {**TEXT, "description": "Method. Empty: the builder finds one."},
    "k": {"type": ["integer", "null"], "description": "Records that share everything. Null: the builder finds it."},
    "suppress": {**NUMBER, "description": "Share of records that may be left out."},
    "suppress_cells": {**NUMBER, "description": "Share of cells that may become *, to keep records."},
    "models": {**array(TEXT), "description": "What will be fitted, as `cox: Surv(time, status) ~ age`."},
    "tolerances": {
        "type": "object",
        "additionalProperties": NUMBER,
        "description": "How much may be lost: shares of coefficients (`significance`, `sign`, `outside`) and widths "
        "(`mean(age)`).",
    },
    "formats": {
        **array({"enum": list(get_args(Format))}),
        "description": f"Of {', '.join(get_args(Format))}. The default is csv and parquet.",
    },
}

EXPORT: Schema = {
    "id": TEXT,
    "number": WHOLE,
    "dataset": TEXT,
    "requester": TEXT,
    "state": {"enum": list(STATES)},
    "created": TEXT,
    "changed": TEXT,
    "expires": MAYBE_TEXT,
    "approvals": array(TEXT),
    "reviewers": {**WHOLE, "description": "How many have to approve."},
    "wish": ref("Wish"),
    "summary": {
        "type": ["object", "null"],
        "description": "Figures of what was built, to those who review it.",
    },
    "manifest": {
        "type": ["string", "null"],
        "description": "SHA-256 of the extract's manifest; to the requester once it is released.",
    },
    "failure": {"type": ["string", "null"], "description": "Why the last build came to nothing; as `summary`."},
    "may": array({"enum": list(ACTIONS)}),
    "events": array(ref("ExportEvent")),
    "preview": {"type": "object", "description": "What a reviewer needs before there is an extract, if asked for."},
}

EXPORT_SCHEMAS: dict[str, Schema] = {
    "Wish": record(
        "What is asked for.",
        WISH,
        optional=tuple(name for name in WISH if name not in ("dataset", "purpose")),
        example=WISH_EXAMPLE,
    ),
    "Comment": record(
        "What to say with an act. Return, reject and comment need it; build and release take none.",
        {"comment": {**TEXT, "description": "At most 4,000 characters."}},
        optional=("comment",),
        example={"comment": "Why so many columns?"},
    ),
    "ExportEvent": record(
        "One act on a request. Of those that time does, `user` is null.",
        {
            "number": WHOLE,
            "time": TEXT,
            "user": MAYBE_TEXT,
            "action": TEXT,
            "before": MAYBE_TEXT,
            "after": TEXT,
            "comment": TEXT,
        },
    ),
    "Export": record(
        "A request, as you may see it: what is asked, where it stands, what was done, and what you `may` do.",
        EXPORT,
        optional=("events", "preview"),
        example=EXPORT_EXAMPLE,
    ),
    "Exports": record("Requests, newest first.", {"exports": array(ref("Export"))}, example={"exports": [_LISTED]}),
}
