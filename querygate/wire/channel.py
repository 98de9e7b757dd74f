"""One connection: whole messages in, bytes out, each within its time and size.

A sender has to finish what it has begun, and a reader has to read on, within `read_s`; between messages a connection
may be quiet for `idle_s`. What a message says of its length is believed only up to what is accepted, before anything is
kept.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
import struct

from querygate.core.errors import NotPermitted
from querygate.wire.messages import malformed

LONGEST_STARTUP = 10_000
CHUNK_BYTES = 64 * 1024
"""What is written before the other end has to have read some of it."""


class Channel:
    """A connection to a client."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, read_s: float, idle_s: float, longest: int
    ) -> None:
        self._reader, self._writer = reader, writer
        self._read_s, self._idle_s, self._longest = read_s, idle_s, longest
        self._waiting = 0
        self.is_encrypted = False
        # Several small messages make an answer; none must wait until the other end has confirmed the one before.
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @property
    def address(self) -> str:
        """Of the other end."""
        peer = self._writer.get_extra_info("peername")
        return str(peer[0]) if peer else ""

    @property
    def is_local(self) -> bool:
        """Does it come from this machine?"""
        try:
            found = ipaddress.ip_address(self.address)
        except ValueError:
            return False
        mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
        return (mapped or found).is_loopback

    async def read_startup(self) -> bytes:
        """The first packet, which has no letter."""
        (size,) = struct.unpack("!I", await self._reader.readexactly(4))
        if not 8 <= size <= LONGEST_STARTUP:
            raise malformed("The first packet does not have a length that PostgreSQL's protocol knows.")
        return await self._reader.readexactly(size - 4)

    async def read(self, longest: int | None = None) -> tuple[bytes, bytes]:
        """The next message: its letter and its body."""
        async with asyncio.timeout(self._idle_s):
            kind = await self._reader.readexactly(1)
        async with asyncio.timeout(self._read_s):
            (size,) = struct.unpack("!I", await self._reader.readexactly(4))
            if size < 4:
                raise malformed("A message does not have a valid length.")
            if size > (self._longest if longest is None else longest):
                raise NotPermitted("QG308", "The message is larger than this gate accepts.", "Send less at once.")
            return kind, await self._reader.readexactly(size - 4)

    async def write(self, data: bytes) -> None:
        """Write, and wait now and then until the other end has read."""
        self._writer.write(data)
        self._waiting += len(data)
        if self._waiting >= CHUNK_BYTES:
            await self.flush()

    async def flush(self) -> None:
        async with asyncio.timeout(self._read_s):
            await self._writer.drain()
        self._waiting = 0

    async def start_tls(self, context: ssl.SSLContext) -> None:
        """Say yes to TLS. What was sent before it began, unencrypted, must not pass for what comes encrypted."""
        transport = self._writer.transport
        assert isinstance(transport, asyncio.ReadTransport)  # noqa: S101  # of a socket
        transport.pause_reading()
        if self._reader._buffer:  # type: ignore[attr-defined]  # there is no other way to know
            raise malformed("Something was sent unencrypted after encryption had been asked for.")
        self._writer.write(b"S")
        await self._writer.start_tls(context, ssl_handshake_timeout=self._read_s)
        self.is_encrypted = True

    @property
    def has_ended(self) -> bool:
        """Has the other end hung up?"""
        return self._reader.at_eof()

    def abort(self) -> None:
        """End it without a word; whoever reads from it finds it gone."""
        self._writer.transport.abort()

    async def close(self) -> None:
        self._writer.close()
        try:
            async with asyncio.timeout(self._read_s):
                await self._writer.wait_closed()
        except (OSError, TimeoutError):
            self.abort()
