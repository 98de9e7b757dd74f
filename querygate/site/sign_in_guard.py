"""No more guesses at keys from one address than a person makes, and every failure on record: the same at each door."""

from __future__ import annotations

import time

from querygate.control.login_record import LoginRecord
from querygate.core.errors import NotPermitted
from querygate.core.limits.token_bucket import Throttle
from querygate.site.client_address import lane_of
from querygate.site.open_gate import OpenSite


class SignInGuard:
    """The failed sign-ins of one process, by address. Safe to share between threads."""

    def __init__(self, opened: OpenSite) -> None:
        self._wrong = Throttle(opened.site.settings["login_failures_per_minute"])
        self.record = LoginRecord(opened.log)

    def left_s(self, address: str) -> float:
        """How long nothing more is tried from an address with too many failures."""
        return self._wrong.left_s(lane_of(address), time.monotonic())

    def check(self, address: str) -> None:
        """Nothing more is tried from an address with too many failures, which is on record; QG317."""
        left_s = self.left_s(address)
        if left_s > 0:
            self.note_throttled(address)
            raise too_many(left_s)

    def note_throttled(self, address: str) -> None:
        """Somebody was not even looked at."""
        self.record.turn()
        self.record.failed(address, throttled=True)

    def note_failure(self, address: str, *, is_guess: bool) -> None:
        """Somebody was not let in; a guess counts against their address."""
        self.record.turn()
        self.record.failed(address)
        if is_guess:
            self._wrong.wait_s(lane_of(address), time.monotonic())


def too_many(wait_s: float) -> NotPermitted:
    """QG317, with the time to wait."""
    refused = NotPermitted(
        "QG317", "There were too many attempts to sign in that failed.", "Wait a minute, then use a valid key."
    )
    refused.retry_after_s = wait_s
    return refused
