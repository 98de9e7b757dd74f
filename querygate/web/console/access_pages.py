"""Pages about who may come in and ask: users, keys, grants, and what was spent of budgets.

Everything is done by the use-cases that the API and the command line call. What takes access away asks twice.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from flask import Response, request

from querygate.control import Actor, Grant, Grantee, User
from querygate.control.grants import GRANTEES, read_until
from querygate.control.keys.keys import StoredKey
from querygate.control.sessions import Session
from querygate.core.budget_types import SpentBudget
from querygate.core.errors import QueryGateError
from querygate.core.rights import MODES, ROLES, SCOPES, TABLE, Right, is_trusted
from querygate.site.account_changes import AccountChanges
from querygate.site.budget_evidence import open_ledger
from querygate.site.open_gate import OpenSite, now
from querygate.web.console.confirmation import SUSPENDED, ask_first
from querygate.web.console.page import go, make_page
from querygate.web.console.page_session import PageRoute
from querygate.web.problems import status_of

SEE: tuple[Right, ...] = ("grant", "accounts")
ACCOUNTS: tuple[Right, ...] = ("accounts",)
SUSPEND: tuple[Right, ...] = ("suspend",)
GRANT: tuple[Right, ...] = ("grant",)

PAGES: Final = (
    PageRoute("access", "GET", "/access", rights=SEE),
    PageRoute("add_user", "POST", "/access/users", rights=ACCOUNTS),
    PageRoute("user", "GET", "/access/users/<name>", rights=SEE),
    PageRoute("change_user", "POST", "/access/users/<name>/change", rights=ACCOUNTS),
    PageRoute("close_user", "POST", "/access/users/<name>/disable", rights=SUSPEND),
    PageRoute("open_user", "POST", "/access/users/<name>/enable", rights=SUSPEND),
    PageRoute("remove_user", "POST", "/access/users/<name>/remove", rights=ACCOUNTS),
    PageRoute("new_key", "POST", "/access/users/<name>/keys", rights=("accounts", "entrust")),
    PageRoute("revoke_key", "POST", "/access/users/<name>/keys/<key_id>/revoke", rights=ACCOUNTS),
    PageRoute("add_grant", "POST", "/access/grants", rights=GRANT),
    PageRoute("revoke_grant", "POST", "/access/grants/<grant_id>/revoke", rights=GRANT),
)

_USER = ("name", "role", "project", "organisation")


class AccessPages:
    def __init__(self, opened: OpenSite) -> None:
        self._opened, self._changes = opened, AccountChanges(opened)

    # -- looking -----------------------------------------------------------------------------------------

    def access(self, session: Session) -> Response:
        return self._page(session)

    def user(self, session: Session, name: str) -> Response:
        return self._user_page(session, name)

    # -- users and keys ----------------------------------------------------------------------------------

    def add_user(self, session: Session) -> Response:
        form = request.form
        name, role, project, organisation = (form.get(one, "").strip() for one in _USER)
        try:
            added = self._changes.add_user(name, role, project, organisation, _chosen("datasets"), by=_actor(session))
        except QueryGateError as error:
            return self._page(session, error)
        return go(f"/access/users/{added.name}")

    def change_user(self, session: Session, name: str) -> Response:
        role, project, organisation = (request.form.get(one, "").strip() for one in _USER[1:])

        def change() -> None:
            self._changes.change_user(
                name, role=role or None, project=project, organisation=organisation, by=_actor(session)
            )

        return self._changed(session, name, change)

    def close_user(self, session: Session, name: str) -> Response:
        asked = ask_first(session, f"Suspend {name}?", SUSPENDED, "Suspend", f"/access/users/{name}")
        return asked or self._changed(session, name, lambda: self._changes.disable_user(name, by=_actor(session)))

    def open_user(self, session: Session, name: str) -> Response:
        return self._changed(session, name, lambda: self._changes.enable_user(name, by=_actor(session)))

    def remove_user(self, session: Session, name: str) -> Response:
        text = "Their keys are revoked permanently. Their queries stay in the log, and the name cannot be used again."
        asked = ask_first(session, f"Remove {name}?", text, "Remove", f"/access/users/{name}")
        return asked or self._changed(
            session, name, lambda: self._changes.remove_user(name, by=_actor(session)), then="/access"
        )

    def new_key(self, session: Session, name: str) -> Response:
        """The key is in this response and nowhere else."""
        expires = request.form.get("expires", "").strip() or None
        try:
            issued = self._changes.new_key(name, expires, _chosen("scopes"), by=_actor(session))
        except QueryGateError as error:
            return self._user_page(session, name, error)
        return make_page("custodian/new_key.html", session=session, issued=issued)

    def revoke_key(self, session: Session, name: str, key_id: str) -> Response:
        text = "It stops working at once, and sessions that were started with it end."
        asked = ask_first(session, f"Revoke the key {key_id}?", text, "Revoke", f"/access/users/{name}")
        return asked or self._changed(session, name, lambda: self._changes.revoke_key(key_id, by=_actor(session)))

    # -- grants ------------------------------------------------------------------------------------------

    def add_grant(self, session: Session) -> Response:
        form = request.form
        kind, name = form.get("to", ""), form.get("name", "").strip()
        try:
            until = _until(form.get("until", "").strip())
            grantee = Grantee(kind if kind in GRANTEES else "user", "" if kind == "everyone" else name)
            dataset = form.get("dataset", "").strip()
            self._opened.grants.add(grantee, dataset, _chosen("modes"), until, by=_actor(session))
        except QueryGateError as error:
            return self._page(session, error)
        return go("/access#grants")

    def revoke_grant(self, session: Session, grant_id: str) -> Response:
        text = "They can no longer query. They can still read the answers they have received."
        if (asked := ask_first(session, "Revoke this grant?", text, "Revoke", "/access#grants")) is not None:
            return asked
        self._opened.grants.revoke(grant_id, by=_actor(session))
        return go("/access#grants")

    # -- along the way -----------------------------------------------------------------------------------

    def _changed(self, session: Session, name: str, change: Callable[[], object], then: str | None = None) -> Response:
        """Make a change to somebody's account; where it is refused, their page says why."""
        try:
            change()
        except QueryGateError as error:
            return self._user_page(session, name, error)
        return go(then or f"/access/users/{name}")

    def _page(self, session: Session, error: QueryGateError | None = None) -> Response:
        users = [user for user in self._opened.accounts.list_users() if user.removed is None]
        datasets = self._opened.store.datasets()
        return make_page(
            "custodian/access.html",
            status_of(error),
            session=session,
            users=users,
            used=self._used(),
            grants=self._grants(),
            spent=self._spent(datasets),
            datasets=datasets,
            roles=ROLES,
            modes=MODES,
            grantees=GRANTEES,
            wanted=request.form,
            problem=error.to_dict() if error else None,
        )

    def _user_page(self, session: Session, name: str, error: QueryGateError | None = None) -> Response:
        user = self._opened.accounts.find_user(name)
        needs_second = self._changes.needs_second(user.role, _actor(session))
        is_own = user.name.lower() == session.principal.name.lower()
        gives_keys = session.principal.may("entrust" if is_trusted(user.role) else "accounts")
        return make_page(
            "custodian/user.html",
            status_of(error),
            session=session,
            user=user,
            needs_second=needs_second,
            changes_role=not needs_second and not is_own,
            makes_keys=gives_keys and not (is_own and is_trusted(user.role)),
            keys=[key for key in self._opened.accounts.keys.all() if key.user.lower() == user.name.lower()],
            grants=[grant for grant in self._grants() if _concerns(grant, user)],
            roles=ROLES,
            scopes=[scope for scope, rights in SCOPES.items() if (rights - {"own_keys"}) & TABLE[user.role]],
            now=now().isoformat(),
            problem=error.to_dict() if error else None,
        )

    def _grants(self) -> tuple[Grant, ...]:
        return self._opened.grants.list_grants()

    def _used(self) -> dict[str, str]:
        """When each user last came in, as far as their keys tell."""
        found: dict[str, str] = {}
        keys: tuple[StoredKey, ...] = self._opened.accounts.keys.all()
        for key in keys:
            found[key.user] = max(found.get(key.user, ""), key.used or "")
        return found

    def _spent(self, datasets: tuple[str, ...]) -> list[SpentBudget]:
        if self._opened.site.settings["budgets"]:
            return []  # a ledger elsewhere is not asked for a page
        ledger = open_ledger(self._opened)
        return [one for dataset in datasets for one in ledger.spent(dataset)]


def _actor(session: Session) -> Actor:
    return Actor(session.principal.name)


def _chosen(name: str) -> list[str]:
    return [value for value in request.form.getlist(name) if value]


def _until(text: str) -> datetime | None:
    return read_until(text) if text else None


def _concerns(grant: Grant, user: User) -> bool:
    """Whether somebody may ask by it."""
    own = {"user": user.name, "project": user.project or None, "organisation": user.organisation or None}
    name = own.get(grant.whose)
    return grant.whose == "everyone" or (name is not None and grant.name.lower() == name.lower())
