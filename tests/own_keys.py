"""Whose name a command is run in: decisions of reviewers need their own keys, all else can be done for them."""

from __future__ import annotations

from pathlib import Path

from querygate.core.extracts.approval_states import DECISIONS
from querygate.site.layout import open_site
from querygate.site.open_gate import open_gate


def key_file(site: Path, name: str) -> Path:
    """A file with a key of this user, beside the site."""
    path = site.parent / f"{name}.key"
    if not path.exists():
        opened = open_gate(open_site(site))
        path.write_text(opened.accounts.keys.new(name).secret + "\n")
        opened.log.database.close()
    return path


def in_the_name_of(name: str, action: str, site: Path) -> tuple[str, str]:
    """The option with which somebody does this to a request for an extract."""
    return ("--key-file", str(key_file(site, name))) if action in DECISIONS else ("--as", name)
