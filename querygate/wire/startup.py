"""The first packets of a connection: encryption, who is there, and proof of their key (SCRAM-SHA-256).

Whoever has no account, another key or one that was revoked gets the same bytes, after the same steps.
"""

from __future__ import annotations

import asyncio
import secrets
import ssl
import struct
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from querygate.control.keys.key_proofs import ProvableKey
from querygate.control.keys.scram import ITERATIONS, is_proof, make_verifier, sign
from querygate.core.errors import NotPermitted
from querygate.core.rights import not_allowed
from querygate.core.types import Principal
from querygate.site.open_gate import OpenSite
from querygate.site.sign_in_guard import SignInGuard
from querygate.wire import messages
from querygate.wire.cancel_relay import Cancel
from querygate.wire.channel import Channel
from querygate.wire.messages import Body, malformed
from querygate.wire.session_settings import DATABASE

OTHER_NAMES = ("postgres", "template1")
"""Databases that tools connect to when nobody says which."""

_MECHANISM = "SCRAM-SHA-256"
_LONGEST_PROOF = 4096
_SASL, _SASL_CONTINUE, _SASL_FINAL, _OK = 10, 11, 12, 0

T = TypeVar("T")
InThread = Callable[..., Awaitable[T]]


@dataclass(frozen=True, slots=True)
class Arrival:
    """What a client says in its first packet."""

    user: str
    settings: dict[str, str]


@dataclass(frozen=True, slots=True)
class SignedIn:
    """Somebody who has proved a key."""

    principal: Principal
    key_id: str
    settings: dict[str, str]


async def read_arrival(channel: Channel, tls: ssl.SSLContext | None, *, allow_plain: bool) -> Arrival | Cancel:
    """Everything before the proof. Raises what ends the connection."""
    while True:
        body = Body(await channel.read_startup())
        code = body.int32()
        if code == messages.SSL_REQUEST and tls is not None and not channel.is_encrypted:
            await channel.start_tls(tls)
        elif code in (messages.SSL_REQUEST, messages.GSS_REQUEST):
            await channel.write(b"N")
            await channel.flush()
        elif code == messages.CANCEL_REQUEST:
            return Cancel(*struct.unpack("!II", body.take(8)))
        else:
            break
    if code >> 16 != messages.PROTOCOL >> 16:
        raise malformed("This gate speaks version 3 of PostgreSQL's protocol.")
    if not (channel.is_encrypted or channel.is_local or allow_plain):
        raise NotPermitted(
            "QG306", "This gate takes only encrypted connections from other machines.", "Connect with sslmode=require."
        )
    settings = _read_settings(body)
    unknown = [name for name in settings if name.startswith("_pq_.")]
    if code != messages.PROTOCOL or unknown:
        await channel.write(messages.negotiate_version(unknown))
    return _arrival(settings)


def _read_settings(body: Body) -> dict[str, str]:
    settings: dict[str, str] = {}
    while name := body.text():
        settings[name] = body.text()
    body.end()
    return settings


def _arrival(settings: dict[str, str]) -> Arrival:
    user = settings.get("user", "")
    if not user:
        raise malformed("There is no user name.")
    if settings.get("replication", "false").lower() not in ("false", "off", "no", "0"):
        raise NotPermitted("QG306", "There is nothing to replicate here.", "Connect without replication.")
    database = settings.get("database") or user
    if database.lower() not in (DATABASE, user.lower(), *OTHER_NAMES):
        raise NotPermitted("QG303", "There is no database with this name.", f"Connect to {DATABASE}.")
    return Arrival(user, settings)


# -- the proof --------------------------------------------------------------------------------------------------------


