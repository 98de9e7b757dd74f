"""The JSON shapes of users and keys."""

from __future__ import annotations

from typing import get_args

from querygate.control.account_terms import Source
from querygate.control.keys.keys import MOST_OVERLAP_HOURS, OVERLAP_HOURS
from querygate.core.rights import ROLES, SCOPES
from querygate.web.schemas.schema_parts import MAYBE_TEXT, NUMBER, TEXT, Schema, array, record, ref

_USER = {
    "name": "ann",
    "role": "researcher",
    "created": "2026-03-01T12:30:00.000000Z",
    "disabled": None,
    "project": "Hypertension 2026",
    "organisation": None,
    "removed": None,
    "source": "hand",
}
_KEY = {
    "id": "k3f7q2ab",
    "user": "ann",
    "created": "2026-03-01T12:30:00.000000Z",
    "revoked": None,
    "expires": "2027-01-01T00:00:00.000000Z",
    "used": None,
    "scopes": ["ask"],
    "source": "hand",
}
_SECRET = "qg_k3f7q2ab_and 52 more letters and digits"  # noqa: S105 - an example

_SOURCE: Schema = {
    "enum": list(get_args(Source)),
    "description": "Where it comes from: people (hand) or single sign-on (oidc).",
}
_KEY_FIELDS: Schema = {
    "id": TEXT,
    "user": TEXT,
    "created": TEXT,
    "revoked": {**MAYBE_TEXT, "description": "When it stopped working."},
    "expires": {**MAYBE_TEXT, "description": "The moment at which it ends."},
    "used": {**MAYBE_TEXT, "description": "When it was last used, to the minute."},
    "scopes": {"type": ["array", "null"], "items": {"enum": list(SCOPES)}, "description": "null: all of the role."},
    "source": _SOURCE,
}
_ROLE: Schema = {"enum": list(ROLES), "description": f"One of {', '.join(ROLES)}."}
_PROJECT: Schema = {**TEXT, "description": "Project whose answers are audited together; empty for none."}
_ORGANISATION: Schema = {**TEXT, "description": "Organisation whose answers are audited together; empty for none."}
_EXPIRES: Schema = {
    **TEXT,
    "description": "Last day (or moment) on which it works, in UTC. If left out, it does not expire.",
}
_OVERLAP: Schema = {
    **NUMBER,
    "minimum": 0,
    "maximum": MOST_OVERLAP_HOURS,
    "description": f"For how many hours the old key keeps working. {OVERLAP_HOURS:g}, if left out.",
}

ACCOUNT_SCHEMAS: dict[str, Schema] = {
    "User": record(
        "Somebody with an account.",
        {
            "name": TEXT,
            "role": _ROLE,
            "created": TEXT,
            "disabled": {**MAYBE_TEXT, "description": "When the account was closed."},
            "project": MAYBE_TEXT,
            "organisation": MAYBE_TEXT,
            "removed": {**MAYBE_TEXT, "description": "When they were removed."},
            "source": {**_SOURCE, "description": "Where the role comes from: people (hand) or single sign-on (oidc)."},
        },
        example=_USER,
    ),
    "Users": record("The users, by name.", {"users": array(ref("User"))}, example={"users": [_USER]}),
    "NewUser": record(
        "An account to open.",
        {
            "name": {**TEXT, "description": "1 to 64 letters, digits and . _ @ -"},
            "role": _ROLE,
            "project": _PROJECT,
            "organisation": _ORGANISATION,
        },
        optional=("project", "organisation"),
        example={"name": "ann", "role": "researcher", "project": "Hypertension 2026"},
    ),
    "UserChange": record(
        "What to change; whatever is left out stays as it is.",
        {"role": _ROLE, "project": _PROJECT, "organisation": _ORGANISATION},
        optional=("role", "project", "organisation"),
        example={"role": "reviewer"},
    ),
    "Key": record("A key, without its secret.", _KEY_FIELDS, example=_KEY),
    "Keys": record("Keys, oldest first.", {"keys": array(ref("Key"))}, example={"keys": [_KEY]}),
    "IssuedKey": record(
        "A new key. This is the only time it is shown.",
        {**_KEY_FIELDS, "key": {**TEXT, "description": "The whole key, to be sent with requests."}},
        example={**_KEY, "key": _SECRET},
    ),
    "NewKey": record(
        "A key to issue.",
        {
            "user": {**TEXT, "description": "Whose key it will be."},
            "expires": _EXPIRES,
            "scopes": {
                **array({"enum": list(SCOPES)}),
                "description": f"Among {', '.join(SCOPES)}. All of the role, if left out.",
            },
        },
        optional=("expires", "scopes"),
        example={"user": "ann", "expires": "2026-12-31", "scopes": ["ask"]},
    ),
    "Rotation": record(
        "How to replace a key.",
        {"overlap_hours": _OVERLAP, "expires": _EXPIRES},
        optional=("overlap_hours", "expires"),
        example={"overlap_hours": 48, "expires": "2026-12-31"},
    ),
    "OwnRotation": record(
        "How to replace your key.",
        {"overlap_hours": _OVERLAP},
        optional=("overlap_hours",),
        example={"overlap_hours": 1},
    ),
}
