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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any, TypeAlias

GENESIS = "0" * 64
"""What the first entry names as the hash before it."""

ABOUT_ITSELF = b'"kind":"log.'
"""How entries are told that say something about the log itself: what was archived, discarded, read."""

Row: TypeAlias = "tuple[int, bytes, bytes, bytes | None, bytes | None, bytes | None, bytes, bytes, bytes]"
"""An entry as the database keeps it: seq, time, kind, query_id, user, dataset, body, prev, hash."""

Link: TypeAlias = "tuple[int, bytes, bytes, bytes]"
"""What the chain needs of an entry: seq, prev, the text that is hashed, hash."""

NO_ENTRY: Link = (-1, b"", b"", b"")

_JSON = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_LINE = re.compile(rb'\{"seq":(\d{1,19}),.*,"prev":"([0-9a-f]{64})","hash":"([0-9a-f]{64})"\}(?:\r?\n)?', re.DOTALL)
_SEAL = len(',"hash":""}') + 64
_PLAIN = re.compile(rb"[ !#-\[\]-~]*")


class ChainBroken(Exception):
    """The log is not what was written. `seq` is the first place where this shows."""

    def __init__(self, seq: int, reason: str) -> None:
        super().__init__(f"The log is broken at entry {seq}: {reason}.")
        self.seq = seq
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Verified:
    """An unbroken chain: how many entries, and the hash of the last. Noted elsewhere, it dates all of them.

    `since` is the first entry that was looked at; of discarded archives there is nothing left but their heads.
    """

    entries: int
    head: str
    since: int = 1


START = Verified(0, GENESIS)


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


def canonical(value: Any) -> str:
    """JSON in one spelling: ASCII, without spaces, without NaN. Mappings keep their order, for an answer is shown
    again with its columns as they stood; the hash covers the text, so nothing has to be put in order to check it.

    >>> canonical({"low": 1.5, "name": "Zoë"})
    '{"low":1.5,"name":"Zo\\\\u00eb"}'
    """
    return _JSON.encode(value)


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


# -- links -----------------------------------------------------------------------------------------------------


def links_of_rows(rows: Sequence[Row]) -> list[Link]:
    """The entries of a database: their texts, made from bytes as they lie there. Nothing is parsed."""
    # What would be escaped must not pass for itself: a text has one meaning.
    if not _PLAIN.fullmatch(b"".join(row[1] + (row[3] or b"") for row in rows)):
        return [_escaped(row) for row in rows]
    return [
        (
            seq,
            prev,
            b'{"seq":%d,"time":"%b","kind":%b,"query_id":%b,"user":%b,"dataset":%b,"body":%b,"prev":"%b"}'
            % (
                seq,
                time,
                _quoted(kind),
                b'"%b"' % query_id if query_id else _quoted(query_id),
                _quoted(user),
                _quoted(dataset),
                body,
                prev,
            ),
            sealed,
        )
        for seq, time, kind, query_id, user, dataset, body, prev, sealed in rows
    ]


def _escaped(row: Row) -> Link:
    entry = Entry(row[0], *(None if value is None else value.decode(errors="replace") for value in row[1:]))  # type: ignore[arg-type]
    return entry.seq, row[7], entry.text().encode(), row[8]


def links_of_lines(lines: Iterable[str | bytes]) -> Iterator[Link]:
    """The entries of an exported log: the text of a line is the line without its last member."""
    for line in lines:
        whole = line.encode(errors="surrogatepass") if isinstance(line, str) else line
        parts = _LINE.fullmatch(whole)
        if parts is None:
            yield NO_ENTRY
        else:
            yield int(parts[1]), parts[2], whole[: parts.end(3) + 2 - _SEAL] + b"}", parts[3]


def line_of(link: Link) -> bytes:
    """The entry as one line of an exported log, without the line end."""
    return b'%b,"hash":"%b"}' % (link[2][:-1], link[3])


@lru_cache(4096)
def _quoted(value: bytes | None) -> bytes:
    return canonical(None if value is None else value.decode(errors="replace")).encode()


# -- following -------------------------------------------------------------------------------------------------


class Chain:
    """Follows the entries of a log from `start` to its end, in one or several pieces.

    `known` is the result of an earlier check: it must still hold for the entries that there were then. `said` are the
    entries about the log itself that were met. Raises ChainBroken.
    """

    def __init__(self, known: Verified | None = None, start: Verified = START) -> None:
        self.entries, self.head, self.since = start.entries, start.head, start.entries + 1
        self.said: list[dict[str, Any]] = []
        self._known = known

    def follow(self, links: Iterable[Link]) -> None:
        entries, head = self.entries, self.head.encode()
        known = self._known.entries if self._known else -1
        for seq, prev, text, sealed in links:
            entries += 1
            if sha256(text).hexdigest().encode() != sealed:
                raise ChainBroken(entries, "it was altered" if text else "the line is not an entry")
            if seq != entries:
                raise ChainBroken(entries, "another entry stands in its place")
            if prev != head:
                raise ChainBroken(entries, "it does not follow the entry before")
            head = sealed
            if entries == known:
                self._compare(entries, head.decode())
            if ABOUT_ITSELF in text[45:90]:
                self._hear(entries, text)
        self.entries, self.head = entries, head.decode()

    def skip(self, last: int, head: str) -> None:
        """Pass over entries of which only the hash of the last is left."""
        if self._known and self.entries < self._known.entries <= last:
            if self._known.entries < last:
                raise ChainBroken(self._known.entries, "its archive was discarded, so it cannot be compared")
            self._compare(last, head)
        self.entries, self.head, self.since = last, head, last + 1

    def end(self) -> Verified:
        if self._known and self.entries < self._known.entries:
            raise ChainBroken(self.entries + 1, f"the log ends before it, but it had {self._known.entries} entries")
        return Verified(self.entries, self.head, self.since)

    def _hear(self, entries: int, text: bytes) -> None:
        try:
            self.said.append(json.loads(text))
        except ValueError:
            raise ChainBroken(entries, "the line is not an entry") from None

    def _compare(self, entries: int, head: str) -> None:
        if self._known and head != self._known.head:
            raise ChainBroken(entries, "it was another one when the log was last verified")


def verify_lines(lines: Iterable[str | bytes], known: Verified | None = None, start: Verified = START) -> Verified:
    """Check an exported log from its first line to its last; see `Chain` for `known` and `start`."""
    chain = Chain(known, start)
    chain.follow(links_of_lines(lines))
    return chain.end()
