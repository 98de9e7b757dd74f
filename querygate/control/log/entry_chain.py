"""The chain: each entry of the log carries the hash of the one before, so none can change unnoticed.

An entry is one line of JSON that ends in its own hash. The hash is SHA-256 over the bytes of the line without that last
member, so an exported log can be checked with any tool, and no parser's idea of a number matters:

    {"seq":1,"time":"...","kind":"...","query_id":null,"user":"...","dataset":null,"body":{...},"prev":"..."}

The chain reveals a line that was altered, removed, inserted or moved, unless every later hash was recomputed. Somebody
who can rewrite the whole file can do that, or cut off its end; only a head kept elsewhere (`known`) reveals it.
Schneier and Kelsey, Secure Audit Logs to Support Computer Forensics, ACM TISSEC 2(2), 1999.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple, TypeAlias, TypedDict

GENESIS = "0" * 64
"""What the first entry names as the hash before it."""

ABOUT_ITSELF = b'"kind":"log.'
"""How entries are described that say something about the log itself: what was archived, discarded, read."""

_JSON = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


class EntryLinks(NamedTuple):
    """What the chain needs from consecutive entries: their numbers, the previous hashes they name, the texts that
    are hashed, and their own hashes."""

    seqs: Sequence[int]
    prevs: Sequence[bytes]
    texts: Sequence[bytes]
    seals: Sequence[bytes]


class ChainBroken(Exception):
    """The log is not what was written. `seq` is the first entry where this shows."""

    def __init__(self, seq: int, reason: str) -> None:
        super().__init__(f"The log is broken at entry {seq}: {reason}.")
        self.seq = seq
        self.reason = reason


@dataclass(frozen=True, slots=True)
class VerifiedChain:
    """An unbroken chain: how many entries, and the hash of the last. Kept elsewhere, it dates all of them.

    `since` is the first entry that was checked; only the heads of discarded archives are left.
    """

    entries: int
    head: str
    since: int = 1


START = VerifiedChain(0, GENESIS)


LogBody: TypeAlias = dict[str, Any]
"""What an entry says. Its shape goes by the kind of the entry."""


class LogEvent(TypedDict):
    """An entry as a line of an exported log is read."""

    seq: int
    time: str
    kind: str
    query_id: str | None
    user: str | None
    dataset: str | None
    body: LogBody
    prev: str
    hash: str


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
        return chained_text(
            self.seq, self.time, self.kind, self.query_id, self.user, self.dataset, self.body, self.prev
        )

    def event(self) -> LogEvent:
        """The entry as a line of an exported log is read."""
        return {
            "seq": self.seq,
            "time": self.time,
            "kind": self.kind,
            "query_id": self.query_id,
            "user": self.user,
            "dataset": self.dataset,
            "body": json.loads(self.body),
            "prev": self.prev,
            "hash": self.hash,
        }


def canonical(value: object) -> str:
    """JSON in one spelling: ASCII, without spaces, without NaN. Mappings keep their order, because an answer is shown
    again with its columns in order; the hash covers the text, so checking needs no sorting.

    >>> canonical({"low": 1.5, "name": "Zoë"})
    '{"low":1.5,"name":"Zo\\\\u00eb"}'
    """
    return _JSON.encode(value)


def chained_text(
    seq: int, time: str, kind: str, query_id: str | None, user: str | None, dataset: str | None, body: str, prev: str
) -> str:
    """The text of an entry that is hashed."""
    told = {"seq": seq, "time": time, "kind": kind, "query_id": query_id, "user": user, "dataset": dataset}
    return f'{canonical(told)[:-1]},"body":{body},"prev":{canonical(prev)}}}'


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


# -- following -------------------------------------------------------------------------------------------------


class Chain:
    """Follows the entries of a log from `start` to its end, in one or more pieces.

    `known` is the result of an earlier check, which must still hold for the entries at that time. `said` collects
    entries about the log itself. Raises ChainBroken.
    """

    def __init__(self, known: VerifiedChain | None = None, start: VerifiedChain = START) -> None:
        self.entries, self.head, self.since = start.entries, start.head, start.entries + 1
        self.said: list[LogEvent] = []
        self._known = known

    def follow(self, stretches: Iterable[EntryLinks]) -> None:
        for links in stretches:
            if not self._stride(links):
                for link in zip(*links, strict=True):
                    self._step(*link)

    def _stride(self, links: EntryLinks) -> bool:
        """Take many entries at once if all of them are right; otherwise take none, so that going step by step finds
        the first wrong one."""
        seqs, prevs, texts, seals = links
        first, last = self.entries + 1, self.entries + len(seqs)
        if (
            (self._known and first <= self._known.entries <= last)
            or list(seqs) != list(range(first, last + 1))
            or [sha256(text).hexdigest().encode() for text in texts] != list(seals)
            or list(prevs) != [self.head.encode(), *seals[:-1]]
        ):
            return False
        for seq, text in zip(seqs, texts, strict=True):
            if ABOUT_ITSELF in text[45:90]:
                self._hear(seq, text)
        self.entries, self.head = last, seals[-1].decode()
        return True

    def _step(self, seq: int, prev: bytes, text: bytes, sealed: bytes) -> None:
        entries = self.entries + 1
        if sha256(text).hexdigest().encode() != sealed:
            raise ChainBroken(entries, "it was altered" if text else "the line is not an entry")
        if seq != entries:
            raise ChainBroken(entries, "another entry is in its place")
        if prev != self.head.encode():
            raise ChainBroken(entries, "it does not follow the previous entry")
        self.entries, self.head = entries, sealed.decode()
        if self._known and entries == self._known.entries:
            self._compare(entries, self.head)
        if ABOUT_ITSELF in text[45:90]:
            self._hear(entries, text)

    def skip(self, last: int, head: str) -> None:
        """Skip entries of which only the last hash is left."""
        if self._known and self.entries < self._known.entries <= last:
            if self._known.entries < last:
                raise ChainBroken(self._known.entries, "its archive was discarded, so it cannot be compared")
            self._compare(last, head)
        self.entries, self.head, self.since = last, head, last + 1

    def end(self) -> VerifiedChain:
        if self._known and self.entries < self._known.entries:
            raise ChainBroken(
                self.entries + 1, f"the log ends before it, but it used to have {self._known.entries} entries"
            )
        return VerifiedChain(self.entries, self.head, self.since)

    def _hear(self, entries: int, text: bytes) -> None:
        try:
            self.said.append(json.loads(text))
        except ValueError:
            raise ChainBroken(entries, "the line is not an entry") from None

    def _compare(self, entries: int, head: str) -> None:
        if self._known and head != self._known.head:
            raise ChainBroken(entries, "it differs from what was there at the last verification")


def storable(text: str | None) -> str | None:
    """The text without lone surrogates and U+0000, which JSON can contain and no database can store, or not every."""
    return None if text is None else text.encode(errors="replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
