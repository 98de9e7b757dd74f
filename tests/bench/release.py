"""Policies at the risk of Safe Harbor: Adult over Shelby County, sex x race x age, 100 iterations, five seeds.

Bisecting search against the directed walk: policies measured, solutions that no other dominates, milliseconds for a
solution. Published on 32,561 Adult rows: 670 policies against 5,140, 95 of 100 solutions not dominated against 83, 16 s
against 110 s a solution. `bisecting` keeps iterations apart, as the product does; `published` does not; `complete` also
takes back every boundary that the threshold allows. The directed walk is as published, without either. Figures are
means over the seeds. How the two tables are laid over each other is said in tests/unit/methods/policy_search/shelby.py.

The same on 3,000 people drawn from the county itself, without targets: how long the walk is depends on how
far the threshold is from the finest policy, so the advantage is that of the data as well as of the search.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from statistics import mean
from typing import Any

import numpy as np

from querygate.methods.policy_search import LatticeCubes, SearchResult, bisecting, directed, kinds, safe_harbor
from tests.report import row
from tests.unit.methods.policy_search.shelby import LATTICE, study

ITERATIONS, SEEDS = 100, range(5)
PUBLISHED_NODES, PUBLISHED_RATIO = 670, 5140 / 670
PUBLISHED_BEST, DIRECTED_BEST = 95, 83
SECONDS = 0.2
DRAWN = 3000

Searching = Callable[[LatticeCubes, float, int, np.random.Generator], SearchResult]
SEARCHES: dict[str, Searching] = {
    "bisecting": bisecting,
    "directed": directed,
    "bisecting, published": partial(bisecting, apart=False),
    "bisecting, complete": partial(bisecting, complete=True),
    "directed, complete": partial(directed, complete=True),
}


def measure(search: Searching, study: LatticeCubes, threshold: float) -> dict[str, float]:
    """Means over the seeds; every solution is checked against the threshold."""
    found, took = [], []
    for seed in SEEDS:
        start = time.perf_counter()
        found.append(search(study, threshold, ITERATIONS, np.random.default_rng(seed)))
        took.append((time.perf_counter() - start) / ITERATIONS)
        if any(study.risk(one.policy) > threshold * (1 + 1e-9) for one in found[-1].solutions):
            raise AssertionError("a solution above the threshold")
    return {
        "nodes": mean(one.visited for one in found),
        "best": mean(len(one.best) for one in found),
        "least": min(len(one.best) for one in found),
        "seconds": mean(took),
    }


def run() -> list[dict[str, Any]]:
    """Rows for the table; the published figures are the targets of the product's search."""
    yardstick = study().risk(safe_harbor(LATTICE))
    finest = study().risk(LATTICE.finest)
    rows = [row("release: risk of Safe Harbor", yardstick, "", f"{finest:.4g} of all values as they are")]
    rows.append(row("release: one policy measured", 1e6 * _node(), "CPU µs"))
    made = {name: measure(search, study(), yardstick) for name, search in SEARCHES.items()}
    for name, figures in made.items():
        main = name == "bisecting"
        ratio = made["directed"]["nodes"] / figures["nodes"]
        rows.append(
            row(
                f"release: {name}: policies measured",
                figures["nodes"],
                "policies",
                "directed, of which this is one in",
                ratio=ratio,
                target=PUBLISHED_RATIO if main else None,
                met=(ratio >= PUBLISHED_RATIO and figures["nodes"] <= PUBLISHED_NODES) if main else None,
            )
        )
        more = figures["best"] - made["directed"]["best"]
        rows.append(
            row(
                f"release: {name}: not dominated of {ITERATIONS}",
                figures["best"],
                "solutions",
                f"least of {len(SEEDS)} seeds {figures['least']}",
                target=PUBLISHED_BEST if main else None,
                met=(figures["best"] >= PUBLISHED_BEST and more >= PUBLISHED_BEST - DIRECTED_BEST) if main else None,
            )
        )
        rows.append(
            row(
                f"release: {name}: a solution",
                1e3 * figures["seconds"],
                "ms",
                target=1e3 * SECONDS,
                met=figures["seconds"] <= SECONDS,
            )
        )
    found = bisecting(study(), yardstick, ITERATIONS, np.random.default_rng(0), complete=True)
    rows.append(row("release: kinds shown", len(kinds(study(), found.best)), "kinds", f"{len(found.best)} policies"))
    return rows + _county()


def _county() -> list[dict[str, Any]]:
    people = study().population
    drawn = np.random.default_rng(7).multivariate_hypergeometric(people.ravel(), DRAWN).reshape(people.shape)
    county, rows = LatticeCubes(LATTICE, drawn, people), []
    for name in ("bisecting", "directed", "bisecting, published"):
        figures = measure(SEARCHES[name], county, county.risk(safe_harbor(LATTICE)))
        rows.append(row(f"release: county, {name}: policies measured", figures["nodes"], "policies"))
        least = f"least of {len(SEEDS)} seeds {figures['least']}"
        rows.append(row(f"release: county, {name}: not dominated of {ITERATIONS}", figures["best"], "solutions", least))
    return rows


def _node() -> float:
    policies = np.random.default_rng(0).random((2000, LATTICE.length)) < 0.8
    start = time.process_time()
    for kept in policies:
        study().risk_of(kept)
    return (time.process_time() - start) / len(policies)
