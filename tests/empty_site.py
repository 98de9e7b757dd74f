"""Empty sites, copied from one that was made before: to make a control database takes longer than many a test."""

from __future__ import annotations

import atexit
import os
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from querygate.site.layout import Site, init_site, open_site


@cache
def _template(process: int) -> Path:
    folder = Path(mkdtemp(prefix="querygate-empty-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return init_site(folder / "site").folder


def empty_site(folder: Path) -> Site:
    """As init_site makes it, with the same key as every other one."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    return open_site(Path(shutil.copytree(_template(os.getpid()), folder)))
