"""Whose answers are combined: each user's, each project's, each organisation's, everybody's, and those of named
groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from querygate.methods.audit.coalitions import POOLED
from querygate.site.open_gate import OpenSite

PROJECT, ORGANISATION = "project ", "organisation "
"""Before the name of a view. No user's name has a space, so views of users are told apart from these."""


def views_of(opened: OpenSite, named: Mapping[str, Sequence[str]] | None = None) -> dict[str, tuple[str, ...]]:
    """Each view with its users, small ones first; `named` are groups that a custodian asks about.

    Membership is as it is now: somebody who joins a project brings along what they were answered before.
    """
    users = opened.accounts.list_users()
    views: dict[str, tuple[str, ...]] = {user.name: (user.name,) for user in users}
    for prefix, field in ((PROJECT, "project"), (ORGANISATION, "organisation")):
        spelled: dict[str, str] = {}  # names differ by more than case, as those of users do
        for user in users:
            if name := getattr(user, field):
                view = spelled.setdefault(name.casefold(), prefix + name)
                views[view] = (*views.get(view, ()), user.name)
    views |= {name: tuple(members) for name, members in (named or {}).items()}
    return {**views, POOLED: tuple(user.name for user in users)}


def is_blocking(view: str, user: str) -> bool:
    """May a finding in this view refuse a query of the user? Those of users and projects may; larger ones only tell.

    One person could otherwise make the questions of strangers be refused, by asking near them first.
    """
    return view == user or view.startswith(PROJECT)


__all__ = ["views_of", "is_blocking", "PROJECT", "ORGANISATION", "POOLED"]
