"""The JSON shapes of saved queries."""

from __future__ import annotations

from querygate.core.written_text import LONGEST_DESCRIPTION, LONGEST_NAME, LONGEST_STATEMENT
from querygate.web.schemas.schema_parts import MAYBE_TEXT, TEXT, TRUTH, Schema, array, record, ref

EXAMPLE = {
    "id": "s_01KJKB3Q00Z5V7N0M1C2X3Y4W5",
    "owner": "ann",
    "name": "Blood pressure by sex",
    "description": "For table 1 of the paper.",
    "dataset": "survey",
    "sql": "SELECT sex, AVG(systolic) FROM survey GROUP BY sex",
    "shared": "2026-03-01T12:30:00.000000Z",
    "created": "2026-03-01T12:30:00.000000Z",
    "changed": "2026-03-01T12:30:00.000000Z",
}

_NAME: Schema = {**TEXT, "minLength": 1, "maxLength": LONGEST_NAME, "description": "Its name, on one line."}
_DESCRIPTION: Schema = {**TEXT, "maxLength": LONGEST_DESCRIPTION, "description": "What it is for."}
_SQL: Schema = {**TEXT, "minLength": 1, "maxLength": LONGEST_STATEMENT, "description": "The statement."}
_SHARED: Schema = {**TRUTH, "description": "true: others who may ask the dataset can read it, without an answer."}

SAVED_SCHEMAS: dict[str, Schema] = {
    "SavedQuery": record(
        "A query that somebody keeps. It has no answer.",
        {
            "id": TEXT,
            "owner": TEXT,
            "name": TEXT,
            "description": TEXT,
            "dataset": TEXT,
            "sql": TEXT,
            "shared": {**MAYBE_TEXT, "description": "When it was shared; null if it is not."},
            "created": TEXT,
            "changed": TEXT,
        },
        example=EXAMPLE,
    ),
    "SavedQueries": record(
        "Saved queries, the latest first.", {"queries": array(ref("SavedQuery"))}, example={"queries": [EXAMPLE]}
    ),
    "NewSavedQuery": record(
        "A query to be kept.",
        {
            "name": _NAME,
            "description": _DESCRIPTION,
            "dataset": {**TEXT, "description": "Name of the dataset."},
            "sql": _SQL,
            "shared": _SHARED,
        },
        optional=("description", "shared"),
        example={"name": "Blood pressure by sex", "dataset": "survey", "sql": "SELECT COUNT(*) FROM survey"},
    ),
    "SavedQueryChange": record(
        "What to change. Whatever is left out stays as it is; the dataset cannot be changed.",
        {"name": _NAME, "description": _DESCRIPTION, "sql": _SQL, "shared": _SHARED},
        optional=("name", "description", "sql", "shared"),
        example={"shared": True},
    ),
}
