"""Calls drawn from the OpenAPI document, as every role and as nobody: no server error, no status or body that is not
documented, no access beyond the role. SOAK_CALLS is how many calls of each kind, SOAK_SEED makes them others.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from querygate.web import create_app
from tests.described_api import DescribedApi, described_site
from tests.report import row

CALLS = 40


def run() -> list[dict[str, Any]]:
    calls, start = int(os.environ.get("SOAK_CALLS", CALLS)), int(os.environ.get("SOAK_SEED", "1"))
    with tempfile.TemporaryDirectory() as folder:
        site = described_site(Path(folder))
        tried = DescribedApi(site, create_app(site.opened), calls=calls, start=start).run()
    for (route, who), found in sorted(tried.wrong.items()):
        print(f"{route} as {who}: {found}\n")
    wrong = len(tried.wrong)
    return [
        row("api: calls of six kinds of people", tried.calls, "calls"),
        row("api: routes that break their description", wrong, "routes", target=0, ratio=wrong),
    ]
