"""Keys over HTTP, for admins, and for everybody about their own: decode, call, render."""

from __future__ import annotations

from dataclasses import asdict

from flask import Response, request

from querygate.control import Actor
from querygate.control.keys.keys import MOST_OVERLAP_HOURS, OVERLAP_HOURS, NewKey
from querygate.core.json_body import JsonValue
from querygate.core.rights import SCOPES
from querygate.core.types import Principal
from querygate.site.account_changes import AccountChanges
from querygate.site.open_gate import OpenSite
from querygate.web.accounts.user_routes import read_maybe
from querygate.web.problems import malformed
from querygate.web.query_routes import give
from querygate.web.request_body import check_fields, read_object, read_text
from querygate.web.sign_in import SignIn

_NEW = 'Send {"user": "ann"}.'
_ROTATION = 'Send {"overlap_hours": 24}, or nothing.'


class KeyViews:
    """One method per route about keys, called as the route's name."""

    def __init__(self, opened: OpenSite, sign_in: SignIn) -> None:
        self._accounts, self._changes, self._sign_in = opened.accounts, AccountChanges(opened), sign_in

    # -- for admins --------------------------------------------------------------------------------------

    def list_keys(self, principal: Principal) -> Response:
        return self._give_keys(request.args.get("user"))

    def new_key(self, principal: Principal) -> Response:
        body = read_object(_NEW)
        check_fields(body, "", ("user", "expires", "scopes"))
        user, expires = read_text(body, "user"), read_maybe(body, "expires")
        return self._give_issued(self._changes.new_key(user, expires, read_scopes(body), by=Actor(principal.name)))

    def rotate_key(self, principal: Principal, key_id: str) -> Response:
        body = read_object(_ROTATION, optional=True)
        check_fields(body, "", ("overlap_hours", "expires"))
        issued = self._changes.rotate_key(
            key_id, _overlap_hours(body), read_maybe(body, "expires"), by=Actor(principal.name)
        )
        return self._give_issued(issued)

    def revoke_key(self, principal: Principal, key_id: str) -> Response:
        return give(asdict(self._changes.revoke_key(key_id, by=Actor(principal.name))))

    # -- about one's own ---------------------------------------------------------------------------------

    def list_own_keys(self, principal: Principal) -> Response:
        return self._give_keys(principal.name)

    def rotate_own_key(self, principal: Principal) -> Response:
        """Only the key that is shown: one that is good for little must not fetch one that is good for more."""
        body = read_object(_ROTATION, optional=True)
        check_fields(body, "", ("overlap_hours",))
        key_id = self._sign_in.key_id()
        return self._give_issued(self._changes.rotate_own_key(key_id, _overlap_hours(body), by=Actor(principal.name)))

    def revoke_own_key(self, principal: Principal) -> Response:
        return give(asdict(self._changes.revoke_key(self._sign_in.key_id(), by=Actor(principal.name))))

    # -- along the way -----------------------------------------------------------------------------------

    def _give_keys(self, user: str | None) -> Response:
        keys = self._accounts.keys.all()
        return give({"keys": [asdict(key) for key in keys if user is None or key.user.lower() == user.lower()]})

    def _give_issued(self, issued: NewKey) -> Response:
        return give({**asdict(self._accounts.keys.find(issued.id)), "key": issued.secret})


def read_scopes(body: dict[str, JsonValue]) -> list[str]:
    scopes = body.get("scopes", [])
    if not isinstance(scopes, list) or not all(isinstance(scope, str) and scope in SCOPES for scope in scopes):
        raise malformed(f"scopes: must be a list of {', '.join(SCOPES)}.")
    return [str(scope) for scope in scopes]


def _overlap_hours(body: dict[str, JsonValue]) -> float:
    hours = body.get("overlap_hours", OVERLAP_HOURS)
    if isinstance(hours, bool) or not isinstance(hours, int | float) or not 0 <= hours <= MOST_OVERLAP_HOURS:
        raise malformed(f"overlap_hours: must be a number from 0 to {MOST_OVERLAP_HOURS}.")
    return float(hours)
