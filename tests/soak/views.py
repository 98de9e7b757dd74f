"""Certified views at length: tiny tables tried in full and hostile ones checked again, with other seeds than the suite.

Tables of too few people are passed over.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

from querygate.methods.views import TooFewPeople, certified_views
from tests.report import row
from tests.unit.methods.views.recheck import problems
from tests.unit.methods.views.tables import hostile
from tests.unit.methods.views.tiny import tried

TABLES, HOSTILE = 3_000, 500
FIRST_SEED = 1_000_000
LIMIT_S = 900


def run() -> list[dict[str, Any]]:
    began, number, wrong = time.monotonic(), 0, []
    for seed in range(FIRST_SEED, FIRST_SEED + TABLES):
        if time.monotonic() - began > LIMIT_S:
            break
        wrong += tried(seed)
        number += 1
    print("\n".join(wrong[:20]))
    met = not wrong and number >= 1_000
    return [
        row("views: wrong certificates", len(wrong), "of", f"{number:,} tiny tables", target=0, met=met),
        _hostile(),
    ]


def _hostile() -> dict[str, Any]:
    number, wrong = 0, []
    for seed in range(FIRST_SEED, FIRST_SEED + HOSTILE):
        table, plan = hostile(seed)
        with suppress(TooFewPeople):
            wrong += [f"seed {seed}: {text}" for text in problems(table, certified_views(table, plan))]
            number += 1
    print("\n".join(wrong[:20]))
    return row("views: refused by the checker", len(wrong), "of", f"{number:,} hostile tables", target=0, met=not wrong)
