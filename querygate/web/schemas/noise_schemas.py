"""The JSON shapes of noisy answers, prices and budgets."""

from __future__ import annotations

from querygate.web.schemas.schema_parts import NUMBER, TEXT, WHOLE, Schema, array, record, ref

MAYBE_NUMBER: Schema = {"type": ["number", "null"]}

NOISE_SCHEMAS: dict[str, Schema] = {
    "Noisy": record(
        "A number with noise. In 95 of 100 answers, the true value lies in interval95.",
        {
            "value": NUMBER,
            "noise": {**TEXT, "description": "The mechanism."},
            "scale": {**MAYBE_NUMBER, "description": "Scale of the noise; null if a value was chosen at random."},
            "interval95": {"type": ["array", "null"], "items": NUMBER, "minItems": 2, "maxItems": 2},
            "epsilon": {**NUMBER, "description": "How much of the statement's epsilon this number cost."},
        },
        example={"value": 417, "noise": "geometric", "scale": 10.0, "interval95": [387, 447], "epsilon": 0.1},
    ),
    "Spent": record(
        "Privacy budget: what this answer cost, and what is left under the tightest limit.",
        {"spent": NUMBER, "left": NUMBER},
    ),
    "Batch": record(
        "Statements to one dataset.",
        {
            "dataset": {**TEXT, "description": "Name of the dataset."},
            "statements": {**array(TEXT), "description": "Each a SELECT of aggregates, FROM the dataset."},
            "options": ref("Options"),
        },
        optional=("options",),
        example={
            "dataset": "patients",
            "statements": ["SELECT COUNT(*) FROM patients"],
            "options": {"mode": "laplace"},
        },
    ),
    "Price": record(
        "What the statements would cost in total, if none of them has been answered before.",
        {"statements": array(ref("Verdict")), "cost": record("Privacy budget.", {"epsilon": NUMBER})},
    ),
    "Budget": record(
        "What is left for noisy answers, under the limits of the dataset, the user and the group (a project).",
        {
            "dataset": TEXT,
            "epsilon_per_query": {**NUMBER, "description": "What one statement may cost at most."},
            "epsilon_least": {**NUMBER, "description": "What one statement costs at least."},
            "delta": NUMBER,
            "limits": {"type": "object", "additionalProperties": NUMBER},
            "left": {"type": "object", "additionalProperties": NUMBER},
            "spent": {
                **array(
                    record(
                        "What was spent against one limit.",
                        {"whose": TEXT, "name": TEXT, "epsilon": NUMBER, "releases": WHOLE},
                    )
                ),
                "description": "Only for custodians.",
            },
        },
        optional=("spent",),
        example={
            "dataset": "patients",
            "epsilon_per_query": 0.1,
            "epsilon_least": 0.001,
            "delta": 0,
            "limits": {"dataset": 10.0, "user": 1.0},
            "left": {"dataset": 9.9, "user": 0.9},
        },
    ),
}
