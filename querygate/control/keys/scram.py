"""What a key leaves behind so that its owner can prove it without sending it: SCRAM-SHA-256 (RFC 5802, RFC 7677).

    SaltedPassword = PBKDF2(key, salt)        ClientKey = HMAC(SaltedPassword, "Client Key")
    StoredKey      = SHA-256(ClientKey)       ServerKey = HMAC(SaltedPassword, "Server Key")

StoredKey and ServerKey are stored: neither opens anything. All keys of a person have one salt, because it is told
before anybody knows which key they hold. It follows from their name and a secret of the site, so a name that nobody has
gets one too, the same each time.

>>> verifier = make_verifier("pencil", b"salt")
>>> is_proof(verifier, b"message", make_proof("pencil", b"salt", b"message"))
True
>>> is_proof(verifier, b"message", make_proof("pen", b"salt", b"message"))
False
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64decode, b64encode
from dataclasses import dataclass, field

ITERATIONS = 4096
"""What RFC 7677 asks for at least. Keys are 256 random bits: more would slow down their owners and nobody else."""

SALT_BYTES = 16


@dataclass(frozen=True, slots=True)
class Verifier:
    """What a proof is compared with, and what proves the server to its client."""

    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)

    def __str__(self) -> str:
        return f"{b64encode(self.stored_key).decode()}:{b64encode(self.server_key).decode()}"

    @classmethod
    def read(cls, text: str) -> Verifier:
        stored, _, server = text.partition(":")
        return cls(b64decode(stored), b64decode(server))


def salt_of(secret: bytes, user: str) -> bytes:
    """The salt of a person's keys, or of those of a name that nobody has. Names are compared without regard to case."""
    return hmac.digest(secret, user.lower().encode(), "sha256")[:SALT_BYTES]


def make_verifier(password: str, salt: bytes) -> Verifier:
    salted = _salted(password, salt)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    return Verifier(stored, hmac.digest(salted, b"Server Key", "sha256"))


def make_proof(password: str, salt: bytes, message: bytes) -> bytes:
    """What a client sends that knows the password."""
    client_key = hmac.digest(_salted(password, salt), b"Client Key", "sha256")
    stored = hashlib.sha256(client_key).digest()
    return _xor(client_key, hmac.digest(stored, message, "sha256"))


def is_proof(verifier: Verifier, message: bytes, proof: bytes) -> bool:
    """Whether whoever sent this knows the key that the verifier was made of."""
    signature = hmac.digest(verifier.stored_key, message, "sha256")
    if len(proof) != len(signature):
        return False
    return hmac.compare_digest(hashlib.sha256(_xor(proof, signature)).digest(), verifier.stored_key)


def sign(verifier: Verifier, message: bytes) -> bytes:
    """What proves to the client that the server knows their key's verifier."""
    return hmac.digest(verifier.server_key, message, "sha256")


def _salted(password: str, salt: bytes) -> bytes:
    return hashlib.pbkdf2_hmac("sha256", password.encode(), salt, ITERATIONS)


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))
