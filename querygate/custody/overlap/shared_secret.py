"""The secret that two custodians share: it hides identifiers, and shows of a file that the other one made it."""

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
    """Texts are hidden under the secret itself and files are signed under a key made of it, by another hash: nothing
    that is hidden is ever that key."""

    value: bytes

    @classmethod
    def read(cls, data: bytes) -> SharedSecret:
        """As it stands in a file; blanks around it are not part of it."""
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
    """Every part but the last has a length that both sides know."""
    return hmac.new(key, b"".join(parts), hashlib.sha256).digest()


def is_signed(key: bytes, signature: bytes, *parts: bytes) -> bool:
    return hmac.compare_digest(signature, sign(key, *parts))
