"""The site's own signature: an Ed25519 key certifies where the log ended at a time, as proof for others.

A statement is one line of JSON that ends in its signature, made over the bytes of the line without that last member,
as a line of the log ends in its hash:

    {"signed":"querygate log","first":1,"last":19,"prev":"...","head":"...","time":"...","key":"...","signature":"..."}

The library for it comes with the extra `evidence`; nothing else needs it, so it is loaded where a key is used.
Josefsson and Liusvaara, Edwards-Curve Digital Signature Algorithm (EdDSA), RFC 8032, 2017.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from querygate.control.log.entry_chain import VerifiedChain, canonical
from querygate.core.errors import ConfigError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

SIGNED = "querygate log"
PRIVATE, PUBLIC = "log.key", "log.pub"

_SIGNATURE = re.compile(rb'(\{"signed":.*),"signature":"([0-9a-f]{128})"\}\n?', re.DOTALL)


@dataclass(frozen=True, slots=True)
class SignedStatement:
    """The key certifies that entries `first` to `last` followed `prev` and ended in `head` at that time."""

    first: int
    last: int
    prev: str
    head: str
    time: str

    @property
    def start(self) -> VerifiedChain:
        return VerifiedChain(self.first - 1, self.prev)

    @property
    def end(self) -> VerifiedChain:
        return VerifiedChain(self.last, self.head)


class NotSigned(Exception):
    """The statement is not what the key signed."""


class SiteKey:
    """The private key of a site."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key

    @property
    def public(self) -> PublicKey:
        return PublicKey(self._key.public_key())

    def sign(self, statement: SignedStatement) -> bytes:
        """The statement as one line that ends in its signature."""
        text = canonical({"signed": SIGNED, **asdict(statement), "key": self.public.fingerprint}).encode()
        return b'%b,"signature":"%b"}\n' % (text[:-1], self._key.sign(text).hex().encode())


class PublicKey:
    """What others need to check a signature. `text` is PEM, as for OpenSSL."""

    def __init__(self, key: Ed25519PublicKey) -> None:
        self._key = key

    @property
    def text(self) -> str:
        from cryptography.hazmat.primitives import serialization as form

        return self._key.public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo).decode()

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the 32 bytes of the key; part of it can be read out on the telephone."""
        return sha256(self._key.public_bytes_raw()).hexdigest()

    def read(self, line: bytes) -> SignedStatement:
        """What the line says, if this key signed it; NotSigned otherwise."""
        from cryptography.exceptions import InvalidSignature

        parts = _SIGNATURE.fullmatch(line)
        if parts is None:
            raise NotSigned("The file is not a signature of a log.")
        text = parts[1] + b"}"
        try:
            self._key.verify(bytes.fromhex(parts[2].decode()), text)
        except InvalidSignature:
            raise NotSigned("The signature was not made with this key, or its content was changed.") from None
        said = json.loads(text)
        return SignedStatement(**{name: said[name] for name in SignedStatement.__slots__})


def make_key(folder: Path) -> SiteKey:
    """Make a key pair in the folder, the private half readable only by its owner. An existing one is kept."""
    ed25519 = _library()
    from cryptography.hazmat.primitives import serialization as form

    key = ed25519.Ed25519PrivateKey.generate()
    text = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    made = SiteKey(key)
    _write_new(folder / PRIVATE, text, 0o600)
    (folder / PUBLIC).unlink(missing_ok=True)
    _write_new(folder / PUBLIC, made.public.text.encode(), 0o644)
    return made


def load_key(folder: Path) -> SiteKey:
    """The site's key, which is made now if there is none."""
    ed25519 = _library()
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    if not (folder / PRIVATE).exists():
        return make_key(folder)
    try:
        key = load_pem_private_key((folder / PRIVATE).read_bytes(), password=None)
    except (OSError, ValueError, TypeError):
        key = None
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise ConfigError("QG804", f"{PRIVATE} is not a readable Ed25519 key.", "Restore it from a backup.")
    return SiteKey(key)


def load_public_key(path: Path) -> PublicKey:
    ed25519 = _library()
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(path.read_bytes())
    except (OSError, ValueError):
        key = None
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise ConfigError(
            "QG804", f"{path.name} is not an Ed25519 public key.", "Use the output of `querygate log key`."
        )
    return PublicKey(key)


def has_library() -> bool:
    """Whether the extra `evidence` is installed."""
    try:
        _library()
    except ConfigError:
        return False
    return True


def _library() -> ModuleType:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise ConfigError(
            "QG804",
            "Signatures need a library that is not installed.",
            "Install it with: pip install 'querygate[evidence]'.",
        ) from None
    return ed25519


def _write_new(path: Path, data: bytes, mode: int) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
