"""The way in with a key: who it is, from where, and no more guesses than a person makes.

To compare a key takes 1 ms of a processor, once; after that it is remembered. So only keys that are not remembered
count: an address that has shown too many wrong ones waits before another is looked at, and only a few are compared at
once. Whoever has shown a right key before is not slowed down by any of it. What has not the form of a key is a slip of
whoever copied it: it cannot open anything and costs nothing to refuse, so it is on record and counts against nobody.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flask import request

from querygate.control.keys.key_text import has_form_of_key, id_of_key
from querygate.core.errors import NotPermitted
from querygate.core.limits.token_bucket import Throttle
from querygate.core.types import Principal
from querygate.site.client_address import client_address, lane_of, read_proxies
from querygate.site.open_gate import OpenSite
from querygate.site.sign_in_guard import SignInGuard, too_many

COMPARED_AT_ONCE = 2
REMEMBERED = 4096
PLACE_S = 0.5
"""How long a key waits for a place among those that wait, where keys are compared in 1 ms."""

PATIENCE_S = 5.0
"""How long a key waits to be compared before its owner is told to try again: after a restart all have to be."""


class SignIn:
    """Finds out whose key a request shows. One for each process."""

    def __init__(self, opened: OpenSite, guard: SignInGuard) -> None:
        settings = opened.site.settings
        self._accounts = opened.accounts
        self._trusted = read_proxies(settings["trusted_proxies"])
        self._guard = guard
        self._begun = Throttle(settings["sign_ins_per_minute"])
        self._comparing = threading.BoundedSemaphore(COMPARED_AT_ONCE)
        # Whoever waits has a thread; the others are for those whose keys are known.
        self._waiting = threading.BoundedSemaphore(max(1, settings["threads"] // 2))
        self._lanes: dict[bytes, str] = {}
        self.record = self._guard.record

    def address(self) -> str:
        """Where the request at hand comes from."""
        return client_address(request.remote_addr or "", request.headers.get("X-Forwarded-For", ""), self._trusted)

    def authenticate(self) -> Principal:
        """Whose key stands in the Authorization header; QG301 for every way of having none, QG317 for too many."""
        return self.identify(_presented())

    def key_id(self) -> str:
        """The id of the key that the request at hand has shown, which opened."""
        return id_of_key(_presented())

    def identify(self, presented: str) -> Principal:
        """Whose key this is."""
        self.record.turn()
        address = self.address()
        try:
            principal = self._accounts.keys.authenticate(presented, lambda: self._careful(address))
            self._remember(presented, principal.name)
            return principal
        except BusyWithKeys:
            raise
        except NotPermitted as refused:
            is_throttled = refused.code == "QG317"
            if presented and is_throttled:
                self._guard.note_throttled(address)
            elif presented:  # a page that was opened without a key tried nothing
                self._guard.note_failure(address, is_guess=has_form_of_key(presented))
            raise

    # -- without a key -----------------------------------------------------------------------------------

    def check_pace(self) -> None:
        """Of one address, no more begin to sign in elsewhere than people do; QG317."""
        address = self.address()
        wait_s = self._begun.wait_s(lane_of(address), time.monotonic())
        if wait_s > 0:
            self.note_throttled()
            raise too_many(wait_s)

    def check_guesses(self) -> None:
        """Nothing more is tried from an address with too many failures, as with keys; QG317."""
        self._guard.check(self.address())

    def note_throttled(self) -> None:
        """Somebody was not even looked at."""
        self._guard.note_throttled(self.address())

    def note_failure(self, *, is_guess: bool) -> None:
        """Somebody was not let in; a guess counts against their address."""
        self._guard.note_failure(self.address(), is_guess=is_guess)

    def lane_of_channel(self, channel: Any) -> str:
        """Whose request waits on a connection: of whoever has shown this key before, or else of an address."""
        header: str = channel.requests[0].headers.get("AUTHORIZATION", "") if channel.requests else ""
        known = self._lanes.get(_mark(header.partition(" ")[2].strip())) if header else None
        return known or f"at {lane_of(str(channel.addr[0]))}"

    def _remember(self, presented: str, name: str) -> None:
        mark = _mark(presented)
        if mark not in self._lanes:
            if len(self._lanes) >= REMEMBERED:
                self._lanes.clear()
            self._lanes[mark] = f"user {name.lower()}"

    @contextmanager
    def _careful(self, address: str) -> Iterator[None]:
        """Around the slow comparison of a key."""
        left_s = self._guard.left_s(address)
        if left_s > 0:
            raise too_many(left_s)
        with (
            taken(self._waiting, 0.0 if self._accounts.keys.has_slow_keys() else PLACE_S),
            taken(self._comparing, PATIENCE_S),
        ):
            yield


class BusyWithKeys(NotPermitted):
    """More keys are being compared than can be: nobody's guess, and no failure."""


@contextmanager
def taken(places: threading.Semaphore, patience_s: float) -> Iterator[None]:
    """A place for as long as the block takes; QG317 where there is none in time."""
    if not places.acquire(timeout=patience_s):
        busy = BusyWithKeys("QG317", "Too many keys are being checked at the moment.", "Try again in a second.")
        busy.retry_after_s = 1.0
        raise busy
    try:
        yield
    finally:
        places.release()


def _presented() -> str:
    scheme, _, presented = request.headers.get("Authorization", "").partition(" ")
    return presented.strip() if scheme.lower() == "bearer" else ""


def _mark(presented: str) -> bytes:
    """A key as it is remembered: nobody gets it back from this."""
    return hashlib.sha256(presented.encode(errors="replace")).digest()
