"""The JSON shapes of models."""

from __future__ import annotations

from querygate.core.model_question import FAMILIES
from querygate.web.schemas.schema_parts import NUMBER, TEXT, TRUTH, WHOLE, Schema, array, record, ref

_RANGE = {
    "low": 2.45391,
    "high": 2.45391,
    "attained_low": None,
    "attained_high": None,
    "sharp": True,
    "may_be_null": False,
    "estimate": 2.45391,
}

MODEL_SCHEMAS: dict[str, Schema] = {
    "ModelQuestion": record(
        "A model of one dataset.",
        {
            "dataset": {**TEXT, "description": "Name of the dataset."},
            "family": {"enum": list(FAMILIES), "description": "Kind of model."},
            "formula": {
                **TEXT,
                "description": "`outcome ~ term + term`; of mantel-haenszel and standardised `outcome ~ group | "
                "stratum`. Terms are columns, conditions, `bands(column)`, or products `a:b`.",
            },
            "where": {**TEXT, "description": "Condition in SQL that selects records."},
            "exposure": {**TEXT, "description": "Column of the time at risk, of Poisson models."},
            "reference": {
                "type": "object",
                "additionalProperties": TEXT,
                "description": "By factor, the level that others are compared with. The default is the first.",
            },
            "weights": {
                "type": "object",
                "additionalProperties": NUMBER,
                "description": "By stratum, the standard population of standardised rates. The default is all records "
                "of the model.",
            },
            "readable": {**TRUTH, "description": "Add the table as text for people, rounded outward."},
            "explain": {**TRUTH, "description": "Add why the counts behind the model are as wide as they are."},
        },
        optional=("where", "exposure", "reference", "weights", "readable", "explain"),
        example={"dataset": "patients", "family": "logistic", "formula": "diabetes ~ bands(age) + sex"},
    ),
    "Model": record(
        "A row for each coefficient or level. Every range contains the result of fitting to the raw records.",
        {
            "query_id": {**TEXT, "description": "Of the answer that the model was computed from."},
            "dataset": TEXT,
            "version": WHOLE,
            "mode": TEXT,
            "columns": array(ref("AnswerColumn")),
            "rows": array(ref("Group")),
            "notes": array(TEXT),
            "elapsed_ms": NUMBER,
            "model": ref("ModelAbout"),
            "explanation": ref("Explanation"),
            "readable": ref("Readable"),
        },
        optional=("explanation", "readable"),
        example={
            "query_id": "q_01KJKB3Q00Z5V7N0M1C2X3Y4W5",
            "dataset": "patients",
            "version": 3,
            "mode": "interval",
            "columns": [
                {"name": "term", "kind": "key", "type": "category"},
                {"name": "level", "kind": "key", "type": "category"},
                {"name": "odds_ratio", "kind": "range", "type": "number"},
            ],
            "rows": [
                {
                    "term": "sex",
                    "level": "M",
                    "odds_ratio": _RANGE,
                    "_group": {"certain": True, "count": {"low": 412, "high": 412}},
                }
            ],
            "notes": [],
            "elapsed_ms": 210.5,
            "model": {
                "family": "logistic",
                "formula": "diabetes ~ sex",
                "where": "",
                "statement": "SELECT sex, COUNT(*) FILTER (WHERE diabetes) AS events, ... FROM patients GROUP BY 1",
                "patterns": 2,
                "exact": True,
                "records": {"low": 843, "high": 843},
                "reference": {"sex": "F"},
            },
        },
    ),
    "ModelAbout": record(
        "How the model was read, and the statement whose answer it was computed from.",
        {
            "family": TEXT,
            "formula": TEXT,
            "where": TEXT,
            "statement": TEXT,
            "patterns": {**WHOLE, "description": "Covariate patterns that may have records."},
            "exact": {**TRUTH, "description": "Whether all counts are known exactly, so that ranges are sharp."},
            "records": record("Records in the model.", {"low": WHOLE, "high": WHOLE}),
            "reference": {"type": "object", "additionalProperties": TEXT},
        },
    ),
}
