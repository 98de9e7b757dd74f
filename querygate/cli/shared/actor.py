"""Who runs a command: the owner of the key they show, or, without one, whoever sits at the console.

With a key a command may do what its owner's role may do (core/rights.py), as at every other door. Without one it may do
what the files allow, for they are open to this account of the operating system; but nobody decides in another's name.
"""

from __future__ import annotations

import os
import pwd
import sys
from pathlib import Path

import click

from querygate.cli.shared.command_rights import is_decision, rights_of
from querygate.control import Actor
from querygate.control.account_terms import no_user
from querygate.core.errors import NotPermitted
from querygate.core.rights import not_allowed
from querygate.core.types import Principal
from querygate.site.layout import open_site
from querygate.site.open_gate import OpenSite, open_gate

LOCAL = Principal("local", "console", assumed=True)
"""Whoever is at the console. They own the folder, and are logged under this name."""

KEY_VARIABLE = "QUERYGATE_KEY"

_PRINCIPAL, _KEY_FILE = "querygate.principal", "querygate.key_file"
_LOGIN = Path("/proc/self/loginuid")
_UNSET = 2**32 - 1


def acting() -> Principal:
    """In whose name the running command acts."""
    context = click.get_current_context(silent=True)
    found = None if context is None else context.meta.get(_PRINCIPAL)
    return found if isinstance(found, Principal) else LOCAL


def actor() -> Actor:
    """The same for the record, with the account of the operating system."""
    return Actor(acting().name, os_user())


def os_user() -> str:
    """The account of the operating system; where somebody logged in under another one, that too. Not from the
    environment, which anybody can change.
    """
    own = _account(os.getuid())
    try:
        login = int(_LOGIN.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return own
    return own if login in (_UNSET, os.getuid()) else f"{own} (logged in as {_account(login)})"


def _account(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


# -- keys ----------------------------------------------------------------------------------------------------------


def remember_key_file(context: click.Context, parameter: click.Parameter, value: Path | None) -> None:
    if value is not None:
        context.meta[_KEY_FILE] = value


def identify(context: click.Context) -> None:
    """Find out whose key was shown, and whether they may run this command: QG301, QG302. Nothing without a key."""
    words = command_words(context)
    rights = rights_of(words)
    presented = presented_key(context, ask=is_decision(words))
    if presented is None or not rights:
        return
    opened = open_gate(open_site(context.params["site"]))
    principal = opened.accounts.keys.authenticate(presented)
    if not any(principal.may(right) for right in rights):
        raise not_allowed(rights[0])
    context.meta[_PRINCIPAL] = principal


def command_words(context: click.Context) -> str:
    """The command as it is called, without the program: `export approve`."""
    words: list[str] = []
    at: click.Context | None = context
    while at is not None and at.parent is not None:
        words.insert(0, at.info_name or "")
        at = at.parent
    return " ".join(words)


def presented_key(context: click.Context, *, ask: bool = False) -> str | None:
    """The key from the file, the environment or, for a decision at a terminal, whoever sits there."""
    file = context.meta.get(_KEY_FILE)
    if isinstance(file, Path):
        try:
            return file.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            raise click.BadParameter("The file cannot be read.", param_hint="--key-file") from None
    if os.environ.get(KEY_VARIABLE):
        return os.environ[KEY_VARIABLE].strip()
    if ask and sys.stdin.isatty():
        return str(click.prompt("Your key", hide_input=True, err=True)).strip()
    return None


# -- in another's name ---------------------------------------------------------------------------------------------


def find_principal(opened: OpenSite, name: str | None) -> Principal:
    """In whose name is asked: with --as, a user of the site, whom the owner of the console stands in for."""
    if name is None:
        return acting()
    if acting() != LOCAL:
        raise click.UsageError("A key says who you are: leave out --as, or the key.")
    for user in opened.accounts.list_users():
        if user.name.lower() == name.lower() and user.removed is None:
            if user.disabled:
                raise NotPermitted("QG302", "This account is closed.", "Reopen it with `querygate user enable`.")
            return Principal(user.name, user.role, assumed=True)
    raise no_user()
