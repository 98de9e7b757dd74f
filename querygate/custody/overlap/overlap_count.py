"""Three messages between two custodians, after which the first knows how many people both have.

The protocol is private set intersection by elliptic-curve Diffie-Hellman, of the library openmined-psi, in the form
that tells the size alone. The first custodian sends its people, hidden under a key of its own. The second hides them
once more, under a key that is made for this reply and then forgotten, and sends them back in another order, with its
own people hidden the same way. The first takes its key off and counts. No message can be read without a key.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from querygate.core.errors import ConfigError

FALSE_MATCHES = 1e-12
"""Chance that a count is one too large."""

LEAST_PEOPLE = 20
"""With fewer people in a request, or in a reply, the count would say too much of each."""

_REQUEST, _REPLY, _KEPT = b"QGO1", b"QGO2", b"QGO0"


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


def make_request(marks: Sequence[str]) -> OverlapRequest:
    check_size(len(marks))
    client = _library().client.CreateWithNewKey(False)
    message = client.CreateRequest(list(marks)).SerializeToString()
    return OverlapRequest(_REQUEST + message, _KEPT + struct.pack(">Q", len(marks)) + client.GetPrivateKeyBytes())


def make_reply(request: bytes, marks: Sequence[str]) -> OverlapReply:
    check_size(len(marks))
    psi = _library()
    asked = _read(psi.Request, request, _REQUEST)
    number = len(asked.encrypted_elements)
    check_size(number)
    if asked.reveal_intersection:
        raise _not_ours()
    server = psi.server.CreateWithNewKey(False)
    setup = server.CreateSetupMessage(FALSE_MATCHES, number, list(marks), psi.DataStructure.GCS).SerializeToString()
    try:
        response = server.ProcessRequest(asked).SerializeToString()
    except (RuntimeError, ValueError):
        raise _not_ours() from None
    return OverlapReply(_REPLY + struct.pack(">Q", len(setup)) + setup + response, number)


def count_common(reply: bytes, kept: bytes) -> OverlapCount:
    psi = _library()
    own, key = _kept(kept)
    if reply[:4] != _REPLY or len(reply) < 12:
        raise _not_ours()
    length = struct.unpack(">Q", reply[4:12])[0]
    setup = _read(psi.ServerSetup, reply[12 : 12 + length])
    response = _read(psi.Response, reply[12 + length :])
    try:
        found = psi.client.CreateFromKey(key, False).GetIntersectionSize(setup, response)
    except (RuntimeError, ValueError):
        raise _not_ours() from None
    return OverlapCount(own, int(found))


def check_size(people: int) -> None:
    if people < LEAST_PEOPLE:
        raise ConfigError(
            "QG803",
            f"There are fewer than {LEAST_PEOPLE} people: a count of common ones would tell too much of each.",
            "Ask about a whole dataset.",
        )


def _kept(kept: bytes) -> tuple[int, bytes]:
    if kept[:4] != _KEPT or len(kept) < 12:
        raise _not_ours()
    return struct.unpack(">Q", kept[4:12])[0], kept[12:]


def _read(kind: Any, data: bytes, mark: bytes = b"") -> Any:
    if data[: len(mark)] != mark:
        raise _not_ours()
    message = kind()
    try:
        message.ParseFromString(data[len(mark) :])
    except Exception:  # what protobuf raises has no public name
        raise _not_ours() from None
    return message


def _not_ours() -> ConfigError:
    return ConfigError("QG802", "This is not the file that belongs here.", "Give the file as the step before made it.")


def _library() -> ModuleType:
    try:
        import private_set_intersection.python as psi
    except ImportError:
        raise ConfigError(
            "QG804",
            "The library for private set intersection is not installed.",
            "Install it with: pip install 'querygate[overlap]'.",
        ) from None
    return psi  # type: ignore[no-any-return]