async def sign_in(
    channel: Channel, arrival: Arrival, opened: OpenSite, guard: SignInGuard, in_thread: InThread[object]
) -> SignedIn:
    """Who it is. Every failure is on record and counts against its address; QG301, or QG317 for too many."""
    address = channel.address
    await in_thread(guard.check, address)
    try:
        found = await _prove(channel, arrival.user, opened, in_thread)
    except NotPermitted as refused:  # a client that speaks another language has tried nothing
        await in_thread(guard.note_failure, address, is_guess=refused.code == WRONG)
        raise
    principal = await in_thread(opened.accounts.keys.proofs.principal, found)
    if not isinstance(principal, Principal):
        raise _not_signed_in()
    if not (principal.may("ask") or principal.may("look")):
        raise not_allowed("ask")
    return SignedIn(principal, found, arrival.settings)


async def _prove(channel: Channel, user: str, opened: OpenSite, in_thread: InThread[object]) -> str:
    """The id of the key that was proved."""
    salt, keys = await _look_up(user, opened, in_thread)
    await channel.write(messages.authentication(_SASL, messages.text(_MECHANISM) + b"\0"))
    first = Body(await _answer(channel))
    if first.text() != _MECHANISM:
        raise malformed("Only SCRAM-SHA-256 is offered.")
    gs2, bare, nonce = _read_first(messages.as_text(first.value() or b""))
    nonce += secrets.token_urlsafe(18)
    challenge = f"r={nonce},s={b64encode(salt).decode()},i={ITERATIONS}"
    await channel.write(messages.authentication(_SASL_CONTINUE, challenge.encode()))
    final = messages.as_text(await _answer(channel))
    without, _, proof = final.rpartition(",p=")
    if without != f"c={b64encode(gs2.encode()).decode()},r={nonce}":
        raise _not_signed_in()
    message = f"{bare},{challenge},{without}".encode()
    found = _find(keys, message, _decoded(proof))
    if found is None:
        raise _not_signed_in()
    signature = b64encode(sign(found.verifier, message)).decode()
    await channel.write(messages.authentication(_SASL_FINAL, f"v={signature}".encode()))
    await channel.write(messages.authentication(_OK))
    return found.id


async def _look_up(user: str, opened: OpenSite, in_thread: InThread[object]) -> tuple[bytes, tuple[ProvableKey, ...]]:
    proofs = opened.accounts.keys.proofs
    salt, keys = await asyncio.gather(in_thread(proofs.salt, user), in_thread(proofs.of_user, user))
    assert isinstance(salt, bytes) and isinstance(keys, tuple)  # noqa: S101, PT018
    return salt, keys


async def _answer(channel: Channel) -> bytes:
    await channel.flush()
    kind, data = await channel.read(_LONGEST_PROOF)
    if kind != b"p":
        raise malformed("A proof of a key was expected.")
    return data


def _read_first(text: str) -> tuple[str, str, str]:
    """The client's first message: its header, the rest, and its nonce."""
    flag, _, rest = text.partition(",")
    name, _, bare = rest.partition(",")
    parts = bare.split(",")
    if (
        flag not in ("n", "y")
        or name
        or len(parts) < 2
        or parts[0][:2] != "n="
        or parts[1][:2] != "r="
        or not parts[1][2:]
    ):
        raise malformed("The proof of a key does not begin as SCRAM does.")
    return f"{flag},{name},", bare, parts[1][2:]


def _find(keys: tuple[ProvableKey, ...], message: bytes, proof: bytes) -> ProvableKey | None:
    """The key that was proved. All are tried, and at least one: the time it takes tells little of their number."""
    found = None
    for key in keys or (_NOBODY,):
        if is_proof(key.verifier, message, proof) and key is not _NOBODY:
            found = key
    return found


def _decoded(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except ValueError:
        return b""


WRONG = "QG301"

_NOBODY = ProvableKey("", make_verifier(secrets.token_hex(32), secrets.token_bytes(16)))
"""A key that nobody has."""


def _not_signed_in() -> NotPermitted:
    return NotPermitted(
        WRONG,
        "The user name or the key is not valid.",
        "The password is one of your keys (qg_...). A key from before this gate spoke PostgreSQL's protocol "
        "works after it was used over HTTP once, or after `querygate key rotate`.",
    )
