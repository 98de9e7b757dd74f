"""Every registered anonymiser, and one that searches blindly, on many random tables: k, and every guarantee.

The time limit is the environment variable SOAK_LIMIT_S, in seconds.
"""

from __future__ import annotations

import os
import time
from typing import Any

from querygate.methods.anonymise import ANONYMISERS, Method, blind, mondrian
from tests.report import row
from tests.unit.methods.anonymise.guarded import GUARDS
from tests.unit.methods.anonymise.test_conformance import Subject, has_k_records, keeps, subject

TABLES = 300
FIRST_SEED = 4_000_000
LIMIT_S = 1_800.0


def run() -> list[dict[str, Any]]:
    limit, began = float(os.environ.get("SOAK_LIMIT_S", LIMIT_S)), time.monotonic()
    tried, wrong = 0, []
    methods = {name: subject(name) for name in ANONYMISERS.names()}
    methods["blind mondrian"] = Subject(Method(blind(mondrian)), one_number=False)
    for seed in range(FIRST_SEED, FIRST_SEED + TABLES):
        if time.monotonic() - began > limit:
            break
        tried += 1
        for name, method in methods.items():
            wrong += [] if has_k_records(method, seed) else [f"{name}, seed {seed}: k"]
            wrong += [f"{name}, seed {seed}: {kind}" for kind in GUARDS if not keeps(method, kind, seed)[0]]
    print("\n".join(wrong[:20]))
    return [row("anonymisers: promises broken", len(wrong), "on", f"{tried:,} tables", target=0, met=not wrong)]
