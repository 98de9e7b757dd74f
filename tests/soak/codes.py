"""Case counts over lists of codes at length: 1,000 random case definitions under each of ten settings."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tests.property.code_cases import CLAIMS_SETTINGS, SETTINGS, try_claims, try_small
from tests.report import row

QUERIES = 1_000
SEED = "soak"


def run() -> list[dict[str, Any]]:
    rows = []
    for name, settings, try_ in (("small tables", SETTINGS, try_small), ("claims", CLAIMS_SETTINGS, try_claims)):
        wrong = []
        for setting in settings:
            with tempfile.TemporaryDirectory() as folder:
                wrong += [f"{setting}: {text}" for text in try_(setting, Path(folder), QUERIES, SEED).wrong]
        print("\n".join(wrong[:20]))
        asked = f"{len(settings) * QUERIES:,} case counts"
        rows.append(row(f"codes: violations, {name}", len(wrong), "of", asked, target=0, met=not wrong))
    return rows
