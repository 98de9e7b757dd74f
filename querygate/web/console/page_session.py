"""The lock of the console's pages: a cookie that the browser holds, and a proof that the form came from here."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import version
from typing import Literal, TypeAlias
from urllib.parse import quote, urlsplit

from flask import Response, g, redirect, render_template, request
from werkzeug.exceptions import HTTPException

from querygate.control.sessions import Session, Sessions
from querygate.core.errors import NotPermitted, QueryGateError
from querygate.core.rights import Right, not_allowed
from querygate.gate.incidents import make_failure
from querygate.site.user_limits import UserLimits
from querygate.web.problems import status_of
from querygate.web.rate_limited_view import weighed, within_limits

COOKIE = "querygate_session"
PROOF = "proof"
SIGN_IN = "/sign-in"

Page: TypeAlias = Callable[..., Response]


@dataclass(frozen=True, slots=True)
class PageRoute:
    """A page of the console: the method that makes it, its address, and who may open it."""

    name: str
    method: Literal["GET", "POST"]
    rule: str
    who: Literal["anyone", "session"] = "session"
    rights: tuple[Right, ...] = ("ask",)  # whoever is signed in has one of these; none: it does not matter
    takes_file: bool = False  # before the form is read, the page says where its file goes


def make_page_door(
    route: PageRoute,
    page: Page,
    sessions: Sessions,
    limits: UserLimits,
    prepare: Callable[[], None] = lambda: None,
) -> Page:
    """The page behind its lock. Whoever is not signed in is sent to sign in, and back to where they wanted to go.
    `prepare` is called for those who may come in, before their form is read."""

    def enter(**path: str) -> Response:
        if route.method == "POST":
            check_origin()
        if route.who == "anyone":
            return page(**path)
        session = find_session(sessions)
        if session is None:
            return _to_sign_in()
        try:
            if route.rights and not any(map(session.principal.may, route.rights)):
                raise not_allowed(route.rights[0])
            prepare()
            if route.method == "POST":
                check_proof(session)
            with within_limits(limits, session.principal) as given:
                return weighed(page(session, **path), given)
        except QueryGateError as error:
            return show_problem(error, session)
        except HTTPException:
            raise
        except Exception as error:
            return show_problem(make_failure(error), session)

    return enter


def show_problem(error: QueryGateError, session: Session | None) -> Response:
    """A page for what could not be shown; a part of a page for a script."""
    g.is_page = True
    template = "refusal_part.html" if request.headers.get("HX-Request") else "problem.html"
    values = {"problem": error.to_dict(), "session": session, "version": version("querygate")}
    return Response(
        render_template(f"console/{template}", **values), status_of(error), content_type="text/html; charset=utf-8"
    )


def find_session(sessions: Sessions) -> Session | None:
    token = request.cookies.get(COOKIE, "")
    return sessions.find(token) if token else None


def check_origin() -> None:
    """Refuse what another site has the browser send, signing in included. Browsers say where a form comes from;
    programs that say nothing have no cookie that they did not get here."""
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    is_here = site in ("same-origin", "none") if site else not origin or urlsplit(origin).netloc == request.host
    if not is_here:
        raise NotPermitted("QG306", "This form was sent from another site.", "Open the page here and send it again.")


def check_proof(session: Session) -> None:
    """Refuse a form that another site had the browser send: it has the cookie and not the proof."""
    if not hmac.compare_digest(request.form.get(PROOF, "").encode(), session.proof.encode()):
        raise NotPermitted("QG306", "This form is out of date.", "Reload the page and send it again.")


@dataclass(frozen=True, slots=True)
class Cookie:
    """Something that a browser holds for us: no script can read it, and no other site can use it. It goes over TLS only
    where the site is reached so, which behind a proxy only the settings know."""

    name: str
    path: str
    lasts: timedelta
    over_tls: bool

    def read(self) -> str:
        return request.cookies.get(self.name, "")

    def keep(self, response: Response, token: str) -> Response:
        response.set_cookie(
            self.name,
            token,
            max_age=int(self.lasts.total_seconds()),
            path=self.path,
            secure=self.over_tls or request.is_secure,
            httponly=True,
            samesite="Lax",
        )
        return response

    def drop(self, response: Response) -> Response:
        secure = self.over_tls or request.is_secure
        response.delete_cookie(self.name, path=self.path, secure=secure, httponly=True, samesite="Lax")
        return response


def inside(address: str) -> str:
    """An address of this site to go to next; the first page for anything else.

    >>> inside("/history?q=x"), inside("https://elsewhere.example/"), inside("//elsewhere.example"), inside("/\\\\a")
    ('/history?q=x', '/', '/', '/')
    """
    parts = urlsplit(address)
    is_plain = address.isprintable() and "\\" not in address
    is_here = not parts.scheme and not parts.netloc and address.startswith("/") and is_plain
    return address if is_here and not address.startswith("//") else "/"


def _to_sign_in() -> Response:
    """A part of a page cannot show the sign-in page in its place: there the browser is told to go."""
    wanted = request.full_path.rstrip("?") if request.method == "GET" else "/"
    address = f"{SIGN_IN}?next={quote(wanted)}"
    if request.headers.get("HX-Request"):
        return Response(status=204, headers={"HX-Redirect": address})
    return redirect(address, 303)  # type: ignore[return-value]
