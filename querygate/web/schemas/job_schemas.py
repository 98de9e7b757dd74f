"""The JSON shapes of jobs."""

from __future__ import annotations

from typing import get_args

from querygate.core.jobs import KINDS, JobState
from querygate.web.schemas.schema_parts import MAYBE_TEXT, TEXT, TRUTH, WHOLE, Schema, array, record

_LINKS: Schema = {
    "job": TEXT,
    "status": {**TEXT, "description": "Where to look for the state and the result."},
    "events": {**TEXT, "description": "Where to follow it as server-sent events."},
}

_WORKER: Schema = {**TEXT, "description": "What the worker calls itself: the same name for all steps of a job."}

_LINKS_EXAMPLE = {
    "job": "j_01KJKB3Q00Z5V7N0M1C2X3Y4W5",
    "status": "/api/v1/jobs/j_01KJKB3Q00Z5V7N0M1C2X3Y4W5",
    "events": "/api/v1/jobs/j_01KJKB3Q00Z5V7N0M1C2X3Y4W5/events",
}

JOB_SCHEMAS: dict[str, Schema] = {
    "JobLinks": record(
        "A queued job.",
        {**_LINKS, "state": {"enum": ["queued"]}},
        example={**_LINKS_EXAMPLE, "state": "queued"},
    ),
    "Job": record(
        "The state of a job.",
        {
            **_LINKS,
            "kind": {"enum": list(KINDS)},
            "dataset": TEXT,
            "state": {"enum": list(get_args(JobState))},
            "progress": {**TEXT, "description": "What is being done, in words."},
            "fraction": {"type": ["number", "null"], "description": "The share of the work that is done, if known."},
            "created": TEXT,
            "finished": MAYBE_TEXT,
            "request": {**TEXT, "description": "The extract request that it is about."},
            "result": {
                "type": "object",
                "description": "The answer. Results of builds, releases and audits are found with the request, or "
                "among the findings.",
            },
            "problem": record(
                "Why there is no result.",
                {"code": TEXT, "detail": TEXT, "remedy": TEXT, "suggestion": TEXT, "incident": TEXT},
                optional=("suggestion", "incident"),
            ),
        },
        optional=("request", "result", "problem"),
        example={
            **_LINKS_EXAMPLE,
            "kind": "extract.build",
            "dataset": "trial",
            "state": "leased",
            "progress": "measuring",
            "fraction": None,
            "created": "2026-03-01T12:30:00.000000Z",
            "finished": None,
            "request": "x_01KJKB3Q00Z5V7N0M1C2X3Y4W5",
        },
    ),
    "Lease": record(
        "Which kinds of jobs a worker does.",
        {"worker": _WORKER, "kinds": {**array({"enum": list(KINDS)}), "description": "What it does."}},
        example={"worker": "vault-1", "kinds": ["noise.answer", "noise.check"]},
    ),
    "WorkerName": record("Which worker it is.", {"worker": _WORKER}, example={"worker": "vault-1"}),
    "WorkerProgress": record(
        "How far a worker is.",
        {
            "worker": _WORKER,
            "progress": {**MAYBE_TEXT, "description": "What is being done, in words."},
            "fraction": {"type": ["number", "null"], "description": "The share of the work that is done, if known."},
        },
        optional=("progress", "fraction"),
        example={"worker": "vault-1", "progress": "measuring", "fraction": None},
    ),
    "WorkerResult": record(
        "The outcome of a job: either result or problem.",
        {
            "worker": _WORKER,
            "result": {"type": "object", "description": "What was computed."},
            "problem": {"type": "object", "description": "Why there is no result: code, detail, remedy."},
        },
        optional=("result", "problem"),
        example={"worker": "vault-1", "problem": {"code": "QG305", "detail": "It took too long.", "remedy": ""}},
    ),
    "WorkerJob": record(
        "A job for a worker, as it stands; null if there is none.",
        {"job": {"type": ["object", "null"]}},
        example={"job": None},
    ),
    "Taken": record("Whether the job was still the worker's.", {"taken": TRUTH}, example={"taken": True}),
    "LogPage": record(
        "Entries of the chained log, and whose answers are audited together.",
        {
            "entries": array({"type": "object", "properties": {"seq": WHOLE}}),
            "people": array(record("A user.", {"name": TEXT, "project": MAYBE_TEXT, "organisation": MAYBE_TEXT})),
        },
        example={"entries": [], "people": [{"name": "ann", "project": "heart", "organisation": None}]},
    ),
}
