"""The JSON shapes of requests for extracts."""

from __future__ import annotations

from typing import get_args

from querygate.core.extracts.approval_states import ACTIONS, STATES
from querygate.core.extracts.extract_spec import Format, Kind, Times
from querygate.web.schemas.schema_parts import MAYBE_TEXT, NUMBER, TEXT, TRUTH, WHOLE, Schema, array, record, ref

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
    "purpose": {**TEXT, "description": "Purpose of the extract."},
    "kind": {"enum": list(get_args(Kind)), "description": "How records are protected. The default is k-anonymous."},
    "columns": {**array(TEXT), "description": "Columns. Empty: all that can be queried."},
    "where": {**TEXT, "description": "Condition in SQL that selects records."},
    "method": {**TEXT, "description": "Method. Empty: the builder chooses one."},
    "k": {
        "type": ["integer", "null"],
        "description": "Minimum number of identical records. Null: the builder chooses it.",
    },
    "suppress": {**NUMBER, "description": "Largest share of records to leave out."},
    "suppress_cells": {**NUMBER, "description": "Largest share of cells to replace by *, to keep records."},
    "models": {**array(TEXT), "description": "Models the recipient will fit, such as `cox: Surv(time, status) ~ age`."},
    "tolerances": {
        "type": "object",
        "additionalProperties": NUMBER,
        "description": "Largest acceptable loss: shares of coefficients (`significance`, `sign`, `outside`) and widths "
        "(`mean(age)`).",
    },
    "formats": {
        **array({"enum": list(get_args(Format))}),
        "description": f"One or more of {', '.join(get_args(Format))}. The default is csv and parquet.",
    },
    "times": {
        "enum": list(get_args(Times)),
        "description": "Survival times of condensed records: drawn like other numbers (the default), or kept, which "
        "are the patients' own.",
    },
    "noisy": {**TEXT, "description": "For a noisy model: family and formula, such as `logistic: died ~ age + sex`."},
    "parts": {
        "type": ["integer", "null"],
        "description": "Components, clusters or bins of a noisy model; bins of a synthetic table.",
    },
    "epsilon": {
        "type": ["number", "null"],
        "description": "Privacy budget that a noisy model or a noisy synthetic table may cost.",
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
    "reviewers": {**WHOLE, "description": "Number of approvals needed."},
    "beside_views": {
        **TRUTH,
        "description": "True if reviewers acknowledged that the extract contains records of a dataset published as "
        "views; absent otherwise.",
    },
    "agreement": {
        **ref("UseAgreement"),
        "description": "The data use agreement that a limited data set was approved under; absent otherwise.",
    },
    "wish": ref("Wish"),
    "summary": {
        "type": ["object", "null"],
        "description": "Figures about the built extract, for reviewers.",
    },
    "manifest": {
        "type": ["string", "null"],
        "description": "SHA-256 of the extract's manifest; the requester sees it once the extract is released.",
    },
    "failure": {
        "type": ["string", "null"],
        "description": "Why the last build failed; for the same people as `summary`.",
    },
    "may": array({"enum": list(ACTIONS)}),
    "events": array(ref("ExportEvent")),
    "changes": {
        **array(ref("WishChange")),
        "description": "What has changed since it was last returned; absent if it never was.",
    },
    "preview": {"type": "object", "description": "What a reviewer needs before the extract is built, if asked for."},
}

EXPORT_SCHEMAS: dict[str, Schema] = {
    "Wish": record(
        "What is requested.",
        WISH,
        optional=tuple(name for name in WISH if name not in ("dataset", "purpose")),
        example=WISH_EXAMPLE,
    ),
    "Comment": record(
        "A comment on an action, or no body. Return, reject, comment and note need one; build and release accept none.",
        {
            "comment": {**TEXT, "description": "At most 4,000 characters."},
            "beside_views": {
                **TRUTH,
                "description": "With approve: acknowledge that these are records of a dataset published as views.",
            },
            "agreement": {
                **ref("UseAgreement"),
                "description": "With approve: the data use agreement of a limited data set.",
            },
        },
        optional=("comment", "beside_views", "agreement"),
        example={"comment": "Why so many columns?"},
    ),
    "UseAgreement": record(
        "A signed data use agreement (45 CFR 164.514(e)(4)).",
        {
            "signed_by": {**TEXT, "description": "Who signed for the recipient."},
            "sha256": {**TEXT, "description": "SHA-256 of the text that was signed."},
            "until": {**TEXT, "description": "The last day it holds, as YYYY-MM-DD."},
        },
        example={"signed_by": "Ann Lee, Shelby University", "sha256": "a" * 64, "until": "2031-01-31"},
    ),
    "ExportEvent": record(
        "One action on a request. `user` is null if it happened automatically.",
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
    "WishChange": record(
        "A part of the request that changed since it was returned, as text.",
        {"field": TEXT, "before": TEXT, "after": TEXT},
    ),
    "Export": record(
        "A request, as far as you may see it: what is requested, its state, its history, and what you `may` do.",
        EXPORT,
        optional=("events", "preview", "beside_views", "agreement", "changes"),
        example=EXPORT_EXAMPLE,
    ),
    "Exports": record("Requests, newest first.", {"exports": array(ref("Export"))}, example={"exports": [_LISTED]}),
}
