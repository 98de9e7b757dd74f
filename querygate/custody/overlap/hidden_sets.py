"""The library openmined-psi, in a separate process: it is C++ and reads data from another custodian. If it crashes,
loops or fills memory there, only this one count is lost."""

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
"""The probability that a count is one too large."""

MEMORY, MEMORY_EACH = 2 << 30, 4096
"""Bytes of address space, and additional bytes for each person."""

SECONDS, SECONDS_EACH = 60, 0.002
"""Processor time; one person takes about a tenth of that."""


class NotFromHere(Exception):
    """The data are not a message of the protocol, or not one for this count."""


def confined(function: Callable[..., T], *given: object, people: int) -> T:
    """The result of a function of this module, computed under limits. Raises NotFromHere if it fails."""
    _library()
    limits = MEMORY + MEMORY_EACH * people, int(SECONDS + SECONDS_EACH * people)
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawning, initializer=_confine, initargs=limits) as child:
        try:
            return child.submit(function, *given).result()
        except (BrokenProcessPool, MemoryError):
            raise NotFromHere from None


def hide(marks: list[str]) -> tuple[bytes, bytes]:
    """A new key, and the marks hidden under it."""
    client = _library().client.CreateWithNewKey(False)
    return client.GetPrivateKeyBytes(), client.CreateRequest(marks).SerializeToString()


def hide_again(message: bytes, marks: list[str]) -> tuple[int, bytes, bytes]:
    """The number of marks in a message; our own marks under a new key that is then forgotten, and theirs under it as
    well."""
    psi = _library()
    server, asked = psi.server.CreateWithNewKey(False), _read(psi.Request, message)
    if asked.reveal_intersection:
        raise NotFromHere
    number = len(asked.encrypted_elements)
    if len(set(asked.encrypted_elements)) < number:  # counts of repeated people could identify them
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
    except Exception:  # protobuf's exceptions have no public name
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
