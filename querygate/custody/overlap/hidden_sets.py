"""The library openmined-psi, in a process of its own: it is C++, and reads what another custodian has sent. What makes
it fail, loop or fill the memory there costs no more than this one count."""

from __future__ import annotations

import multiprocessing
import resource
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from types import ModuleType
from typing import Any, TypeVar

from querygate.core.errors import ConfigError

T = TypeVar("T")

FALSE_MATCHES = 1e-12
"""Chance that a count is one too large."""

MEMORY, MEMORY_EACH = 2 << 30, 4096
"""Bytes of address space, and so many more for each person."""

SECONDS, SECONDS_EACH = 60, 0.002
"""Of processor time; one person takes about a tenth of that."""


class NotFromHere(Exception):
    """What was read is no message of the protocol, or not one that belongs to this count."""


def confined(function: Callable[..., T], *given: object, people: int) -> T:
    """What a function of this module returns, computed under limits. Raises NotFromHere where it ends badly."""
    _library()
    limits = MEMORY + MEMORY_EACH * people, int(SECONDS + SECONDS_EACH * people)
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawning, initializer=_confine, initargs=limits) as child:
        try:
            return child.submit(function, *given).result()
        except (BrokenProcessPool, MemoryError):
            raise NotFromHere from None


def hide(marks: list[str]) -> tuple[bytes, bytes]:
    """The key, and the marks under it."""
    client = _library().client.CreateWithNewKey(False)
    return client.GetPrivateKeyBytes(), client.CreateRequest(marks).SerializeToString()


def hide_again(message: bytes, marks: list[str]) -> tuple[int, bytes, bytes]:
    """How many marks a message hides; marks of one's own under a key that is forgotten, and theirs under that as
    well."""
    psi = _library()
    server, asked = psi.server.CreateWithNewKey(False), _read(psi.Request, message)
    if asked.reveal_intersection:
        raise NotFromHere
    number = len(asked.encrypted_elements)
    if len(set(asked.encrypted_elements)) < number:  # counts of repeated people would tell who is meant
        raise NotFromHere
    setup = server.CreateSetupMessage(FALSE_MATCHES, number, marks, psi.DataStructure.GCS).SerializeToString()
    return number, setup, _tried(lambda: server.ProcessRequest(asked).SerializeToString())


def count_common(key: bytes, own: int, setup: bytes, response: bytes) -> int:
    psi = _library()
    theirs, mine = _read(psi.ServerSetup, setup), _read(psi.Response, response)
    if len(mine.encrypted_elements) != own:
        raise NotFromHere
    client = psi.client.CreateFromKey(key, False)
    found = int(_tried(lambda: client.GetIntersectionSize(theirs, mine)))
    if not 0 <= found <= own:
        raise NotFromHere
    return found


def _confine(memory: int, seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _tried(call: Callable[[], T]) -> T:
    try:
        return call()
    except (RuntimeError, ValueError):
        raise NotFromHere from None


def _read(kind: Any, data: bytes) -> Any:
    message = kind()
    try:
        message.ParseFromString(data)
    except Exception:  # what protobuf raises has no public name
        raise NotFromHere from None
    return message


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
