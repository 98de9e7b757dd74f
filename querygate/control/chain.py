"""The chain: each entry of the log carries the hash of the one before, so none can change unseen.

An entry is one line of JSON that ends in its own hash. The hash is SHA-256 over the bytes of the line without that
last member, so an exported log can be checked with any tool, and no parser's idea of a number matters:

    {"seq":1,"time":"...","kind":"...","query_id":null,"user":"...","dataset":null,"body":{...},"prev":"..."}

What the chain shows: a line altered, removed, inserted or moved, unless every later hash was computed anew. Whoever
can rewrite the whole file can do that, or cut off its end; it takes a head noted elsewhere (`known`) to see it.
Schneier and Kelsey, Secure Audit Logs to Support Computer Forensics, ACM TISSEC 2(2), 1999.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

GENESIS = "0" * 64
"""What the first entry names as the hash before it."""

_JSON = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_LINE = re.compile(r'(.*),"hash":"([0-9a-f]{64})"\}', re.DOTALL)


class ChainBroken(Exception):
    """The log is not what was written. `seq` is the first place where this shows."""

    def __init__(self, seq: int, reason: str) -> None:
        super().__init__(f"The log is broken at entry {seq}: {reason}.")
        self.seq = seq
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Verified:
    """An unbroken chain: how many entries, and the hash of the last. Noted elsewhere, it dates all of them."""

    entries: int
    head: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One event. `body` is canonical JSON; `hash` seals everything before it."""

    seq: int
    time: str
    kind: str
    query_id: str | None
    user: str | None
    dataset: str | None
    body: str
    prev: str
    hash: str = ""

    def text(self) -> str:
        """What is hashed."""
        fields = {name: getattr(self, name) for name in ("seq", "time", "kind", "query_id", "user", "dataset")}
        return f'{canonical(fields)[:-1]},"body":{self.body},"prev":{canonical(self.prev)}}}'

    def line(self) -> str:
        """The entry as one line of an exported log, without the line end."""
        return f'{self.text()[:-1]},"hash":{canonical(self.hash)}}}'


def canonical(value: Any) -> str:
    """JSON in one spelling: ASCII, without spaces, without NaN. Mappings keep their order, for an answer is shown
    again with its columns as they stood; the hash covers the text, so nothing has to be put in order to check it.

    >>> canonical({"low": 1.5, "name": "Zoë"})
    '{"low":1.5,"name":"Zo\\\\u00eb"}'
    """
    return _JSON.encode(value)


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def verify_lines(lines: Iterable[str], known: Verified | None = None) -> Verified:
    """Check an exported log from its first line to its last.

    `known` is the result of an earlier check: it must still hold for the entries that there were then.
    Raises ChainBroken.
    """
    entries, head = 0, GENESIS
    for line in lines:
        entries += 1
        head = _check_line(line.rstrip("\r\n"), entries, head)
        if known and entries == known.entries and head != known.head:
            raise ChainBroken(entries, "it was another one when the log was last verified")
    if known and entries < known.entries:
        raise ChainBroken(entries + 1, f"the log ends before it, but it had {known.entries} entries")
    return Verified(entries, head)


def _check_line(line: str, seq: int, prev: str) -> str:
    """The hash of the line, provided that it is entry `seq` and follows `prev`."""
    parts = _LINE.fullmatch(line)
    if parts is None:
        raise ChainBroken(seq, "the line is not an entry")
    text, sealed = parts[1] + "}", parts[2]
    if digest(text) != sealed:
        raise ChainBroken(seq, "it was altered")
    try:
        fields = json.loads(text)
    except ValueError:
        raise ChainBroken(seq, "the line is not an entry") from None
    if fields.get("seq") != seq:
        raise ChainBroken(seq, "another entry stands in its place")
    if fields.get("prev") != prev:
        raise ChainBroken(seq, "it does not follow the entry before")
    return sealed
