"""Noise at length: 100,000 releases on each of two neighbours, for every way to release something. Then statements on
tables in which every column has missing values: what is counted, and how often intervals cover."""

from __future__ import annotations

import multiprocessing
import os
import random
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.report import row
from tests.sql.study import ROWS, samples
from tests.unit.custody.noise.clinic_with_gaps import make_clinic
from tests.unit.custody.noise.exact_numbers import write_vault
from tests.unit.custody.noise.test_missing_values import COVERED, DRAWS, coverage
from tests.unit.custody.noise.test_row_tally import STUDY, compared
from tests.unit.methods.dp.cases import EPSILON, EVERY, TIGHT, delta_of
from tests.unit.methods.dp.empirical import measured_epsilon, sample

RELEASES = int(os.environ.get("SOAK_RELEASES", "100000"))
CASES = [(name, 1.0) for name in EVERY] + [(name, 0.5) for name in TIGHT]
CLINICS = 5
LEAST = 0.94
"""Of as many intervals as there are in all clinics, 95 of 100 are declared, and chance moves that by half a percent."""


def run() -> list[dict[str, Any]]:
    began = time.monotonic()
    with multiprocessing.get_context("fork").Pool() as pool:
        measured = dict(zip(CASES, pool.map(_measured, CASES, chunksize=1), strict=True))
    print(f"{RELEASES:,} releases on each neighbour, {len(CASES)} cases, {time.monotonic() - began:.0f} s")
    return [*(_row(name, part, epsilon) for (name, part), epsilon in measured.items()), counted(), *covered()]


def counted() -> dict[str, Any]:
    """Every statement of the corpus that noise can be added to is counted as DuckDB counts it, or this fails."""
    with tempfile.TemporaryDirectory() as folder:
        vault = write_vault(Path(folder), STUDY, ROWS)
        found = sum(compared(sample.sql, vault) for sample in samples("accepted"))
    return row("statements counted as DuckDB counts them", found, "statements", "at least 300", met=found >= 300)


def covered() -> list[dict[str, Any]]:
    """How often intervals hold the truth, over clinics with more and more missing values."""
    shares: dict[str, list[float]] = {form: [] for form in COVERED}
    for number in range(CLINICS):
        with tempfile.TemporaryDirectory() as folder:
            clinic = make_clinic(Path(folder), missing=0.05 + 0.1 * number, seed=random.Random(number).randint(0, 99))
            for form, sql in COVERED.items():
                entropy = random.Random(f"{form} {number}")
                shares[form].append(coverage(clinic, sql, 1.0 if "sum" in form else 0.05, entropy))
    told = f"{DRAWS} draws in each of {CLINICS} clinics"
    means = {form: sum(found) / len(found) for form, found in shares.items()}
    return [
        row(f"coverage of {form}", mean, "of 1", told, target=0.95, met=mean >= LEAST) for form, mean in means.items()
    ]


def _measured(case: tuple[str, float]) -> float:
    name, part = case
    entropy = random.Random(f"soak {name} {part}")
    first, second = (sample(RELEASES, EVERY[name], which, part, entropy) for which in (0, 1))
    return measured_epsilon(first, second, delta_of(name))


def _row(name: str, part: float, epsilon: float) -> dict[str, Any]:
    """Epsilon is at most what was declared; with half the sensitivity it is more, or the test sees nothing."""
    told = f"epsilon of {name}" + ("" if part == 1 else ", half the sensitivity")
    met = epsilon <= EPSILON if part == 1 else epsilon > EPSILON
    return row(told, epsilon, "at least", "at most 1" if part == 1 else "more than 1", target=EPSILON, met=met)
