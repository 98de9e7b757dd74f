"""Exporting the log with the site's signature: nothing is signed without being checked."""

from __future__ import annotations

from typing import BinaryIO

from querygate.control.ids import stamp_now
from querygate.control.log.entry_chain import START, Chain, VerifiedChain
from querygate.control.log.entry_links import lines_of, links_of_lines
from querygate.control.log.log import Log
from querygate.control.log.log_reader import read_lines, read_segments
from querygate.control.log.signature import SignedStatement, SiteKey


def export_signed(log: Log, key: SiteKey, stream: BinaryIO) -> bytes:
    """Write every entry, and return the signed statement. Raises ChainBroken if the log is broken."""
    with log.database.snapshot() as connection:
        gone = [segment for segment in read_segments(connection) if segment.discarded]
        start = VerifiedChain(gone[-1].last, gone[-1].head) if gone else START
        chain = Chain(start=start)
        for links in links_of_lines(read_lines(connection, log.archives)):
            chain.follow((links,))
            stream.writelines(line + b"\n" for line in lines_of(links))
    return key.sign(SignedStatement(start.entries + 1, chain.entries, start.head, chain.head, stamp_now(log.clock)))
