"""A client that says exactly what it is told to: for messages that no proper client sends."""

from __future__ import annotations

import functools
import hmac
import secrets
import socket
import struct
from base64 import b64decode, b64encode
from collections.abc import Iterator

from querygate.control.keys import scram
from querygate.control.keys.scram import make_proof, make_verifier, sign
from tests.work import HANG_S

# Hundreds of connections sign in with the same key.
scram._salted = functools.cache(scram._salted)


def packet(kind: bytes, body: bytes = b"") -> bytes:
    return kind + struct.pack("!I", len(body) + 4) + body


def startup(user: str, **settings: str) -> bytes:
    words = {"user": user, "database": "querygate", **settings}
    body = struct.pack("!I", 3 << 16) + b"".join(f"{k}\0{v}\0".encode() for k, v in words.items()) + b"\0"
    return struct.pack("!I", len(body) + 4) + body


class RawClient:
    """A connection, and what was read from it."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), HANG_S)
        self.told: dict[bytes, bytes] = {}
        """What was said at sign-in, by kind; of several of a kind the last."""

    def __enter__(self) -> RawClient:
        return self

    def __exit__(self, *error: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self.socket.recv(size - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def read(self) -> tuple[bytes, bytes]:
        kind = self.exactly(1)
        (size,) = struct.unpack("!I", self.exactly(4))
        return kind, self.exactly(size - 4)

    def until_end(self) -> Iterator[tuple[bytes, bytes]]:
        """All messages until the other end closes."""
        try:
            while True:
                yield self.read()
        except (EOFError, ConnectionError):
            return

    def until(self, wanted: bytes) -> list[tuple[bytes, bytes]]:
        found = [self.read()]
        while found[-1][0] != wanted:
            found.append(self.read())
        return found

    def sign_in(self, user: str, key: str) -> bytes:
        """Sign in; the salt that was told. Checks the server's own proof."""
        self.send(startup(user))
        assert self.read() == (b"R", struct.pack("!I", 10) + b"SCRAM-SHA-256\0\0")
        bare = f"n=,r={secrets.token_hex(8)}"
        first = f"n,,{bare}".encode()
        self.send(packet(b"p", b"SCRAM-SHA-256\0" + struct.pack("!I", len(first)) + first))
        challenge = self.read()[1][4:].decode()
        nonce, salt, count = (part[2:] for part in challenge.split(",", 2))
        assert count == "4096"
        without = f"c=biws,r={nonce}"
        message = f"{bare},{challenge},{without}".encode()
        proof = b64encode(make_proof(key, b64decode(salt), message)).decode()
        self.send(packet(b"p", f"{without},p={proof}".encode()))
        kind, body = self.read()
        if kind != b"R":
            raise PermissionError(body)
        known = b64encode(sign(make_verifier(key, b64decode(salt)), message)).decode()
        assert hmac.compare_digest(body[4:].decode(), f"v={known}")
        assert self.read() == (b"R", b"\0\0\0\0")
        self.told = dict(self.until(b"Z"))
        return b64decode(salt)


def fields(body: bytes) -> dict[str, str]:
    """The fields of an error."""
    return {part[:1].decode(): part[1:].decode() for part in body.split(b"\0") if part}
