"""The page on which somebody lets a program in: they type or compare the code that it shows."""

from __future__ import annotations

import time
from typing import Final

from flask import Response, request

from querygate.control.sessions import Session
from querygate.control.sign_on.device_codes import WaitingDevice
from querygate.core.errors import NotPermitted
from querygate.core.limits.token_bucket import Throttle
from querygate.site.open_gate import OpenSite
from querygate.site.sign_in_guard import too_many
from querygate.web.console.page import make_page
from querygate.web.console.page_session import PageRoute
from querygate.web.sign_in import SignIn
from querygate.web.sign_on.device_routes import DEVICE
from querygate.web.sign_on.optional_sign_on import SignOnDoor

PAGES: Final = (
    PageRoute("device", "GET", DEVICE, rights=()),
    PageRoute("decide", "POST", DEVICE, rights=()),
)


class DevicePages:
    """One method per page, called as its route's name."""

    def __init__(self, opened: OpenSite, sign_in: SignIn, sign_on: SignOnDoor) -> None:
        self._sign_in, self._sign_on = sign_in, sign_on
        self._wrong = Throttle(opened.site.settings["login_failures_per_minute"])

    def device(self, session: Session) -> Response:
        self._check(session)
        typed = request.args.get("code", "")
        found = self._find(session, typed) if typed else None
        return make_page("device.html", session=session, device=found, hours=self._sign_on.there.sign_on.key_hours)

    def decide(self, session: Session) -> Response:
        self._check(session)
        typed, is_let_in = request.form.get("code", ""), request.form.get("decision") == "yes"
        self._find(session, typed)
        if not self._sign_on.there.devices.decide(typed, session.principal.name, is_let_in=is_let_in):
            raise _unknown()
        return make_page("device.html", session=session, decided="yes" if is_let_in else "no")

    def _check(self, session: Session) -> None:
        """Only whom the provider vouches for: whoever came with a key has one to give, and would make two of it."""
        if not self._sign_on.there or not session.by_sign_on:
            raise NotPermitted(
                "QG302",
                "Only people who signed in through single sign-on can authorise a program.",
                "Give the program your key, or sign in through single sign-on.",
            )

    def _find(self, session: Session, typed: str) -> WaitingDevice:
        """The program with this code. Who guesses codes has few guesses."""
        name, now_s = session.principal.name.lower(), time.monotonic()
        left_s = self._wrong.left_s(name, now_s)
        if left_s > 0:
            self._sign_in.note_throttled()
            raise too_many(left_s)
        found = self._sign_on.there.devices.find(typed)
        if found is None:
            self._wrong.wait_s(name, now_s)
            self._sign_in.note_failure(is_guess=False)
            raise _unknown()
        return found


def _unknown() -> NotPermitted:
    return NotPermitted(
        "QG323", "No waiting program shows this code.", "Check the code, or start the sign-in again in the program."
    )
