"""The secret that two custodians share: it hides identifiers, and proves that a file comes from the other one."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

from querygate.core.errors import ConfigError

LEAST_SECRET = 16
"""Bytes."""

SIGNATURE = hashlib.sha256().digest_size


@dataclass(frozen=True, slots=True)
class SharedSecret:
    """Texts are hidden under the secret itself; files are signed under a key derived from it with another hash, so no
    hidden text can equal that key."""

    value: bytes

    @classmethod
    def read(cls, data: bytes) -> SharedSecret:
        """Read from a file, without surrounding blanks."""
        if len(data.strip()) < LEAST_SECRET:
            raise ConfigError(
                "QG805",
                f"The shared secret has fewer than {LEAST_SECRET} bytes.",
                "Make one with `openssl rand -hex 32` and give both custodians the same file.",
            )
        return cls(data.strip())

    def mark(self, text: str) -> str:
        return hmac.new(self.value, text.encode(), hashlib.sha256).hexdigest()

    @property
    def signing_key(self) -> bytes:
        return hmac.new(self.value, b"files", hashlib.sha512).digest()


def sign(key: bytes, *parts: bytes) -> bytes:
    """Sign some parts; every part but the last has a fixed length."""
    return hmac.new(key, b"".join(parts), hashlib.sha256).digest()


def is_signed(key: bytes, signature: bytes, *parts: bytes) -> bool:
    return hmac.compare_digest(signature, sign(key, *parts))
