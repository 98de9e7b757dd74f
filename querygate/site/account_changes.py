"""Changes to users and keys, whoever makes them and at whichever door: each is made and put on record here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta
from functools import partial
from types import MappingProxyType
from typing import TypeVar

from querygate.control import Actor, Grantee, User, stamp
from querygate.control.account_terms import SIGN_ON, Note
from querygate.control.accounts import CUSTODIAN
from querygate.control.grants import read_until
from querygate.control.keys.account_access import end_link, end_ways_in
from querygate.control.keys.keys import OVERLAP_HOURS, NewKey, StoredKey
from querygate.control.ports import Connection
from querygate.core.errors import ConfigError, NotPermitted
from querygate.core.rights import ROLES, TABLE, is_trusted, not_allowed
from querygate.site.open_gate import OpenSite

CONSOLE = "local"
RESERVED = frozenset({CONSOLE, "upgrade", "oidc"})
"""Names in the log that are nobody's account: the console, an upgrade, single sign-on."""

_T = TypeVar("_T")
_ARTICLE = {"reviewer": "a", "custodian": "a", "auditor": "an"}


class AccountChanges:
    """What admins do, and what everybody may do with their own key."""

    def __init__(self, opened: OpenSite) -> None:
        self._accounts, self._grants, self._log = opened.accounts, opened.grants, opened.log

    # -- users -------------------------------------------------------------------------------------------

    def add_user(
        self,
        name: str,
        role: str,
        project: str = "",
        organisation: str = "",
        datasets: Collection[str] = (),
        *,
        by: Actor,
    ) -> User:
        """An account, and a grant for each of these datasets. One of a trusted role is closed at first, unless whoever
        makes it may open it."""
        if name.lower() in RESERVED:
            raise ConfigError(
                "QG806",
                "This name is reserved: the log uses it for the console, an upgrade or single sign-on.",
                "Choose another name.",
            )
        note = self._noted("user.add", by, _new_user)
        closed = self.needs_second(role, by)
        added = self._accounts.add_user(name, role, project, organisation, closed=closed, note=note)
        for dataset in datasets:
            self._grants.add(Grantee("user", added.name), dataset, by=by)
        return added

    def change_user(
        self, name: str, *, role: str | None, project: str | None, organisation: str | None, by: Actor
    ) -> User:
        user = self._accounts.find_user(name)
        is_new = bool(role) and role != user.role
        if is_new and name.lower() == by.name.lower():
            raise NotPermitted(
                "QG302", "Nobody changes their own role.", "Ask somebody else who manages accounts to change it."
            )

        if is_new and self.needs_second(user.role, by):
            raise NotPermitted(
                "QG302",
                f"An admin does not change the role of {_ARTICLE[user.role]} {user.role}.",
                "Add another account for the other role and close this one, or change the role at the console, without "
                "a key.",
            )

        def body(changed: User) -> dict[str, object]:
            groups = {"project": changed.project, "organisation": changed.organisation}
            return {"name": changed.name, **groups, **({"role": changed.role} if role else {}), **_closed(changed)}

        def note(connection: Connection, changed: User) -> None:
            self._noted("user.change", by, body)(connection, changed)
            if is_new and is_trusted(changed.role):
                end_ways_in(connection, self._log, changed.name, by=by)
                end_link(connection, self._log, changed.name, by=by)

        closed = is_new and self.needs_second(role, by)
        return self._accounts.change_user(
            name, role=role, project=project, organisation=organisation, closed=closed, note=note
        )

    def remove_user(self, name: str, *, by: Actor) -> User:
        return self._accounts.remove_user(name, note=self._noted("user.remove", by, _name))

    def disable_user(self, name: str, *, by: Actor) -> User:
        return self._accounts.disable_user(name, note=self._noted("user.disable", by, _name))

    def enable_user(self, name: str, *, by: Actor) -> User:
        user = self._accounts.find_user(name)
        if self.needs_second(user.role, by):
            raise NotPermitted(
                "QG302",
                f"An admin does not open the account of {_ARTICLE[user.role]} {user.role}.",
                "Ask a custodian to open it: on the page *Access*, or with `querygate user enable`.",
            )
        return self._accounts.enable_user(name, note=self._noted("user.enable", by, _name))

    # -- keys --------------------------------------------------------------------------------------------

    def new_key(self, user: str, expires: str | None = None, scopes: Collection[str] = (), *, by: Actor) -> NewKey:
        """A key of this user; `expires` is the last day, or a moment."""
        limits: dict[str, object] = ({"expires": expires} if expires else {}) | (
            {"scopes": sorted(scopes)} if scopes else {}
        )

        def body(made: NewKey) -> dict[str, object]:
            self.check_credential(made.user, by)  # within the transaction: they may have got another role just now
            return _key(made, limits)

        note = self._noted("key.new", by, body)
        return self._accounts.keys.new(user, expires=read_until(expires) if expires else None, scopes=scopes, note=note)

    def new_sign_on_key(self, user: str, ends: datetime, scopes: Collection[str] = ()) -> NewKey:
        """A key that somebody gave a program of theirs, where the provider of single sign-on vouches for them."""
        limits: dict[str, object] = {"expires": stamp(ends), "source": SIGN_ON} | (
            {"scopes": sorted(scopes)} if scopes else {}
        )
        note = self._noted("key.new", Actor(user), partial(_key, limits=limits))
        return self._accounts.keys.new(user, expires=ends, scopes=scopes, source=SIGN_ON, note=note)

    def rotate_key(
        self, key_id: str, overlap_hours: float = OVERLAP_HOURS, expires: str | None = None, *, by: Actor
    ) -> NewKey:
        """A new key in place of this one, which opens for a while yet."""

        def body(issued: NewKey) -> dict[str, object]:
            self.check_credential(issued.user, by)  # within the transaction, as of new keys
            return _rotated(key_id, overlap_hours, issued)

        until, note = read_until(expires) if expires else None, self._noted("key.rotate", by, body)
        return self._accounts.keys.rotate(key_id, timedelta(hours=overlap_hours), expires=until, note=note)

    def rotate_own_key(self, key_id: str, overlap_hours: float = OVERLAP_HOURS, *, by: Actor) -> NewKey:
        """The same by its owner: the new key ends when the old one would have, for nobody prolongs their own access."""
        note = self._noted("key.rotate", by, partial(_rotated, key_id, overlap_hours))
        return self._accounts.keys.rotate(key_id, timedelta(hours=overlap_hours), keeps_end=True, note=note)

    def revoke_key(self, key_id: str, *, by: Actor) -> StoredKey:
        """The key, and whatever it was replaced by: whoever stole it may have replaced it. Each is on record."""
        return self._accounts.keys.revoke(key_id, note=self._noted("key.revoke", by, _key))

    # -- two people ------------------------------------------------------------------------------------------

    def check_credential(self, name: str, by: Actor) -> None:
        """QG302 for a new way into an account that is not theirs to give: an admin gives those of researchers and
        admins, a custodian those of others of a trusted role, and the console all."""
        user = self._accounts.find_user(name)
        if by.name == CONSOLE:
            return
        has = TABLE[self._accounts.find_user(by.name).role]
        if not is_trusted(user.role):
            if "accounts" not in has:
                raise not_allowed("accounts")
        elif "entrust" not in has:
            raise NotPermitted(
                "QG302",
                f"An admin makes no key for {_ARTICLE[user.role]} {user.role}, and links them to nobody.",
                "Ask a custodian to make the key, or do it at the console, without a key.",
            )
        elif user.name.lower() == by.name.lower():
            raise NotPermitted(
                "QG302",
                "You cannot extend your own access.",
                "Replace the key you are using, or ask another custodian.",
            )

    def needs_second(self, role: str | None, by: Actor) -> bool:
        """Whether an account of this role is opened by somebody else: by a custodian, or at the console."""
        if role not in ROLES or not is_trusted(role) or by.name == CONSOLE:
            return False
        return self._accounts.find_user(by.name).role != CUSTODIAN

    def _noted(self, kind: str, by: Actor, body: Callable[[_T], Mapping[str, object]]) -> Note[_T]:
        """Puts a change on record, in the transaction that makes it."""
        return lambda connection, changed: self._log.append(
            connection, kind, None, by.name, None, {**body(changed), **by.body()}
        )


def _name(user: User) -> dict[str, object]:
    return {"name": user.name}


def _new_user(user: User) -> dict[str, object]:
    return {"name": user.name, "role": user.role, **groups_of(user), **_closed(user)}


def _closed(user: User) -> dict[str, object]:
    return {"closed": True} if user.disabled else {}


def _key(key: NewKey | StoredKey, limits: Mapping[str, object] = MappingProxyType({})) -> dict[str, object]:
    return {"id": key.id, "name": key.user, **limits}


def _rotated(key_id: str, overlap_hours: float, issued: NewKey) -> dict[str, object]:
    return {"id": key_id, "by": issued.id, "name": issued.user, "overlap_hours": overlap_hours}


def groups_of(user: User) -> dict[str, str]:
    """The project and the organisation, as far as there are any."""
    return {key: value for key in ("project", "organisation") if (value := getattr(user, key))}
