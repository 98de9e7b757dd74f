"""Sites in which everybody may ask everything, as tests want them that are not about grants.

A new site lets nobody ask. Every site that tests make in their own process gets one grant for everyone; `bare_site`
makes one without.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import wraps
from pathlib import Path

from querygate.site import layout

_GRANT = """INSERT INTO grants (id, whose, name, dataset, modes, created, by, noted)
  VALUES ('g_tests', 'everyone', '', '*', 'interval,laplace,extract', '2026-01-01T00:00:00.000000Z', 'tests', 1)"""

bare_site = layout.init_site


def grant_everyone(control: Path) -> None:
    """Without an entry in the log, in which tests count."""
    with closing(sqlite3.connect(control)) as connection, connection:
        connection.execute(_GRANT)


@wraps(bare_site)
def init_site(folder: Path) -> layout.Site:
    made = bare_site(folder)
    grant_everyone(made.control)
    return made


layout.init_site = init_site
