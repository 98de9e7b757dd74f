"""The JSON shape of a risk report: the table of measures whole, the figures behind it as objects."""

from __future__ import annotations

from querygate.web.schemas.schema_parts import MAYBE_TEXT, NUMBER, TEXT, WHOLE, Schema, array, record, ref

MAYBE_NUMBER: Schema = {"type": ["number", "null"]}
FIGURES: Schema = {"type": "object", "additionalProperties": {}}
MAYBE_FIGURES: Schema = {"type": ["object", "null"], "additionalProperties": {}}

MEMBERSHIP_POWER: Schema = record(
    "The share of people found at 5 % false positives: at most, and by two tests where there are enough people.",
    {"sites": WHOLE, "most": NUMBER, "homer": MAYBE_NUMBER, "likelihood_ratio": MAYBE_NUMBER},
)

RISK_EXAMPLE = {
    "format": 1,
    "dataset": "patients",
    "title": "Blood pressure study",
    "version": 3,
    "made": "2026-03-02T10:00:00.000000Z",
    "policy_hash": "9f2b6c1d8e3a4f507b6c8d9e0f1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c",
    "after": "published",
    "records": {"raw": 843, "after": 843},
    "columns": {"quasi": ["age", "sex"], "sensitive": ["sbp"]},
    "register": None,
    "disease": None,
    "safe_harbor": [
        {"column": "age", "treatment": "age", "letter": "C", "does": "90 and over together", "why": "its name"}
    ],
    "sides": {
        "raw": {"classes": 160},
        "safe_harbor": {"classes": 151},
        "after": {"classes": 98},
        "limited": {"classes": 160},
    },
    "verdict": [
        {
            "measure": "prosecutor_average",
            "group": "prosecutor",
            "label": "average risk",
            "unit": "share",
            "raw": 0.19,
            "safe_harbor": 0.179,
            "after": 0.116,
            "risk_against_safe_harbor": "lower",
            "limited": 0.19,
        }
    ],
    "words": ["The release is not riskier than Safe Harbor on any of the 12 measures, on the same records."],
    "notes": [],
    "limited": [
        {"column": "age", "treatment": "", "letter": "", "does": "unchanged", "why": "may stay in a limited data set"}
    ],
    "alleles": [],
}

RISK_SCHEMAS: dict[str, Schema] = {
    "RiskReport": record(
        "What could be found out about people: from the raw records, a limited data set, Safe Harbor, and the release. "
        "Only aggregates.",
        {
            "format": {**WHOLE, "description": "Increases when a field changes its meaning."},
            "dataset": TEXT,
            "title": TEXT,
            "version": {"type": ["integer", "null"]},
            "made": {**TEXT, "description": "Time of the report, in UTC."},
            "policy_hash": TEXT,
            "after": {
                "enum": ["published", "release", "policy"],
                "description": "The served version, a given release, or what the policy would produce.",
            },
            "records": record("How many there are.", {"raw": WHOLE, "after": WHOLE}),
            "columns": record("Which were measured.", {"quasi": array(TEXT), "sensitive": array(TEXT)}),
            "register": {
                "anyOf": [
                    record(
                        "The register of the population.",
                        {"people": WHOLE, "kinds": WHOLE, "columns": array(TEXT), "not_in_register": array(TEXT)},
                    ),
                    {"type": "null"},
                ]
            },
            "disease": {
                "anyOf": [
                    record(
                        "Being listed is itself the disclosure: for everybody, or by a column.", {"column": MAYBE_TEXT}
                    ),
                    {"type": "null"},
                ]
            },
            "safe_harbor": array(
                record(
                    "What Safe Harbor does to a quasi-identifier.",
                    {"column": TEXT, "treatment": TEXT, "letter": TEXT, "does": TEXT, "why": TEXT},
                )
            ),
            "sides": record(
                "All figures of each side, and sentences. Reports made before there was one have no limited data set.",
                {"raw": FIGURES, "safe_harbor": FIGURES, "after": FIGURES, "limited": MAYBE_FIGURES},
                optional=("limited",),
            ),
            "verdict": {**array(ref("RiskMeasure")), "description": "The sides next to each other."},
            "words": array(TEXT),
            "notes": {**array(TEXT), "description": "What limits the figures."},
            "limited": array(
                record(
                    "What a limited data set does to a quasi-identifier; `letter` is its place in the rule.",
                    {"column": TEXT, "treatment": TEXT, "letter": TEXT, "does": TEXT, "why": TEXT},
                )
            ),
            "alleles": array(
                record(
                    "What allele frequencies of a column of sequences would tell about who is included.",
                    {
                        "column": TEXT,
                        "people": WHOLE,
                        "unguarded": MEMBERSHIP_POWER,
                        "guarded": MEMBERSHIP_POWER,
                        "bound": NUMBER,
                        "rare": NUMBER,
                    },
                )
            ),
            "genes": array(
                record(
                    "Diagnoses caused by a single gene, in a column of codes beside sequences; `alone` counts "
                    "the diseases that only one record has.",
                    {
                        "column": TEXT,
                        "beside": array(TEXT),
                        "records": WHOLE,
                        "alone": WHOLE,
                        "known": array(
                            record(
                                "A disease, its gene, and how many records have it.",
                                {"disease": TEXT, "gene": TEXT, "records": WHOLE},
                            )
                        ),
                    },
                )
            ),
        },
        optional=("limited", "alleles", "genes"),
        example=RISK_EXAMPLE,
    ),
    "RiskMeasure": record(
        "One measure on each side; null if not measured. For shares lower is better, for counts higher.",
        {
            "measure": TEXT,
            "group": {"enum": ["prosecutor", "journalist", "marketer", "alone", "instance", "told", "known"]},
            "label": TEXT,
            "unit": {"enum": ["share", "count"]},
            "raw": MAYBE_NUMBER,
            "safe_harbor": MAYBE_NUMBER,
            "after": MAYBE_NUMBER,
            "risk_against_safe_harbor": {"enum": ["lower", "same", "higher", None]},
            "limited": MAYBE_NUMBER,
        },
        optional=("limited",),
    ),
}
