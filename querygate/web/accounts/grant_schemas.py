"""The JSON shapes of grants."""

from __future__ import annotations

from typing import get_args

from querygate.control.account_terms import Source
from querygate.control.grants import GRANTEES
from querygate.core.rights import MODES
from querygate.web.schemas.schema_parts import MAYBE_TEXT, TEXT, Schema, array, record, ref

EXAMPLE = {
    "id": "g_01KJKB3Q00Z5V7N0M1C2X3Y4W5",
    "whose": "user",
    "name": "ann",
    "dataset": "survey",
    "modes": ["interval"],
    "until": "2027-01-01T00:00:00.000000Z",
    "created": "2026-03-01T12:30:00.000000Z",
    "by": "carl",
    "revoked": None,
    "source": "hand",
}

GRANT_SCHEMAS: dict[str, Schema] = {
    "Grant": record(
        "Who may ask which dataset.",
        {
            "id": TEXT,
            "whose": {"enum": list(GRANTEES)},
            "name": {**TEXT, "description": "Of the user, the project or the organisation; empty for everyone."},
            "dataset": {**TEXT, "description": "Name of the dataset, or * for every one."},
            "modes": array({"enum": list(MODES)}),
            "until": {**MAYBE_TEXT, "description": "The moment at which it ends."},
            "created": TEXT,
            "by": TEXT,
            "revoked": {**MAYBE_TEXT, "description": "When it ended."},
            "source": {"enum": list(get_args(Source)), "description": "People (hand), or single sign-on (oidc)."},
        },
        example=EXAMPLE,
    ),
    "Grants": record("All grants, oldest first.", {"grants": array(ref("Grant"))}, example={"grants": [EXAMPLE]}),
    "NewGrant": record(
        "What is to be granted.",
        {
            "to": {"enum": list(GRANTEES), "description": "To whom: a user, a project, an organisation, or everyone."},
            "name": {**TEXT, "description": "The name of the user, the project or the organisation."},
            "dataset": {**TEXT, "description": "Name of the dataset, or * for every one."},
            "modes": {
                **array({"enum": list(MODES)}),
                "description": "Kinds of answers: interval, laplace, extract. All, if left out.",
            },
            "until": {**TEXT, "description": "A date (to its end) or a time, in UTC."},
        },
        optional=("name", "modes", "until"),
        example={"to": "user", "name": "ann", "dataset": "survey", "modes": ["interval"], "until": "2026-12-31"},
    ),
}
