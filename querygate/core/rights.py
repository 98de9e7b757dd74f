"""Who may do what: one table of roles and rights for every front door, and how a key's scopes restrict it.

>>> may("reviewer", "review"), may("reviewer", "publish"), may("admin", "ask")
(True, False, False)
>>> may("custodian", "publish", frozenset({"ask"}))
False
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, Protocol, TypeAlias, get_args

from querygate.core.errors import NotPermitted

UserRole: TypeAlias = Literal["researcher", "reviewer", "custodian", "auditor", "admin", "console"]
"""`console` is nobody's account: it is whoever runs a command without a key, and so owns the site's files."""

Right: TypeAlias = Literal[
    "ask",
    "ask_any",
    "look",
    "review",
    "build",
    "publish",
    "oversee",
    "audit",
    "operate",
    "grant",
    "suspend",
    "accounts",
    "entrust",
    "own_keys",
    "work",
]
Scope: TypeAlias = Literal["ask", "review", "publish", "oversee", "admin", "worker"]

GrantMode: TypeAlias = Literal["interval", "laplace", "extract"]
MODES: tuple[GrantMode, ...] = get_args(GrantMode)
"""What a grant may be about: guaranteed ranges, noisy numbers, requests for extracts."""

ROLES: tuple[UserRole, ...] = ("researcher", "reviewer", "custodian", "auditor", "admin")
"""Roles that an account can have."""

RIGHTS: Mapping[Right, str] = MappingProxyType(
    {
        "ask": "query datasets they have a grant for, read their own answers, request extracts",
        "ask_any": "do the same for every dataset, without a grant",
        "look": "list and describe every dataset, without querying",
        "review": "see other people's extract requests; take, approve, return, reject and release them",
        "build": "build and revoke extracts, and fetch other people's",
        "publish": "publish, roll back, retire and withdraw datasets; delete people and raw rows",
        "oversee": "read the log, findings, risk reports, and other people's answers",
        "audit": "run audits and risk reports, which read raw rows",
        "operate": "run the site: serve it, archive its log",
        "grant": "give and revoke grants",
        "suspend": "close and reopen user accounts",
        "accounts": "manage users, and the keys of researchers and admins",
        "entrust": "make keys for reviewers, custodians and auditors",
        "own_keys": "list their own keys; replace or revoke the one in use",
        "work": "take jobs for the vault, as a custody worker does",
    }
)

TABLE: Mapping[UserRole, frozenset[Right]] = MappingProxyType(
    {
        "researcher": frozenset({"ask", "own_keys"}),
        "reviewer": frozenset({"look", "review", "own_keys"}),
        "custodian": frozenset(get_args(Right)) - {"accounts"},
        "auditor": frozenset({"look", "oversee", "own_keys"}),
        "admin": frozenset({"grant", "suspend", "accounts", "own_keys"}),
        "console": frozenset(get_args(Right)),
    }
)

SCOPES: Mapping[Scope, frozenset[Right]] = MappingProxyType(
    {
        "ask": frozenset({"ask", "ask_any", "look", "own_keys"}),
        "review": frozenset({"look", "review", "own_keys"}),
        "publish": frozenset({"look", "publish", "build", "audit", "operate", "own_keys"}),
        "oversee": frozenset({"look", "oversee", "own_keys"}),
        "admin": frozenset({"grant", "suspend", "accounts", "own_keys"}),
        "worker": frozenset({"work", "own_keys"}),
    }
)
"""What a key is good for, where its owner's role allows it too. A key without scopes is good for all of the role; to
`entrust` takes such a key, or a narrow one would make a wide one."""


OVER_OTHERS: frozenset[Right] = frozenset({"ask_any", "review", "build", "publish", "oversee", "audit", "work"})
"""Rights to see or release what is not one's own."""


def is_trusted(role: UserRole) -> bool:
    """Whether a role sees or releases other people's data. A second person must open such an account, not an admin
    alone.

    >>> [role for role in ROLES if is_trusted(role)]
    ['reviewer', 'custodian', 'auditor']
    """
    return bool(TABLE[role] & OVER_OTHERS)


def may(role: UserRole, right: Right, scopes: frozenset[str] | None = None) -> bool:
    """Whether somebody of this role has a right, through a key of these scopes (None: of all)."""
    if right not in TABLE[role]:
        return False
    return scopes is None or any(right in rights for scope, rights in SCOPES.items() if scope in scopes)


def not_allowed(right: Right) -> NotPermitted:
    """The same wording at every front door."""
    has = ", ".join(role for role in ROLES if right in TABLE[role])
    return NotPermitted(
        "QG302",
        f"Your role, or the scope of your key, does not include the right to {RIGHTS[right]}.",
        f"Ask someone who has it ({has}), or use another key.",
    )


# -- grants ---------------------------------------------------------------------------------------------------------


class GrantBook(Protocol):
    """Who may query which dataset at the moment."""

    def modes(self, user: str, dataset: str) -> frozenset[str]:
        """The modes in which this user may query this dataset; empty if nothing was granted. This does not depend on
        what is in the store."""
        ...


def no_dataset() -> NotPermitted:
    """The same wording for a dataset that does not exist and for one that was not granted, so nobody learns which."""
    return NotPermitted("QG303", "There is no dataset with this name.", "List the datasets to see their names.")


def not_granted(mode: str) -> NotPermitted:
    """For users who know the dataset because they were granted another mode."""
    return NotPermitted(
        "QG313", f"You have no grant for this dataset in the mode {mode}.", "Ask the custodian for one."
    )
