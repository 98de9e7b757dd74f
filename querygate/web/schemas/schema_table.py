"""The JSON shapes of the HTTP door, as JSON Schema, each with an example. `routes` refers to them by name."""

from __future__ import annotations

from querygate.web.accounts.account_schemas import ACCOUNT_SCHEMAS
from querygate.web.accounts.grant_schemas import GRANT_SCHEMAS
from querygate.web.saved.saved_schemas import SAVED_SCHEMAS
from querygate.web.schemas.audit_schemas import AUDIT_SCHEMAS
from querygate.web.schemas.explanation_schemas import EXPLANATION_SCHEMAS
from querygate.web.schemas.extract_schemas import EXPORT_SCHEMAS
from querygate.web.schemas.job_schemas import JOB_SCHEMAS
from querygate.web.schemas.model_schemas import MODEL_SCHEMAS
from querygate.web.schemas.noise_schemas import MAYBE_NUMBER, NOISE_SCHEMAS
from querygate.web.schemas.risk_schemas import RISK_SCHEMAS
from querygate.web.schemas.schema_parts import END, MAYBE_TEXT, NUMBER, TEXT, TRUTH, WHOLE, Schema, array, record, ref
from querygate.web.sign_on.device_schemas import DEVICE_SCHEMAS

__all__ = ["SCHEMAS", "Schema", "ref"]

ANSWER_EXAMPLE = {
    "query_id": "q_01KJKB3Q00Z5V7N0M1C2X3Y4W5",
    "dataset": "patients",
    "version": 3,
    "mode": "interval",
    "columns": [
        {"name": "sex", "kind": "key", "type": "category"},
        {"name": "avg_sbp", "kind": "range", "type": "number"},
    ],
    "rows": [
        {
            "sex": "F",
            "avg_sbp": {
                "low": 127.4,
                "high": 131.9,
                "attained_low": 127.4,
                "attained_high": 131.9,
                "sharp": True,
                "may_be_null": False,
                "estimate": 129.6,
            },
            "_group": {"certain": True, "count": {"low": 412, "high": 431}},
        }
    ],
    "notes": [],
    "elapsed_ms": 6.1,
}

SUMMARY = {
    "dataset": TEXT,
    "title": TEXT,
    "version": WHOLE,
    "rows": {"type": ["integer", "null"], "description": "null where every answer is noisy."},
    "k": {**WHOLE, "description": "Each record shares its published quasi-identifiers with at least k - 1 others."},
    "published": {**TEXT, "description": "Time of publication, in UTC."},
}
SUMMARY_EXAMPLE = {
    "dataset": "patients",
    "title": "Blood pressure study",
    "version": 3,
    "rows": 843,
    "k": 5,
    "published": "2026-03-01T12:30:00.000000Z",
}

LOG_EXAMPLE = {
    "id": "q_01KJKB3Q00Z5V7N0M1C2X3Y4W5",
    "time": "2026-03-01T12:31:00.000000Z",
    "user": "ann",
    "dataset": "patients",
    "version": 3,
    "sql": "SELECT * FROM patients",
    "mode": "interval",
    "outcome": "refused",
    "code": "QG201",
    "answer": None,
    "epsilon": None,
    "method": 1,
    "prev": "0" * 64,
    "hash": "5f0c3a4be6f0b19e7c7d2f9a1b8e4d6c0a3f5e7d9b1c2a4f6e8d0c2b4a6f8e0d",
}

