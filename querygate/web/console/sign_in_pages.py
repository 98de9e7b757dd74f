"""The way into the console and out of it: with a key, or through the provider of single sign-on."""

from __future__ import annotations

from typing import Final

from flask import Response, request

from querygate.control.keys.key_text import id_of_key
from querygate.control.sessions import LASTS, Session, Sessions
from querygate.control.sign_on import attempts
from querygate.core.errors import NotPermitted
from querygate.site.open_gate import OpenSite
from querygate.web.console.page import go, make_page
from querygate.web.console.page_session import COOKIE, SIGN_IN, Cookie, PageRoute, inside
from querygate.web.sign_in import SignIn
from querygate.web.sign_on.optional_sign_on import SignOnDoor

SIGNED_OUT = "/signed-out"
ON_THE_WAY = "querygate_sign_in"

PAGES: Final = (
    PageRoute("sign_in", "GET", SIGN_IN, "anyone"),
    PageRoute("begin_session", "POST", SIGN_IN, "anyone"),
    PageRoute("depart", "GET", f"{SIGN_IN}/provider", "anyone"),
    PageRoute("arrive", "GET", f"{SIGN_IN}/callback", "anyone"),
    PageRoute("end_sessions", "POST", f"{SIGN_IN}/backchannel-logout", "anyone"),
    PageRoute("sign_out", "POST", "/sign-out", rights=()),
    PageRoute("signed_out", "GET", SIGNED_OUT, "anyone"),
)


class SignInPages:
    """One method per page, called as its route's name."""

    def __init__(self, opened: OpenSite, sessions: Sessions, sign_in: SignIn, sign_on: SignOnDoor) -> None:
        self._log, self._sessions, self._sign_in, self._sign_on = opened.log, sessions, sign_in, sign_on
        over_tls = opened.site.settings["public_url"].startswith("https:")
        self._cookie = Cookie(COOKIE, "/", LASTS, over_tls)
        self._on_the_way = Cookie(ON_THE_WAY, SIGN_IN, attempts.LASTS, over_tls)

    # -- with a key --------------------------------------------------------------------------------------

    def sign_in(self) -> Response:
        return self._sign_in_page(inside(request.args.get("next", "/")))

    def begin_session(self) -> Response:
        """A key opens a session."""
        key, wanted = request.form.get("key", "").strip(), inside(request.form.get("next", "/"))
        try:
            principal = self._sign_in.identify(key)
        except NotPermitted as refusal:
            return self._sign_in_page(wanted, refusal)
        key_id = id_of_key(key)
        return self._enter(self._sessions.begin(key_id), wanted, principal.name, {"key": key_id})

    # -- through the provider ----------------------------------------------------------------------------

    def depart(self) -> Response:
        """Off to the provider. A link and no form: browsers hold what a form leads to against the policy of content."""
        wanted = inside(request.args.get("next", "/"))
        if request.headers.get("Sec-Fetch-Site") == "cross-site":  # nobody is sent off by another site
            return go(SIGN_IN)
        try:
            departure = self._sign_on.there.depart(wanted)
        except NotPermitted as refusal:
            return self._sign_in_page(wanted, refusal)
        return self._on_the_way.keep(go(departure.address), departure.secret)

    def arrive(self) -> Response:
        """Back from the provider: a session, if it vouches for them and they have an account."""
        try:
            arrival = self._sign_on.there.arrive(self._on_the_way.read(), request.args)
        except NotPermitted as refusal:
            return self._on_the_way.drop(self._sign_in_page("/", refusal))
        user, person = arrival.principal.name, arrival.person
        body = {"issuer": person.issuer, "subject": person.subject}
        entered = self._enter(self._sessions.begin_by_sign_on(user, arrival.session), inside(arrival.then), user, body)
        return self._on_the_way.drop(entered)

    # -- out ---------------------------------------------------------------------------------------------

    def sign_out(self, session: Session) -> Response:
        self._sessions.end(self._cookie.read())
        self._log.note("session.end", user=session.principal.name)
        return self._cookie.drop(go(SIGNED_OUT if session.by_sign_on else SIGN_IN))

    def signed_out(self) -> Response:
        """Somebody who came through the provider goes on to sign out there, too. The page does it, and not the form
        before it, which leads nowhere else."""
        sign_on = self._sign_on.there
        address = sign_on.provider.logout_url(sign_on.sign_on.public_url + SIGN_IN)
        return make_page("signed_out.html", provider=self._sign_on.name, address=address)

    def end_sessions(self) -> Response:
        """The provider itself says that somebody has signed out there. It reads the status and nothing else."""
        try:
            self._sign_on.there.end_sessions(request.form.get("logout_token", ""))
        except NotPermitted as refusal:
            status = 400 if refusal.code == "QG319" else refusal.meaning.status
            return Response('{"error": "invalid_request"}', status, content_type="application/json")
        return Response(status=200)

    # -- along the way -----------------------------------------------------------------------------------

    def _enter(self, token: str, wanted: str, user: str, body: dict[str, str]) -> Response:
        """The session before, if the browser had one, ends: nobody can slip one in."""
        self._sessions.end(self._cookie.read())
        self._log.note("session.begin", user=user, body=body)
        return self._cookie.keep(go(wanted), token)

    def _sign_in_page(self, wanted: str, refusal: NotPermitted | None = None) -> Response:
        status = 200 if refusal is None else refusal.meaning.status
        return make_page("sign_in.html", status, next=wanted, refusal=refusal, provider=self._sign_on.name)
