"""Aligned sequences made identical in groups: what it costs against chance and against the limit, and the time.

Woodmouse (15 x 965) and opuntia (7 x 906): the total lattice distance of DNALA and of its refinement, beside that of
pairs by chance (the mean of 1,000) and of an optimal matching; every release is verified. Then sequences that descend
from one another (1,000 sites, about four changes a generation): 200 beside the limit, and the time and its growth for
more, beside the bound that no groups go below.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from querygate.methods.sequences import Alignment, at_random, generalised, loss, refined, verify
from querygate.methods.sequences.closest_first import closest
from tests.report import row
from tests.unit.methods.sequences.alignments import family, least_possible, opuntia, released, woodmouse
from tests.unit.methods.sequences.optimal_pairs import optimal

DRAWS = 1_000
SIZES, SITES = (1_250, 5_000), 1_000
SECONDS, EXPONENT = 30.0, 2.3
LIMIT = 200


def _verified(alignment: Alignment, labels: np.ndarray[Any, np.dtype[np.int64]]) -> int:
    """The steps of a division whose release was verified."""
    if not verify(alignment.texts(), generalised(alignment, labels).texts(), 2).holds:
        raise AssertionError("a sequence that is identical to no other, or a letter that misstates")
    return loss(alignment, labels)


def against(name: str, alignment: Alignment) -> list[dict[str, Any]]:
    """DNALA beside chance and the limit."""
    rng = np.random.default_rng(1)
    chance = float(np.mean([loss(alignment, at_random(alignment, 2, rng)) for _ in range(DRAWS)]))
    limit = _verified(alignment, optimal(alignment))
    rows = [row(f"{name}: pairs by chance", chance, "steps"), row(f"{name}: optimal matching", limit, "steps")]
    for method, labels in (("DNALA", closest(alignment)), ("refined", refined(alignment))):
        steps = _verified(alignment, labels)
        rows.append(row(f"{name}: {method}", steps, "steps", "by chance", ratio=steps / chance, target=1.0))
        rows.append(row(f"{name}: {method}", steps, "steps", "the limit", ratio=steps / limit, met=steps >= limit))
    kept = released(alignment, refined(alignment)).kept
    rows.append(row(f"{name}: letters intact", 100 * kept.symbols_intact, "%"))
    least = kept.k - 1
    rows.append(row(f"{name}: each identical to others", least, "at least", target=1, met=least >= 1))
    return rows


def timed() -> list[dict[str, Any]]:
    """A release of many, and how the time grows."""
    rows, seconds = [], {}
    for size in SIZES:
        alignment = family(size, SITES, 1)
        start = time.perf_counter()
        made = released(alignment, refined(alignment))
        seconds[size] = time.perf_counter() - start
        name = f"{size:,} x {SITES:,}"
        rows.append(row(f"{name}: release", seconds[size], "s", target=SECONDS, met=seconds[size] <= SECONDS))
        least = least_possible(alignment)
        rows.append(
            row(f"{name}: refined", made.kept.steps, "steps", "bound of any groups", ratio=made.kept.steps / least)
        )
    exponent = math.log(seconds[SIZES[1]] / seconds[SIZES[0]]) / math.log(SIZES[1] / SIZES[0])
    rows.append(row("Release: growth exponent", exponent, "", target=EXPONENT, met=exponent <= EXPONENT))
    return rows


def run() -> list[dict[str, Any]]:
    """One row per figure, for the bench report."""
    few = family(LIMIT, SITES, 1)
    return [
        *against("Woodmouse", woodmouse()),
        *against("Opuntia", opuntia()),
        *against(f"Family of {LIMIT}", few),
        *timed(),
    ]
