"""Models of random tables of covariate patterns against statistical software, other seeds than the test suite's.

Half of the tables are exact, and half have ranges around their counts. Counted: figures of the fit outside their range
(must be none), fits that were refused, and how wide coefficients are in the middle case, in standard errors.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from statistics import median
from typing import Any

import numpy as np

from tests.report import row
from tests.unit.stats.models.table_cases import LINKS, make_case, misses

CASES = 8_000
FIRST_SEED = 5_000_000
LIMIT_S = 3_600.0


def run() -> list[dict[str, Any]]:
    limit, began = float(os.environ.get("SOAK_LIMIT_S", LIMIT_S)), time.monotonic()
    tally: Counter[str] = Counter()
    widths: list[float] = []
    for seed in range(CASES):
        if time.monotonic() - began > limit:
            break
        case = make_case(np.random.default_rng(FIRST_SEED + seed), list(LINKS)[seed % 4], wide=bool(seed // 4 % 2))
        found, missed = case.figures(), misses(case)
        tally["tables"] += 1
        tally["fitted"] += isinstance(found, list)
        tally["compared"] += missed is not None
        tally["wrong"] += bool(missed)
        if isinstance(found, list) and not case.exact:
            ends = [(one["coefficient"].range, one["standard_error"].likely) for one in found]
            widths += [(float(r.high or 0) - float(r.low or 0)) / error for r, error in ends if error]
    middle = median(widths) if widths else 0.0
    return [
        row("models: tables", tally["tables"], "", f"{tally['fitted']:,} fitted, {tally['compared']:,} compared"),
        row(
            "models: fits outside a range",
            tally["wrong"],
            "of",
            f"{tally['compared']:,}",
            target=0,
            met=not tally["wrong"],
        ),
        row("models: width of a coefficient", middle, "standard errors", "uncertain counts, middle case"),
    ]
