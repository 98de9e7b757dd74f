"""What users, keys and links have in common: where each comes from, how a change goes on record, and no user."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias, TypeVar

from querygate.control.ports import Connection
from querygate.core.errors import ConfigError

_T = TypeVar("_T")
Note: TypeAlias = Callable[[Connection, _T], None]
"""Puts a change on record within its own transaction: both are on disk, or neither is."""


def unnoted(connection: Connection, changed: object) -> None:
    """For changes that nobody has to know of, such as those of the demo."""


Source: TypeAlias = Literal["hand", "oidc"]
HAND: Source = "hand"
SIGN_ON: Source = "oidc"
"""Where a role, a key or a grant comes from: from people, or from single sign-on."""


def no_user() -> ConfigError:
    """The same words wherever a user is looked for."""
    return ConfigError("QG808", "There is no user with this name.", "List the users with `querygate user list`.")