SCHEMAS: dict[str, Schema] = {
    "Question": record(
        "One statement to one dataset.",
        {
            "dataset": {**TEXT, "description": "Name of the dataset."},
            "sql": {**TEXT, "description": "One SELECT of aggregates, FROM the dataset."},
            "options": ref("Options"),
        },
        optional=("options",),
        example={"dataset": "patients", "sql": "SELECT sex, AVG(sbp) FROM patients GROUP BY sex"},
    ),
    "Options": record(
        "Options of one query.",
        {
            "mode": {
                "enum": ["interval", "laplace"],
                "description": "How numbers are protected: with guaranteed ranges, or with noise. The default is "
                "interval, unless the policy allows only noise.",
            },
            "readable": {**TRUTH, "description": "Add the answer as text for people, rounded outward."},
            "explain": {
                **TRUTH,
                "description": "Add why the ranges are as wide as they are, and questions nearby that are narrower. "
                "Of a dry run: read the cells, and add the widths. No effect on noisy answers.",
            },
            "consistent": {
                **TRUTH,
                "description": "Make noisy counts consistent: none negative, and parts that add up to a "
                "total in the same answer.",
            },
            "epsilon": {
                **NUMBER,
                "description": "Epsilon to spend on noise, between the least and the most of the policy. The default "
                "is the most.",
            },
        },
        optional=("mode", "readable", "explain", "epsilon", "consistent"),
    ),
    "Answer": record(
        "One object per group. Every range contains the true value, ends included. A noisy answer (mode laplace) has "
        "numbers with noise instead, and its cost.",
        {
            "query_id": TEXT,
            "dataset": TEXT,
            "version": WHOLE,
            "mode": TEXT,
            "columns": array(ref("AnswerColumn")),
            "limit": ref("Limited"),
            "rows": array(ref("Group")),
            "budget": ref("Spent"),
            "notes": array(TEXT),
            "elapsed_ms": {**NUMBER, "description": "How long it took. Not given for noisy answers."},
            "explanation": ref("Explanation"),
            "readable": ref("Readable"),
        },
        optional=("limit", "budget", "elapsed_ms", "explanation", "readable"),
        example=ANSWER_EXAMPLE,
    ),
    "Limited": record(
        "Only where LIMIT or OFFSET leave open which groups are meant: ranges that overlap do not say which is larger, "
        "so every group that may be meant is a row.",
        {
            "first": {**WHOLE, "description": "The ranks that were asked for begin here."},
            "last": {"type": ["integer", "null"], "description": "And end here; null without LIMIT."},
            "certain": {**WHOLE, "description": "Rows that are certainly among them."},
            "possible": {**WHOLE, "description": "Rows that may be among them."},
            "note": {**TEXT, "description": "Why these rows are shown, to be read before them."},
        },
    ),
    "AnswerColumn": record(
        "A column of the select list: a group key, the range of a statistic, or a number with noise.",
        {"name": TEXT, "kind": {"enum": ["key", "range", "noisy"]}, "type": TEXT},
    ),
    "Group": {
        "type": "object",
        "description": "Keyed by column: a key is a value, a statistic is a Range, or Noisy. `_group` gives the size "
        "of the group, unless the answer is noisy, and what a row is a total over.",
        "properties": {
            "_group": record(
                "Whether the group certainly exists, and how many records it may contain.",
                {
                    "certain": TRUTH,
                    "count": record("Both ends included.", {"low": WHOLE, "high": WHOLE}),
                    "rolled_up": {
                        **array(TEXT),
                        "description": "The keys over all of whose values this row is, with ROLLUP, CUBE and GROUPING "
                        "SETS: their null is not a missing value.",
                    },
                    "first": {
                        **TRUTH,
                        "description": "With LIMIT or OFFSET: whether the group is certainly among those asked for.",
                    },
                },
                optional=("certain", "count", "rolled_up", "first"),
            )
        },
        "additionalProperties": {
            "anyOf": [ref("Range"), ref("Noisy"), {"type": ["string", "number", "boolean", "null"]}]
        },
    },
    "Range": record(
        "The true value is in [low, high], or NULL if may_be_null. Without ends it is certainly NULL.",
        {
            "low": END,
            "high": END,
            "attained_low": {
                **END,
                "description": "The lowest value that some table consistent with the store is known to attain.",
            },
            "attained_high": {
                **END,
                "description": "The highest value that some table consistent with the store is known to attain.",
            },
            "sharp": {
                **TRUTH,
                "description": "No narrower range would hold for every table consistent with the store.",
            },
            "may_be_null": TRUTH,
            "estimate": {
                **END,
                "description": "A likely value inside the range, from the published store alone. Not guaranteed.",
            },
            "estimate_note": {**TEXT, "description": "Why there is no estimate, if it is null."},
        },
        optional=("estimate", "estimate_note"),
    ),
    "Readable": record(
        "The same answer as a table of text, and its explanation as lines.",
        {"headings": array(TEXT), "rows": array(array(TEXT)), "explanation": array(TEXT)},
        optional=("explanation",),
    ),
    **EXPLANATION_SCHEMAS,
    "Verdict": record(
        "The result of a dry run. Nothing was spent, and nothing read, unless it was to explain the widths.",
        {
            "accepted": {"const": True},
            "columns": array(ref("AnswerColumn")),
            "groups_at_most": WHOLE,
            "width": {
                "enum": ["exact", "sharp", "outer"],
                "description": "What to expect of the ranges: exact if only public columns are used, sharp if they are "
                "as narrow as the store allows, which may still be wide, outer if the form of the statement, or the "
                "use of several views, may make them wider.",
            },
            "widths": {
                "type": "object",
                "additionalProperties": END,
                "description": "With explain: the width of each range, on average over the groups. Absent if the "
                "policy has queries judged before they are answered.",
            },
            "sharpened_by": {
                **array(TEXT),
                "description": "Columns whose published class moments make ranges narrower; absent if there are none.",
            },
            "views": {
                **array(array(TEXT)),
                "description": "The views that would be read, by their quasi-identifiers, of a dataset that has views.",
            },
            "canonical": {**TEXT, "description": "The same for statements with the same meaning."},
            "notes": {**array(TEXT), "description": "How the statement was read, as the answer will say it too."},
            "cost": record(
                "Privacy budget that the query would use, and the least that a noisy answer costs.",
                {"epsilon": NUMBER, "epsilon_least": NUMBER, "delta": NUMBER},
                optional=("epsilon_least", "delta"),
            ),
            "mode": {**TEXT, "description": "laplace, if the answer would be noisy."},
            "budget": {
                "type": "object",
                "additionalProperties": NUMBER,
                "description": "What is left under each limit, for noisy answers.",
            },
            "accuracy": {
                "type": "object",
                "additionalProperties": MAYBE_NUMBER,
                "description": "How close each number is to the true value in 95 of 100 answers; null if it depends on "
                "the data.",
            },
        },
        optional=("sharpened_by", "widths", "views", "width", "mode", "budget", "accuracy", "notes"),
        example={
            "accepted": True,
            "columns": [{"name": "avg_sbp", "kind": "range", "type": "number"}],
            "groups_at_most": 1,
            "width": "sharp",
            "canonical": "9f2b6c1d8e3a4f507b6c8d9e0f1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c",
            "cost": {"epsilon": 0},
            "notes": ["'Male' is not a value of sex; values: female, male."],
        },
    ),
    "Datasets": record(
        "The served datasets.",
        {"datasets": array(record("One dataset.", SUMMARY))},
        example={"datasets": [SUMMARY_EXAMPLE]},
    ),
    "Dataset": record(
        "Everything that may be known before asking. Nothing here is a sample of the data.",
        {
            **SUMMARY,
            "unit": TEXT,
            "modes": array(TEXT),
            "columns": array(ref("Column")),
            "tables": {**array(ref("Table")), "description": "Public tables that statements may join."},
            "policy": {**array(TEXT), "description": "The policy in words."},
            "examples": {**array(TEXT), "description": "Statements that the gate accepts."},
            "views": {
                **array(array(TEXT)),
                "description": "The quasi-identifiers of each view, for a dataset with views.",
            },
            "linked": {
                **array(array(TEXT)),
                "description": "Groups of sensitive columns that one aggregate may use together, in such a dataset.",
            },
            "together": {
                **array(record("Columns of one question.", {"columns": array(TEXT), "decided": NUMBER})),
                "description": "For which share of the records columns are known together, ordered ones up to the next "
                "cut: pairs of quasi-identifiers, or the columns of each view. Ten at most, the best first.",
            },
        },
        optional=("views", "linked", "together"),
        example={
            **SUMMARY_EXAMPLE,
            "unit": "person",
            "modes": ["interval"],
            "columns": [
                {
                    "name": "age",
                    "title": "",
                    "role": "quasi-identifier",
                    "type": "integer",
                    "nullable": False,
                    "domain": [0, 120],
                }
            ],
            "tables": [
                {
                    "name": "regions",
                    "key": "code",
                    "rows": 9,
                    "columns": [{"name": "name", "type": "category"}, {"name": "population", "type": "integer"}],
                    "on": ["region"],
                    "hash": "5f0c6a1d8e3a4f507b6c8d9e0f1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c",
                }
            ],
            "policy": ["Each record shares its published age with at least 4 others (k = 5)."],
            "examples": ["SELECT COUNT(*) FROM patients"],
        },
    ),
    "Column": record(
        "A published column. Numbers and dates have a public domain; categories and code lists have public values.",
        {
            "name": TEXT,
            "title": TEXT,
            "role": {"enum": ["quasi-identifier", "sensitive", "codes", "public"]},
            "type": {"enum": ["integer", "number", "date", "timestamp", "category", "boolean", "codes"]},
            "nullable": {"type": ["boolean", "null"], "description": "null where every answer is noisy."},
            "domain": {"type": ["array", "null"], "items": {"type": ["number", "string"]}},
            "values": array(TEXT),
            "groups": {
                "type": "object",
                "description": "For a code list in views, the codes of each group, by the group's column.",
                "additionalProperties": array(TEXT),
            },
            "cuts": {
                "type": "array",
                "items": {"type": ["number", "string"]},
                "description": "Values at which a condition may begin (>=) or end (<) with no record in doubt; 100 at "
                "most.",
            },
            "policy_cuts": {
                "type": "array",
                "items": {"type": ["number", "string"]},
                "description": "The cuts that the policy names, such as bands of age.",
            },
            "exact_values": {**array(TEXT), "description": "Values that are never published in a set with others."},
            "decided": {**NUMBER, "description": "Share of the records whose exact value is published."},
        },
        optional=("domain", "values", "groups", "cuts", "policy_cuts", "exact_values", "decided"),
    ),
    "Table": record(
        "A public table that a statement may JOIN or LEFT JOIN, on its key and a category of the dataset.",
        {
            "name": TEXT,
            "key": TEXT,
            "rows": WHOLE,
            "columns": array(record("A column.", {"name": TEXT, "type": {"enum": ["category", "integer", "number"]}})),
            "on": {**array(TEXT), "description": "Categories of the dataset that share values with the key."},
            "hash": {**TEXT, "description": "SHA-256 of the table."},
        },
    ),
    "Log": record(
        "A page of the query log.",
        {
            "entries": array(ref("LogEntry")),
            "next": {**MAYBE_TEXT, "description": "Send it as `before` for the entries before these; null at the end."},
        },
        example={"entries": [LOG_EXAMPLE], "next": None},
    ),
    "LogEntry": record(
        "One query. `prev` and `hash` are those of its entry in the chained log.",
        {
            "id": TEXT,
            "time": TEXT,
            "user": MAYBE_TEXT,
            "dataset": MAYBE_TEXT,
            "version": {"type": ["integer", "null"]},
            "sql": TEXT,
            "mode": MAYBE_TEXT,
            "outcome": {"enum": ["answered", "refused", "failed"]},
            "code": MAYBE_TEXT,
            "answer": {"anyOf": [ref("Answer"), {"type": "null"}]},
            "epsilon": {"type": ["number", "null"]},
            "prev": TEXT,
            "hash": TEXT,
            "method": {
                "type": "integer",
                "description": "The way in which ranges were computed; it changes when ranges become narrower.",
            },
        },
        optional=("method",),
    ),
    **AUDIT_SCHEMAS,
    **GRANT_SCHEMAS,
    **ACCOUNT_SCHEMAS,
    **DEVICE_SCHEMAS,
    **MODEL_SCHEMAS,
    **NOISE_SCHEMAS,
    **EXPORT_SCHEMAS,
    **RISK_SCHEMAS,
    **JOB_SCHEMAS,
    **SAVED_SCHEMAS,
    "Status": record("The process is running.", {"status": {"const": "ok"}}, example={"status": "ok"}),
    "Ready": record(
        "The process is ready to answer.",
        {"status": {"const": "ready"}, "checks": {"type": "object", "additionalProperties": {"const": "ok"}}},
        example={"status": "ready", "checks": {"store": "ok", "control": "ok"}},
    ),
    "Problem": record(
        "Every error, as application/problem+json (RFC 9457).",
        {
            "type": {**TEXT, "description": "A link to the explanation of the code."},
            "title": TEXT,
            "status": WHOLE,
            "code": TEXT,
            "detail": TEXT,
            "remedy": {**TEXT, "description": "What to do instead."},
            "suggestion": {**TEXT, "description": "A statement that the gate accepts."},
            "span": record(
                "Where in the statement; line and column start at 1.",
                {"line": WHOLE, "column": WHOLE, "length": WHOLE},
            ),
            "query_id": TEXT,
            "request_id": TEXT,
            "help": {**TEXT, "description": "A page of the gate's own documentation about it."},
        },
        optional=("remedy", "suggestion", "span", "query_id", "request_id"),
        example={
            "type": "/docs/refusals#QG201",
            "title": "Rows are never shown, only aggregates",
            "status": 422,
            "code": "QG201",
            "detail": "Rows are never shown.",
            "remedy": "Ask for aggregates such as COUNT(*) or AVG(column).",
            "suggestion": "SELECT sex, COUNT(*) FROM patients GROUP BY sex",
            "span": {"line": 1, "column": 8, "length": 1},
            "query_id": "q_01KJKB3Q00Z5V7N0M1C2X3Y4W5",
            "help": "/docs/reference/sql",
        },
    ),
}
