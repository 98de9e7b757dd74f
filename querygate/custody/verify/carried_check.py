"""Classes that were carried over from an earlier version: they are what was verified then, and all of it counts up.

Everything that is cheap is counted over all classes: their sizes, with the raw rows of each, and the intervals of
numbers. What the earlier version kept of a guarantee, its classes still keep, since each is judged by itself; so the
figure of the whole is the worse one of then and now.
"""

from __future__ import annotations

from dataclasses import replace

from querygate.core.publications.carried_classes import CarriedProof
from querygate.core.types import Catalog
from querygate.custody.policy import Policy
from querygate.custody.verify.verifier_types import Measurement, both, require


def check_carried(proof: CarriedProof, catalog: Catalog, policy: Policy) -> None:
    """ConfigError QG803 where anything differs."""
    require(proof.told == catalog.rows, "every record is counted once")
    require(proof.uneven == 0, "class sizes")
    require(proof.smallest >= policy.k, f"k = {policy.k}")
    require(proof.same_cells, "cells of classes that were carried over are those of the earlier version")
    require(proof.same_rows, "rows of classes that were carried over are those of the earlier version")
    for column in catalog.columns:
        if policy.column(column.name).carry == "bins":
            least = proof.least_in_bin[column.index]
            require(least == 0 or least >= policy.k, f"k = {policy.k} in each bin of {column.name}")


def with_carried(made: Measurement, before: Measurement, proof: CarriedProof) -> Measurement:
    """What the whole version keeps: what its new classes keep, and what the others kept before."""
    return replace(both(made, before), smallest=proof.smallest, largest=proof.largest, width=dict(proof.width))
