"""Randomised response, PRAM and rank swapping beside condensed records: who is found, and what counts are worth.

Adult, 30,162 records, eight categories. Evfimievski, Gehrke and Srikant (PODS 2003) bound beliefs and give no figures
of such data; the tutorial of 2012 tells that of 15,000 codes one is released intact with a probability of 0.00033.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from querygate.methods.randomise import (
    allowed_amplification,
    amplification,
    distortion,
    invariant,
    rank_swapped,
    reconstructed,
    responses,
    small_domain_matrix,
    small_domains,
    uniform,
    worst_known_belief,
    worst_posterior,
)
from querygate.methods.risk import PointRecords, linkage
from tests.bench.adult import adult_columns
from tests.bench.literature import figure

RHO1, RHO2 = 0.1, 0.5
NAMES = ("sex", "race", "marital-status", "workclass")
SHOWN = 3000


def rows() -> list[dict[str, Any]]:
    return [*_bounds(), *(line for columns in (1, 4) for line in _adult(columns))]


def _bounds() -> Iterator[dict[str, Any]]:
    yield figure("gamma allowed for 5 % to 50 %", allowed_amplification(0.05, 0.5), "", "19", met=True)
    kept = uniform(1500, 5.0)[0, 0] / 10
    counts = np.full(1000, 30)
    matrix = small_domain_matrix(counts, small_domains(counts, RHO1, RHO2), RHO1, RHO2)
    belief = worst_known_belief(counts, matrix, RHO1)
    for name, share in (("small domains", matrix[0, 0]), ("responses", uniform(1000, 9.0)[0, 0])):
        yield figure(f"of 1,000 values alike kept, {name}, 10 to 50 %", 100 * float(share), "%", "far more")
    yield figure("small domains: belief of who knows the shares", belief, "", "0.5", met=belief <= RHO2 + 1e-9)
    away = np.abs(np.arange(40)[:, None] - np.arange(40)[None, :])
    for gamma in (4.0, 9.0, 100.0):
        noise, response = distortion(40, gamma, "laplace")[0], uniform(41, gamma)
        ratio = float((noise[:40, :40] * away).sum() / (response[:40, :40] * away).sum())
        yield figure(f"way of a number by noise over that by responses, gamma {gamma:g}", ratio, "", "none")
    yield figure("a code of 15,000 released intact, gamma 5", kept, "", "0.00033", met=abs(kept - 3.3e-4) < 2e-5)


def _adult(columns: int) -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng(2003)
    raw = np.stack([adult_columns()[name][1] for name in NAMES[:columns]], axis=1)
    gamma = allowed_amplification(RHO1, RHO2) ** (1 / columns)
    matrices = [uniform(int(one.max()) + 1, gamma) for one in raw.T]
    shares = [np.bincount(one) / len(raw) for one in raw.T]
    made = {
        "randomised response": matrices,
        "PRAM, 0.8 kept": [invariant(one, 0.8) for one in shares],
    }
    for name, used in made.items():
        after = np.stack([responses(one, matrix, rng) for one, matrix in zip(raw.T, used, strict=True)], axis=1)
        yield from _told(f"{name}, {columns} columns", raw, after)
        found = [
            np.abs(reconstructed(np.bincount(one, minlength=len(m)), m) - share).sum() / 2
            for one, m, share in zip(after.T, used, shares, strict=True)
        ]
        yield figure(
            f"{name}, {columns} columns: shares reconstructed, off by", 100 * float(np.mean(found)), "%", "none"
        )
    belief = worst_posterior(float(np.prod([amplification(one) for one in matrices])), RHO1)
    yield figure(f"randomised response, {columns} columns: worst belief", belief, "", "0.5", met=belief <= RHO2 + 1e-9)
    swapped = np.stack([one[rank_swapped(one, 0.05, rng)] for one in raw.T], axis=1)
    yield from _told(f"rank swapping, {columns} columns", raw, swapped)


def _told(name: str, raw: np.ndarray, after: np.ndarray) -> Iterator[dict[str, Any]]:
    sides = [PointRecords(np.zeros((SHOWN, 0)), side[:SHOWN]) for side in (raw, after)]
    each = np.arange(SHOWN)
    links = linkage(*sides, each, each, same_rows=True)
    yield figure(f"{name}: people whose nearest record is their own", 100 * float(links.row or 0), "%", "none")
    yield figure(f"{name}: values unchanged", 100 * float((raw == after).mean()), "%", "none")
