"""Users over HTTP, for admins: decode, call, render."""

from __future__ import annotations

from dataclasses import asdict

from flask import Response

from querygate.control import Actor
from querygate.core.json_body import JsonValue
from querygate.core.rights import not_allowed
from querygate.core.types import Principal
from querygate.site.account_changes import AccountChanges
from querygate.site.open_gate import OpenSite
from querygate.web.problems import malformed
from querygate.web.query_routes import give
from querygate.web.request_body import check_fields, read_object, read_text, read_truth

_NEW = 'Send {"name": "ann", "role": "researcher"}.'
_CHANGE = 'Send {"role": "reviewer"}.'


class UserViews:
    """One method per route about users, called as the route's name."""

    def __init__(self, opened: OpenSite) -> None:
        self._accounts, self._changes = opened.accounts, AccountChanges(opened)

    def list_users(self, principal: Principal) -> Response:
        with_removed = read_truth("removed")
        found = [user for user in self._accounts.list_users() if with_removed or user.removed is None]
        return give({"users": [asdict(user) for user in found]})

    def add_user(self, principal: Principal) -> Response:
        body = read_object(_NEW)
        check_fields(body, "", ("name", "role", "project", "organisation"))
        name, role = read_text(body, "name"), read_text(body, "role")
        groups = read_maybe(body, "project") or "", read_maybe(body, "organisation") or ""
        return give(asdict(self._changes.add_user(name, role, *groups, by=Actor(principal.name))))

    def change_user(self, principal: Principal, user: str) -> Response:
        body = read_object(_CHANGE)
        check_fields(body, "", ("role", "project", "organisation"))
        if not body:
            raise malformed("There is nothing to change.", _CHANGE)
        changed = self._changes.change_user(
            user,
            role=read_maybe(body, "role"),
            project=read_maybe(body, "project"),
            organisation=read_maybe(body, "organisation"),
            by=Actor(principal.name),
        )
        return give(asdict(changed))

    def act_on_user(self, principal: Principal, user: str, action: str) -> Response:
        if action == "remove" and not principal.may("accounts"):
            raise not_allowed("accounts")
        acts = {
            "disable": self._changes.disable_user,
            "enable": self._changes.enable_user,
            "remove": self._changes.remove_user,
        }
        return give(asdict(acts[action](user, by=Actor(principal.name))))


def read_maybe(body: dict[str, JsonValue], name: str) -> str | None:
    """A field that is a text, or left out."""
    return read_text(body, name) if name in body else None
