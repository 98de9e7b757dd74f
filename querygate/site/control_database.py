"""Where a site's accounts, log, jobs and budgets are: `control.db` in its folder, or the server that the setting
`control` names, for several gates and workers."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from querygate.control.database import Database
from querygate.control.ports import ControlDatabase
from querygate.control.schema import MIGRATIONS
from querygate.core.errors import ConfigError
from querygate.site.layout import Site

if TYPE_CHECKING:
    from querygate_adapters.control.postgres_control import PostgresControl

MOVED = ".moved"
"""What the name of a `control.db` ends with whose content is on the server."""


def open_control(site: Site) -> ControlDatabase:
    """The control database of a site. ConfigError QG804 where it is to be on a server, and is still in the folder."""
    if not site.settings["control"]:
        return Database(site.control)
    server = on_server(site)
    version = server.version()
    if version is None:
        if _has_content(site):
            raise ConfigError(
                "QG804",
                "The setting `control` names a server that holds nothing yet, and control.db has accounts and a log.",
                "Move them there with `querygate migrate`, or leave the setting empty.",
            )
        _fill(site)
    elif version != len(MIGRATIONS):
        raise ConfigError(
            "QG804",
            "The control database on the server was written by another version of QueryGate.",
            "Use that version; an older one is brought up to date by `querygate migrate`.",
        )
    server.close()  # none is left open here, so that a server may fork after opening its database
    return server


def on_server(site: Site) -> PostgresControl:
    """The server that the setting names, whatever it holds."""
    try:
        from querygate_adapters.control.postgres_control import PostgresControl
    except ImportError:
        raise ConfigError(
            "QG805",
            "The setting `control` names a PostgreSQL server, but the PostgreSQL driver is not installed.",
            "Install it with: pip install 'querygate[postgres]'.",
        ) from None
    return PostgresControl(str(site.settings["control"]), site.control)


def has_moved(site: Site) -> bool:
    """Whether the server that the setting names has the control database."""
    return bool(site.settings["control"]) and on_server(site).version() is not None


def move_control(site: Site) -> None:
    """Put everything that is in `control.db` on the server, in one transaction, and keep the file under another name:
    whoever took the setting back would go on with a log that has forgotten what came after. Nobody else may be using
    the site."""
    _fill(site)
    site.control.rename(site.control.with_name(site.control.name + MOVED))


def _fill(site: Site) -> None:
    Database(site.control).close()  # up to date, and made where it is not there
    with closing(sqlite3.connect(site.control)) as source:
        source.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # all of it is in the one file that is kept
        on_server(site).fill(source)


def _has_content(site: Site) -> bool:
    if not site.control.exists():
        return False
    database = Database(site.control)
    try:
        return bool(database.rows("SELECT 1 FROM users UNION SELECT 1 FROM log UNION SELECT 1 FROM segment LIMIT 1"))
    finally:
        database.close()
