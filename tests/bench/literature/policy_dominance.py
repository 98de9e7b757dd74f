"""Policies that no other dominates, of 100 found: 95 by bisecting search and 83 by the directed walk (Benitez,
Loukides, Malin, IHI 2010, figure 8).

The figure is of 2,984 patients of a hospital in Tennessee, 12 of them 90 or older, sex x race x age over the people of
Tennessee, and not of Adult, which the paper uses beside it. Nobody outside has these patients. Here as many people are
drawn from Shelby County, Tennessee, 12 of them 90 or older; the paper's weights (size of the attribute - 1, uses + 1)
add up to ours.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from querygate.methods.policy_search import LatticeCubes, bisecting, directed, safe_harbor
from tests.bench.literature import figure
from tests.bench.release import ITERATIONS, SEEDS, measure
from tests.unit.methods.policy_search.shelby import LATTICE, study

PATIENTS, OLD = 2984, 12
OLDEST = 90


def rows() -> list[dict[str, Any]]:
    county = LatticeCubes(LATTICE, _patients(), study().population)
    threshold = county.risk(safe_harbor(LATTICE))
    found = []
    for name, search, published in (
        ("bisecting", partial(bisecting, apart=False), 95),
        ("directed", directed, 83),
        ("bisecting, kept apart", bisecting, 95),
    ):
        made = measure(search, county, threshold)
        text = f"{published} of {ITERATIONS} (other patients)"
        title = f"patients of a county, {name}: not dominated, mean of {len(SEEDS)}"
        found.append(figure(title, made["best"], f"of {ITERATIONS}", text, met=made["best"] >= published - 5))
        found.append(figure(f"patients of a county, {name}: policies measured", made["nodes"], "", "about 670, 5140"))
    return found


def _patients() -> np.ndarray:
    """So many people of the county, so many of them old."""
    people, rng = study().population, np.random.default_rng(2010)
    axis = LATTICE.place("age")
    ages = np.array([int(value) for value in LATTICE.attributes[axis].values])
    old = np.moveaxis(np.zeros(people.shape, dtype=np.bool_), axis, -1)
    old[..., ages >= OLDEST] = True
    is_old = np.moveaxis(old, -1, axis)
    drawn = np.zeros_like(people)
    for some, number in ((is_old, OLD), (~is_old, PATIENTS - OLD)):
        drawn[some] = rng.multivariate_hypergeometric(people[some], number)
    return drawn
