"""The text of a key: `qg_<id>_<secret>`. The id finds its row, and may be told."""

from __future__ import annotations

import re
from base64 import b32encode

KEY = re.compile(r"qg_([a-z2-7]{8})_([a-z2-7]{52})")


def key_text(key_id: str, secret: str) -> str:
    return f"qg_{key_id}_{secret}"


def has_form_of_key(presented: str) -> bool:
    """Whether it could be a key. What has another form opens nothing, whatever is stored: it is a slip, not a guess.

    >>> has_form_of_key("qg_aaaaaaaa_" + "a" * 52), has_form_of_key("qg_aaaaaaaa_" + "a" * 51)
    (True, False)
    """
    return KEY.fullmatch(presented) is not None


def id_of_key(presented: str) -> str:
    """The part of a key that may be told; empty where it has not the form of one."""
    parts = KEY.fullmatch(presented)
    return parts[1] if parts else ""


def base32(data: bytes) -> str:
    """Small letters and digits only: safe in a URL and a shell, and free of the '_' that parts a key."""
    return b32encode(data).decode().rstrip("=").lower()
