"""Entries as the chain takes them, read from the database, an archive or an export.

A log of several years has millions of entries. So they are handled in batches, by columns, and parsed as little as
possible: a text is built from the stored bytes, or cut from the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import TypeAlias

from querygate.control.log.entry_chain import START, Chain, Entry, EntryLinks, VerifiedChain, canonical

STRETCH = 64
"""Entries taken at once: few enough to lie in the fast memory next to a processor until they are hashed."""

Row: TypeAlias = "tuple[int, bytes, bytes, bytes | None, bytes | None, bytes | None, bytes, bytes, bytes]"
"""An entry as the database keeps it: seq, time, kind, query_id, user, dataset, body, prev, hash."""

Link: TypeAlias = "tuple[int, bytes, bytes, bytes]"
"""One entry of `EntryLinks`."""

NO_ENTRY: Link = (-1, b"", b"", b"")

_PLAIN = re.compile(rb"[ !#-\[\]-~]*")
_SEAL = len(',"hash":""}') + 64
_PREV = len(',"prev":""}') + 64


def links_of_rows(rows: Sequence[Row]) -> EntryLinks:
    """The entries of a database."""
    seqs, times, kinds, query_ids, users, datasets, bodies, prevs, seals = zip(*rows, strict=True)
    try:
        # What would be escaped must not pass for itself: a text has one meaning.
        if not _PLAIN.fullmatch(b"".join([*times, *filter(None, query_ids)])):
            return _links(map(_careful, rows))
        frames = map(_frame, kinds, users, datasets)
        texts = [
            b"".join(
                (
                    b'{"seq":%d,"time":"' % seq,
                    time,
                    after_time,
                    b"null" if query_id is None else b'"%b"' % query_id,
                    after_query,
                    body,
                    b',"prev":"',
                    prev,
                    b'"}',
                )
            )
            for seq, time, (after_time, after_query), query_id, body, prev in zip(
                seqs, times, frames, query_ids, bodies, prevs, strict=True
            )
        ]
    except (TypeError, AttributeError):  # a value is no text: somebody was at the file itself
        return _links(map(_careful, rows))
    return EntryLinks(seqs, prevs, texts, seals)


@lru_cache(4096)
def _frame(kind: bytes, user: bytes | None, dataset: bytes | None) -> tuple[bytes, bytes]:
    """The text between time and query, and between query and body: the same in many entries."""
    told = {"kind": _text(kind), "user": _text(user), "dataset": _text(dataset)}
    kind_only, rest = canonical({"kind": told.pop("kind")}), canonical(told)
    return f'",{kind_only[1:-1]},"query_id":'.encode(), f',{rest[1:-1]},"body":'.encode()


def _careful(row: Row) -> Link:
    """One entry, whatever its row contains."""
    try:
        entry = Entry(row[0], *map(_text, row[1:]))  # type: ignore[arg-type]
    except AttributeError:
        return NO_ENTRY
    return entry.seq, row[7], entry.text().encode(), row[8]


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode(errors="replace")


def links_of_lines(lines: Iterable[str | bytes]) -> Iterator[EntryLinks]:
    """The entries of an exported log: the text of a line is the line without its last member."""
    lines = iter(lines)
    while stretch := list(islice(lines, STRETCH)):
        yield _links(map(_link_of_line, stretch))


def _link_of_line(line: str | bytes) -> Link:
    whole = line.encode(errors="surrogatepass") if isinstance(line, str) else line
    if whole[-1:] == b"\n":
        whole = whole[: -2 if whole[-2:-1] == b"\r" else -1]
    text, seq = whole[:-_SEAL] + b"}", whole[7 : whole.find(b",")]
    if (
        whole[:7] == b'{"seq":'
        and seq.isdigit()
        and len(seq) < 20
        and text[-_PREV : 9 - _PREV] == b',"prev":"'
        and text[-2:] == b'"}'
        and whole[-_SEAL : 9 - _SEAL] == b',"hash":"'
        and whole[-2:] == b'"}'
    ):
        return int(seq), text[-66:-2], text, whole[-66:-2]
    return NO_ENTRY


def _links(links: Iterable[Link]) -> EntryLinks:
    return EntryLinks(*zip(*links, strict=True))


def lines_of(links: EntryLinks) -> Iterator[bytes]:
    """The entries as lines of an exported log, without the line ends."""
    for text, sealed in zip(links.texts, links.seals, strict=True):
        yield b'%b,"hash":"%b"}' % (text[:-1], sealed)


def verify_lines(
    lines: Iterable[str | bytes], known: VerifiedChain | None = None, start: VerifiedChain = START
) -> VerifiedChain:
    """Check an exported log from its first line to its last; see `Chain` for `known` and `start`."""
    chain = Chain(known, start)
    chain.follow(links_of_lines(lines))
    return chain.end()
