"""An entry of the log in a line that people can read; all of it is on the entry's own page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from querygate.core.json_body import JsonValue

LONGEST = 160
_HASH = re.compile("[0-9a-f]{40,}")
_PLAIN = re.compile(r'\{(?:"\w+":(?:"(?:[^"\\]|\\.)*"|[\w.+-]+),)*')


def entry_words(text: str) -> str:
    """What a body says, first things first; parts within parts are left out.

    >>> entry_words('{"version":1,"rows":5735,"policy_hash":"' + 64 * "a" + '","file":{"sha256":"b"},"until":null}')
    'version 1, rows 5,735, policy hash aaaaaaaa…'
    >>> entry_words('{"k":10,"revealed":true,"cases":[{"id":"c')
    'k 10, revealed'
    """
    told = ", ".join(_pairs(_read(text)))
    return told if len(told) <= LONGEST else told[: LONGEST - 1] + "…"


def _read(text: str) -> dict[str, JsonValue]:
    """A body, or of one that was cut off what comes before its first part within a part."""
    try:
        body = json.loads(text)
    except ValueError:
        plain = _PLAIN.match(text)
        body = json.loads(plain.group().rstrip(",") + "}") if plain else {}
    return body if isinstance(body, dict) else {}


def _pairs(body: dict[str, JsonValue]) -> Iterator[str]:
    for name, value in body.items():
        said = _said(value)
        if said:
            yield f"{name.replace('_', ' ')} {said}"
        elif value is True:
            yield name.replace("_", " ")


def _said(value: JsonValue) -> str:
    if value is None or isinstance(value, (bool, dict)):
        return ""
    if isinstance(value, list):
        return " and ".join(_said(one) for one in value if not isinstance(one, (dict, list)))
    if isinstance(value, int):
        return f"{value:,}"
    text = str(value)
    return f"{text[:8]}…" if _HASH.fullmatch(text) else text
