"""Messages of PostgreSQL's protocol 3 as bytes: what the server writes, and how what a client sent is read.

A message is a letter, its length (four bytes, itself included) and its body. Texts end with a zero byte.

>>> command_complete("SELECT 1")
b'C\\x00\\x00\\x00\\rSELECT 1\\x00'
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence

from querygate.core.errors import NotPermitted, SyntaxRefused

PROTOCOL = 3 << 16
SSL_REQUEST, GSS_REQUEST, CANCEL_REQUEST = 80877103, 80877104, 80877102


def malformed(detail: str) -> NotPermitted:
    """QG306: what was sent is not what the protocol says. The connection ends with it."""
    return NotPermitted("QG306", detail, "Use a current PostgreSQL client.")


# -- what a client sends ----------------------------------------------------------------------------------------------


class Body:
    """The body of a message, read from its beginning. Whatever it lacks is told as QG306."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, size: int) -> bytes:
        if size < 0 or self._at + size > len(self._data):
            raise malformed("A message is shorter than it says.")
        found = self._data[self._at : self._at + size]
        self._at += size
        return found

    def int16(self) -> int:
        return int(struct.unpack("!h", self.take(2))[0])

    def int32(self) -> int:
        return int(struct.unpack("!i", self.take(4))[0])

    def count(self) -> int:
        """A number of things that follow."""
        return int(struct.unpack("!H", self.take(2))[0])

    def text(self) -> str:
        end = self._data.find(b"\0", self._at)
        if end < 0:
            raise malformed("A text in a message does not end.")
        found = self.take(end - self._at)
        self._at += 1
        return as_text(found)

    def value(self) -> bytes | None:
        """Bytes with their length before them; None for NULL."""
        size = self.int32()
        return None if size == -1 else self.take(size)

    def rest(self) -> bytes:
        return self.take(len(self._data) - self._at)

    def end(self) -> None:
        if self._at != len(self._data):
            raise malformed("A message is longer than it says.")


def as_text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise SyntaxRefused("QG101", "The text is not valid UTF-8.", "Set client_encoding to UTF8.") from None


# -- what the server sends --------------------------------------------------------------------------------------------


def message(kind: bytes, *parts: bytes) -> bytes:
    return kind + struct.pack("!I", 4 + sum(map(len, parts))) + b"".join(parts)


def text(value: str) -> bytes:
    """A text as messages have it; it ends where a zero byte would."""
    return value.partition("\0")[0].encode(errors="replace") + b"\0"


def authentication(kind: int, data: bytes = b"") -> bytes:
    return message(b"R", struct.pack("!I", kind), data)


def parameter_status(name: str, value: str) -> bytes:
    return message(b"S", text(name), text(value))


def backend_key(pid: int, secret: int) -> bytes:
    return message(b"K", struct.pack("!II", pid, secret))


def negotiate_version(unknown: Sequence[str]) -> bytes:
    """Version 3.0 is spoken, and none of these options is known."""
    return message(b"v", struct.pack("!II", PROTOCOL, len(unknown)), *map(text, unknown))


def ready(status: bytes) -> bytes:
    """`I` outside a transaction, `T` inside one, `E` inside one that has failed."""
    return message(b"Z", status)


def command_complete(tag: str) -> bytes:
    return message(b"C", text(tag))


def report(kind: bytes, fields: Mapping[str, str]) -> bytes:
    """An ErrorResponse (`E`) or a NoticeResponse (`N`)."""
    return message(kind, *(name.encode() + text(value) for name, value in fields.items()), b"\0")


def row_description(columns: Iterable[tuple[str, int, int, int]]) -> bytes:
    """Columns by name, type, size of the type and format."""
    parts = [text(name) + struct.pack("!IhIhih", 0, 0, oid, size, -1, binary) for name, oid, size, binary in columns]
    return message(b"T", struct.pack("!H", len(parts)), *parts)


def copy_begins(columns: int) -> bytes:
    """Lines follow, in the text format, for so many columns."""
    return message(b"H", struct.pack(f"!bH{columns}h", 0, columns, *[0] * columns))


def copy_data(line: bytes) -> bytes:
    return message(b"d", line)


def data_row(values: Sequence[bytes | None]) -> bytes:
    cells = [b"\xff\xff\xff\xff" if value is None else struct.pack("!I", len(value)) + value for value in values]
    return message(b"D", struct.pack("!H", len(values)), *cells)


def parameter_description(oids: Sequence[int]) -> bytes:
    return message(b"t", struct.pack("!H", len(oids)), *(struct.pack("!I", oid) for oid in oids))


NO_DATA, EMPTY_QUERY, PORTAL_SUSPENDED, COPY_DONE = message(b"n"), message(b"I"), message(b"s"), message(b"c")
PARSE_COMPLETE, BIND_COMPLETE, CLOSE_COMPLETE = message(b"1"), message(b"2"), message(b"3")
