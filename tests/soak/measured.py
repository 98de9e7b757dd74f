"""Every figure in the pages that can be had without a benchmark: the suite looks at some of them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from querygate import demo
from querygate.custody.policy import load_policy
from querygate.custody.use_cases.publish_version import publish_to
from querygate.site.layout import init_site
from querygate.site.open_gate import open_gate
from tests.docs.measured import changes, wrong
from tests.docs.test_measured import PRIVACY, VERSIONS, overlaps
from tests.docs.test_measured_tables import CODES, test_codes
from tests.report import row


def run() -> list[dict[str, Any]]:
    stale = [where for change in changes() for where in wrong(change)]
    with tempfile.TemporaryDirectory() as folder:
        first = open_gate(init_site(Path(folder, "first")))
        publish_to(
            first, load_policy(demo.HERE / "survey_by_classes.toml"), str(demo.HERE / "survey.csv"), user="tester"
        )
        for number, (shown, change, gone) in enumerate(VERSIONS):
            apart = Path(folder, str(number))
            apart.mkdir()
            fewer, alone = overlaps(first, apart, change, gone)
            if f"| {shown} | {fewer:,} | {alone:,} |" not in PRIVACY:
                stale.append(shown)
    for name, sample, promise in CODES:
        try:
            test_codes(name, sample, promise)
        except AssertionError:
            stale.append(name)
    print("\n".join(stale))
    looked = len(changes()) + len(VERSIONS) + len(CODES)
    return [row("measured: stale figures", len(stale), "of", f"{looked} changes and tables", target=0, met=not stale)]
