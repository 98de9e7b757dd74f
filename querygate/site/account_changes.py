"""Changes to users and keys, whoever makes them and at whichever door: each is made and put on record here."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

from querygate.control import Actor, Grantee, User, stamp
from querygate.control.accounts import SIGN_ON, NewKey, StoredKey
from querygate.control.grants import read_until
from querygate.core.errors import ConfigError
from querygate.site.open_gate import OpenSite

RESERVED = frozenset({"local", "upgrade", "oidc"})
"""Names in the log that are nobody's account: the console, an upgrade, single sign-on."""

OVERLAP_HOURS = 24.0
MOST_OVERLAP_HOURS = 24 * 90


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
        """An account, and a grant for each of these datasets."""
        if name.lower() in RESERVED:
            raise ConfigError(
                "QG806",
                "This name is reserved: in the log it stands for the console, an upgrade or single sign-on.",
                "Choose another name.",
            )
        added = self._accounts.add_user(name, role, project, organisation)
        self._note("user.add", {"name": added.name, "role": added.role, **groups_of(added)}, by)
        for dataset in datasets:
            self._grants.add(Grantee("user", added.name), dataset, by=by)
        return added

    def change_user(
        self, name: str, *, role: str | None, project: str | None, organisation: str | None, by: Actor
    ) -> User:
        changed = self._accounts.change_user(name, role=role, project=project, organisation=organisation)
        body = {"name": changed.name, "project": changed.project, "organisation": changed.organisation}
        self._note("user.change", body | ({"role": changed.role} if role else {}), by)
        return changed

    def remove_user(self, name: str, *, by: Actor) -> User:
        removed = self._accounts.remove_user(name)
        self._note("user.remove", {"name": removed.name}, by)
        return removed

    def disable_user(self, name: str, *, by: Actor) -> User:
        closed = self._accounts.disable_user(name)
        self._note("user.disable", {"name": closed.name}, by)
        return closed

    def enable_user(self, name: str, *, by: Actor) -> User:
        opened = self._accounts.enable_user(name)
        self._note("user.enable", {"name": opened.name}, by)
        return opened

    # -- keys --------------------------------------------------------------------------------------------

    def new_key(self, user: str, expires: str | None = None, scopes: Collection[str] = (), *, by: Actor) -> NewKey:
        """A key of this user; `expires` is the last day, or a moment."""
        issued = self._accounts.new_key(user, expires=read_until(expires) if expires else None, scopes=scopes)
        limits = ({"expires": expires} if expires else {}) | ({"scopes": sorted(scopes)} if scopes else {})
        self._note("key.new", {"id": issued.id, "name": issued.user, **limits}, by)
        return issued

    def new_sign_on_key(self, user: str, ends: datetime, scopes: Collection[str] = ()) -> NewKey:
        """A key that somebody gave a program of theirs, where the provider of single sign-on vouches for them."""
        issued = self._accounts.new_key(user, expires=ends, scopes=scopes, source=SIGN_ON)
        body = {"id": issued.id, "name": issued.user, "expires": stamp(ends), "source": SIGN_ON}
        self._note("key.new", body | ({"scopes": sorted(scopes)} if scopes else {}), Actor(issued.user))
        return issued

    def rotate_key(
        self, key_id: str, overlap_hours: float = OVERLAP_HOURS, expires: str | None = None, *, by: Actor
    ) -> NewKey:
        """A new key in place of this one, which opens for a while yet."""
        until = read_until(expires) if expires else None
        issued = self._accounts.rotate_key(key_id, timedelta(hours=overlap_hours), expires=until)
        self._note_rotation(key_id, issued, overlap_hours, by)
        return issued

    def rotate_own_key(self, key_id: str, overlap_hours: float = OVERLAP_HOURS, *, by: Actor) -> NewKey:
        """The same by its owner: the new key ends when the old one would have, for nobody prolongs their own access."""
        ends = self._accounts.find_key(key_id).expires
        until = read_until(ends) if ends else None
        issued = self._accounts.rotate_key(key_id, timedelta(hours=overlap_hours), expires=until)
        self._note_rotation(key_id, issued, overlap_hours, by)
        return issued

    def revoke_key(self, key_id: str, *, by: Actor) -> StoredKey:
        revoked = self._accounts.revoke_key(key_id)
        self._note("key.revoke", {"id": revoked.id, "name": revoked.user}, by)
        return revoked

    def _note_rotation(self, key_id: str, issued: NewKey, overlap_hours: float, by: Actor) -> None:
        body = {"id": key_id, "by": issued.id, "name": issued.user, "overlap_hours": overlap_hours}
        self._note("key.rotate", body, by)

    def _note(self, kind: str, body: Mapping[str, object], by: Actor) -> None:
        self._log.note(kind, user=by.name, body={**body, **by.body()})


def groups_of(user: User) -> dict[str, str]:
    """The project and the organisation, as far as there are any."""
    return {key: value for key in ("project", "organisation") if (value := getattr(user, key))}
