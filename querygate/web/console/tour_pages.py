"""The guided tour in the console of the demo: a strip above each page. Which step somebody is at is in a cookie of
their browser, so that two windows are two people."""

from __future__ import annotations

from typing import Final

from flask import Response, request

from querygate.control.sessions import Session
from querygate.core.errors import NotPermitted
from querygate.web.console.page import go
from querygate.web.console.page_session import PageRoute
from querygate.web.console.tour_steps import TourStrip, steps_of

COOKIE = "querygate_tour"
OVER = "over"

PAGES: Final = (
    PageRoute("step", "GET", "/tour/<int:number>", rights=()),
    PageRoute("leave", "GET", "/tour/over", rights=()),
)


class TourPages:
    """On a site that is not the demo there is no tour."""

    def __init__(self, is_demo: bool) -> None:
        self._is_demo = is_demo

    def step(self, session: Session, number: int) -> Response:
        """To where the step is, which is remembered."""
        steps = steps_of(session.principal)
        if not self._is_demo or not 1 <= number <= len(steps):
            raise NotPermitted("QG307", "There is no such page.", "Go back to the start page.")
        back = request.referrer if (request.referrer or "").startswith(request.host_url) else "/"
        return _remember(go(steps[number - 1].address or back or "/"), f"{session.principal.name}.{number}")

    def leave(self, session: Session) -> Response:
        return _remember(go("/"), OVER)

    def strip(self, session: Session | None) -> TourStrip | None:
        """What stands above a page; nothing on other sites, and once the tour was left."""
        kept = request.cookies.get(COOKIE, "")
        if not self._is_demo or kept == OVER:
            return None
        if session is None:
            text = "Sign in with the researcher's key that the demo printed. A five-minute tour begins there."
            return TourStrip(text)
        steps = steps_of(session.principal)
        if not steps:
            return None
        name, _, at = kept.rpartition(".")
        if name != session.principal.name or not at.isdigit() or not 1 <= int(at) <= len(steps):
            return TourStrip("See how an attack is made, found and resolved: a five-minute tour.", next=1)
        number = int(at)
        one = steps[number - 1]
        return TourStrip(one.text, one.title, number, len(steps), number + 1 if number < len(steps) else None)


def _remember(response: Response, text: str) -> Response:
    response.set_cookie(COOKIE, text, httponly=True, samesite="Lax", secure=request.is_secure)
    return response
