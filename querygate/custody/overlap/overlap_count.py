"""Three messages between two custodians, after which the first knows how many people both have.

The protocol is private set intersection by elliptic-curve Diffie-Hellman, from the library openmined-psi, in the form
that reveals only the size. The first custodian sends its people, hidden under its own key. The second hides them again,
under a key that is made for this reply and then forgotten, and sends them back in another order, with its own people
hidden the same way. The first removes its key and counts. No message can be read without a key.

Both files are signed with the shared secret, and a reply is tied to its request: a file that was changed on the way, or
belongs to another count, is refused. The protocol does not prevent the second custodian from cheating.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from querygate.core.errors import ConfigError
from querygate.custody.overlap import hidden_sets
from querygate.custody.overlap.hidden_sets import NotFromHere, confined
from querygate.custody.overlap.shared_secret import SIGNATURE, SharedSecret, is_signed, sign

LEAST_PEOPLE = 20
"""With fewer people in a request, or in a reply, the count would reveal too much about each."""

HIDDEN, TOLD = 33, 5
"""The fewest bytes of a person in a request, and among the people of a reply."""

_REQUEST, _REPLY, _KEPT = b"QGO1", b"QGO2", b"QGO0"
_KEPT_HEAD = struct.Struct(">4sQ32s64s")
"""Format mark, number of people in the request, hash of the request, signing key; the private key follows, and a
signature of it all: a key that lost a byte would open the reply and count nobody."""


@dataclass(frozen=True, slots=True)
class OverlapRequest:
    """`message` goes to the other custodian; `kept` stays, and opens the reply."""

    message: bytes
    kept: bytes


@dataclass(frozen=True, slots=True)
class OverlapReply:
    """`asked` is the number of people in the request, which the protocol does not hide."""

    message: bytes
    asked: int


@dataclass(frozen=True, slots=True)
class OverlapCount:
    own: int
    common: int


def make_request(marks: Sequence[str], secret: SharedSecret) -> OverlapRequest:
    check_size(len(marks))
    key, hidden = confined(hidden_sets.hide, list(marks), people=len(marks))
    message = _signed(_REQUEST, secret.signing_key, hidden)
    kept = _KEPT_HEAD.pack(_KEPT, len(marks), hashlib.sha256(message).digest(), secret.signing_key)
    return OverlapRequest(message, kept + key + sign(secret.signing_key, kept, key))


def make_reply(request: bytes, marks: Sequence[str], secret: SharedSecret) -> OverlapReply:
    check_size(len(marks))
    hidden = _checked(_REQUEST, secret.signing_key, request)
    try:
        number, setup, response = confined(
            hidden_sets.hide_again, hidden, list(marks), people=len(marks) + len(hidden) // HIDDEN
        )
    except NotFromHere:
        raise _not_ours() from None
    check_size(number)
    body = struct.pack(">Q", len(setup)) + setup + response
    return OverlapReply(_signed(_REPLY, secret.signing_key, body, hashlib.sha256(request).digest()), number)


def count_common(reply: bytes, kept: bytes) -> OverlapCount:
    if len(kept) < _KEPT_HEAD.size or not kept.startswith(_KEPT):
        raise _not_ours()
    _, own, asked, signing_key = _KEPT_HEAD.unpack_from(kept)
    kept, signature = kept[:-SIGNATURE], kept[-SIGNATURE:]
    if not is_signed(signing_key, signature, kept):
        raise _not_ours()
    body = _checked(_REPLY, signing_key, reply, asked)
    if len(body) < 8:
        raise _not_ours()
    end = 8 + struct.unpack(">Q", body[:8])[0]
    key, setup, response = kept[_KEPT_HEAD.size :], body[8:end], body[end:]
    try:
        return OverlapCount(
            own, confined(hidden_sets.count_common, key, own, setup, response, people=own + len(setup) // TOLD)
        )
    except NotFromHere:
        raise _not_ours() from None


def check_size(people: int) -> None:
    if people < LEAST_PEOPLE:
        raise ConfigError(
            "QG803",
            f"There are fewer than {LEAST_PEOPLE} people: the count would reveal too much about each.",
            "Ask about a whole dataset.",
        )


def _signed(mark: bytes, key: bytes, body: bytes, answered: bytes = b"") -> bytes:
    return mark + sign(key, mark, answered, body) + body


def _checked(mark: bytes, key: bytes, data: bytes, answered: bytes = b"") -> bytes:
    """The body of a file, if its signature is valid."""
    start = len(mark) + SIGNATURE
    signature, body = data[len(mark) : start], data[start:]
    if not data.startswith(mark) or not is_signed(key, signature, mark, answered, body):
        raise _not_ours()
    return body


def _not_ours() -> ConfigError:
    return ConfigError(
        "QG802",
        "This file does not belong here: it is a different one, it was changed on the way, or the secret is not the "
        "one that both custodians share.",
        "Compare the secrets, then use the file exactly as the previous step made it.",
    )
