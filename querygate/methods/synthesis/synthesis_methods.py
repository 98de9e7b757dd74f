"""The ways to condense, by name: how records are grouped, and what stands for a group."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from querygate.core.registry import Registry
from querygate.core.types import Floats, Ints
from querygate.methods.synthesis.kmeans import kmeans_of_least
from querygate.methods.synthesis.mdav import mdav
from querygate.methods.synthesis.mst_groups import mst_groups
from querygate.methods.synthesis.random_groups import random_groups
from querygate.methods.synthesis.tfrp import tfrp

Grouping: TypeAlias = "Callable[[Floats, int, np.random.Generator], Ints]"


@dataclass(frozen=True, slots=True)
class SynthesisMethod:
    """How to condense.

    `drawn`: records are drawn at random with the cluster's mean and covariance; else all become its centroid.
    `tailored`: distances weigh the response, and survival times can be given back by rank.
    A part has at most `records` points or `clusters` times k, whichever is more.
    """

    group: Grouping
    summary: str
    drawn: bool
    tailored: bool = False
    records: int = 20_000
    clusters: int = 200

    def largest_part(self, k: int) -> int:
        return max(self.records, self.clusters * k)

    @property
    def least_k(self) -> int:
        """Two points are told by their mean and covariance, so drawn records need clusters of three."""
        return 3 if self.drawn else 2


METHODS: Registry[SynthesisMethod] = Registry("way to condense")
METHODS.register(
    "improved",
    SynthesisMethod(
        kmeans_of_least, "k-means near the response, drawn records (Gal et al. 2014)", True, True, records=0
    ),
)
METHODS.register(
    "condensation", SynthesisMethod(random_groups, "random seeds, drawn records (Aggarwal & Yu 2004)", True)
)
METHODS.register("tfrp", SynthesisMethod(tfrp, "two fixed reference points, centroids (Chang et al. 2007)", False))
METHODS.register("mdav", SynthesisMethod(mdav, "MDAV, centroids (Domingo-Ferrer & Torra 2005)", False))
METHODS.register(
    "r-microhybrid",
    SynthesisMethod(mdav, "MDAV, drawn records (Domingo-Ferrer & González-Nicolás 2010)", True),
)
METHODS.register(
    "microperturbation",
    SynthesisMethod(mst_groups, "spanning tree, drawn records (Li & Sarkar 2013)", True, records=2_000),
)
