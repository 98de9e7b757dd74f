"""A file that only who has its key can read, and that nobody can change unseen: AES-256-GCM, piece by piece.

    QGSEAL1\\n   16 bytes of salt   piece 0   piece 1   ...   last piece

Each piece is 65,536 bytes (the last one up to that) with a tag of 16. Its nonce is its number, and whether it is the
last, so pieces cannot be moved, left out or cut off (the STREAM construction: Hoang, Reyhanitabar, Rogaway and Vizar,
Online Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance, 2015). The key of a file is derived from the
site's by its salt, so no nonce is used twice under one key.
"""

from __future__ import annotations

import io
import os
from dataclasses import dataclass, field
from typing import Any, BinaryIO, cast

from querygate.core.errors import ConfigError

MAGIC = b"QGSEAL1\n"
SALT, PIECE, TAG = 16, 1 << 16, 16
HEAD = len(MAGIC) + SALT


@dataclass(frozen=True, slots=True)
class FileSeal:
    """What encrypts files, and reads them again."""

    key: bytes = field(repr=False)

    def writing(self, stream: BinaryIO) -> io.BufferedWriter:
        """What is written here goes to the stream encrypted; it is complete when this is closed."""
        salt = os.urandom(SALT)
        stream.write(MAGIC + salt)
        return io.BufferedWriter(_Writer(stream, _cipher(self.key, salt)), PIECE)

    def reading(self, stream: BinaryIO) -> BinaryIO:
        """The content of a sealed file. ValueError where it was changed, or is of another key."""
        stream.seek(0)
        head = stream.read(HEAD)
        return cast(BinaryIO, io.BufferedReader(_Reader(stream, _cipher(self.key, head[len(MAGIC) :])), PIECE))


def is_sealed(stream: BinaryIO) -> bool:
    """By how it begins; the stream is at its beginning afterwards."""
    stream.seek(0)
    begins = stream.read(len(MAGIC))
    stream.seek(0)
    return begins == MAGIC


class _Writer(io.RawIOBase):
    def __init__(self, stream: BinaryIO, cipher: Any) -> None:
        self._stream, self._cipher, self._number, self._held = stream, cipher, 0, bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._held += data
        while len(self._held) > PIECE:  # the last one is known when all has been written
            self._put(bytes(self._held[:PIECE]), is_last=False)
            del self._held[:PIECE]
        return len(data)

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._put(bytes(self._held), is_last=True)

    def _put(self, piece: bytes, *, is_last: bool) -> None:
        self._stream.write(self._cipher.encrypt(_nonce(self._number, is_last=is_last), piece, None))
        self._number += 1


class _Reader(io.RawIOBase):
    def __init__(self, stream: BinaryIO, cipher: Any) -> None:
        self._stream, self._cipher, self._at, self._kept = stream, cipher, 0, (-1, b"")
        body = stream.seek(0, os.SEEK_END) - HEAD
        self._pieces = max(1, -(-body // (PIECE + TAG)))
        self._size = body - self._pieces * TAG

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = max(0, offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence])
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        number, begin = divmod(self._at, PIECE)
        if self._at >= self._size:
            self._piece(self._pieces - 1)  # the end is where it was written, and not where somebody cut it off
            return 0
        found = self._piece(number)[begin : begin + len(buffer)]
        buffer[: len(found)] = found
        self._at += len(found)
        return len(found)

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._stream.close()

    def _piece(self, number: int) -> bytes:
        if self._kept[0] != number:
            from cryptography.exceptions import InvalidTag

            self._stream.seek(HEAD + number * (PIECE + TAG))
            sealed = self._stream.read(PIECE + TAG)
            try:
                piece = self._cipher.decrypt(_nonce(number, is_last=number == self._pieces - 1), sealed, None)
            except InvalidTag:
                raise ValueError("the file was changed, or encrypted with another key") from None
            self._kept = (number, piece)
        return self._kept[1]


def _nonce(number: int, *, is_last: bool) -> bytes:
    return number.to_bytes(11) + bytes([is_last])


def _cipher(key: bytes, salt: bytes) -> Any:
    return aes(derived(key, salt, b"querygate file"))


# -- the library ---------------------------------------------------------------------------------------------------


def aes(key: bytes) -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        raise ConfigError(
            "QG805", "Encryption needs the extra `evidence`.", "Install it with: pip install 'querygate[evidence]'."
        ) from None
    return AESGCM(key)


def derived(key: bytes, salt: bytes, purpose: bytes) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), 32, salt, purpose).derive(key)
