"""The JSON shapes of programs that people let in; names as in RFC 8628."""

from __future__ import annotations

from querygate.core.rights import SCOPES
from querygate.web.schemas.schema_parts import TEXT, WHOLE, Schema, array, record

DEVICE_SCHEMAS: dict[str, Schema] = {
    "DeviceRequest": record(
        "What the key may be used for.",
        {
            "scopes": {
                **array({"enum": list(SCOPES)}),
                "description": f"Among {', '.join(SCOPES)}. All of the role, if left out.",
            }
        },
        optional=("scopes",),
        example={"scopes": ["ask"]},
    ),
    "DeviceCode": record(
        "What the program shows to the person, and what it keeps.",
        {
            "device_code": {**TEXT, "description": "The program's own secret, to send when it asks."},
            "user_code": {**TEXT, "description": "What the person types, or compares."},
            "verification_uri": {**TEXT, "description": "The page where they do it."},
            "verification_uri_complete": {**TEXT, "description": "The same with the code in it."},
            "expires_in": {**WHOLE, "description": "Seconds for which both codes are valid."},
            "interval": {**WHOLE, "description": "Seconds to wait before asking again."},
        },
        example={
            "device_code": "5f0c...",
            "user_code": "BCDF-GHJK",
            "verification_uri": "https://gate.example.org/device",
            "verification_uri_complete": "https://gate.example.org/device?code=BCDF-GHJK",
            "expires_in": 600,
            "interval": 5,
        },
    ),
    "DeviceSecret": record(
        "Who asks.",
        {"device_code": {**TEXT, "description": "The program's secret."}},
        example={"device_code": "5f0c..."},
    ),
    "DeviceState": record(
        "Whether the program was let in. If so, its key is here; this is the only time it is shown.",
        {
            "state": {"enum": ["authorization_pending", "slow_down", "approved"]},
            "key": {**TEXT, "description": "The key, to be sent with requests."},
            "user": {**TEXT, "description": "Whose key it is."},
            "expires": {**TEXT, "description": "The moment at which it ends."},
        },
        optional=("key", "user", "expires"),
        example={
            "state": "approved",
            "key": "qg_k3f7q2ab_and 52 more letters and digits",
            "user": "ann",
            "expires": "2026-03-01T20:30:00.000000Z",
        },
    ),
}
