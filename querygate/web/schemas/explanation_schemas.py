"""The JSON shapes of explanations: why ranges are wide, and what to ask instead."""

from __future__ import annotations

from querygate.web.schemas.schema_parts import END, NUMBER, TEXT, TRUTH, WHOLE, Schema, array, record, ref

_PART = {"enum": ["low", "high", "values", "key", "condition", "ranges", "rest"]}

EXPLANATION_SCHEMAS: dict[str, Schema] = {
    "Explanation": record(
        "Why ranges are as wide as they are, from the published store and the statement alone. Widths are means over "
        "the rows; of dates in days, of timestamps in seconds.",
        {
            "columns": {**array(ref("Width")), "description": "The columns of ranges, in order."},
            "apart": {
                **array(array(TEXT)),
                "description": "Columns that an aggregate needs but no view has together, in a dataset with views.",
            },
            "straddling": array(ref("Straddle")),
            "suggestions": {**array(ref("Sharper")), "description": "At most five, the best first."},
            "complete": {**TRUTH, "description": "False if not all similar questions were tried."},
            "withheld": {
                **TEXT,
                "description": "Why only widths are given: questions about this dataset are audited before they are "
                "answered, and similar ones were not.",
            },
        },
        optional=("apart", "withheld"),
        example={
            "columns": [
                {
                    "name": "count",
                    "width": 458,
                    "causes": [
                        {"column": "age", "at": "age >= 45", "part": "low", "width": 458, "share": 1.0},
                    ],
                }
            ],
            "straddling": [
                {
                    "column": "age",
                    "at": "age >= 45",
                    "part": "low",
                    "records": 458,
                    "ranges": 2,
                    "largest": [{"range": "40 .. 49", "records": 300}, {"range": "44 .. 48", "records": 158}],
                }
            ],
            "suggestions": [
                {
                    "sql": "SELECT COUNT(*) FROM patients WHERE age >= 40",
                    "changes": ["age >= 40 in place of age >= 45"],
                    "widths": {"count": 0},
                    "exact": True,
                    "narrower": None,
                }
            ],
            "complete": True,
        },
    ),
    "Width": record(
        "One column of ranges. The widths of its causes add up to its width.",
        {"name": TEXT, "width": END, "causes": array(ref("Cause"))},
    ),
    "Cause": record(
        "What a part of the statement costs: how much narrower the range gets if that part follows what is published, "
        "after the causes before it.",
        {
            "column": TEXT,
            "at": {**TEXT, "description": "The part as it stands in the statement; empty for ranges and rest."},
            "part": {
                **_PART,
                "description": "The low or high end of a condition, a set of values, a key of the groups, a whole "
                "condition; ranges if values of the column are published as ranges; rest for anything else.",
            },
            "width": END,
            "share": {"type": ["number", "null"], "description": "Of the whole width; null if that is infinite."},
        },
    ),
    "Straddle": record(
        "Published ranges (or sets of values) that a part of the statement cuts through.",
        {
            "column": TEXT,
            "at": TEXT,
            "part": _PART,
            "records": {**WHOLE, "description": "Records that these ranges hold."},
            "ranges": {**WHOLE, "description": "How many different ranges there are."},
            "largest": array(record("One of them.", {"range": TEXT, "records": WHOLE})),
        },
    ),
    "Sharper": record(
        "A statement that was accepted and answered to find its width.",
        {
            "sql": TEXT,
            "changes": array(TEXT),
            "widths": {"type": "object", "additionalProperties": END},
            "exact": TRUTH,
            "narrower": {**NUMBER, "type": ["number", "null"], "description": "How many times; null if it is exact."},
        },
    ),
}
