"""Anonymisers: divide records into classes that keep a promise, and measure what was promised.

Pure: arrays in, arrays out. The caller codes the quasi-identifiers and groups the records to distinct combinations.

>>> import numpy as np
>>> age = Attribute.ordered_by("age", np.array([0, 1, 2, 3]), edges=np.array([0.0, 20, 40, 60, 80]))
>>> table = Table((age,), counts=np.array([3, 4, 1, 5]))
>>> labels = ANONYMISERS.get("mondrian")(table, k=3)
>>> labels, verify.smallest_class(labels, table.counts)
(array([0, 1, 2, 2]), 3)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from querygate.anonymise import verify
from querygate.anonymise.diversity import Alpha, Closeness, Distinct, Entropy, Recursive, Sensitive
from querygate.anonymise.guards import Guard, NumericHull
from querygate.anonymise.measures import (
    ALL_NULLS,
    NO_NULLS,
    SOME_NULLS,
    Box,
    Intervals,
    ValueSets,
    boxes,
    loss_by_attribute,
    ncp,
)
from querygate.anonymise.mondrian import Progress, mondrian
from querygate.anonymise.table import NULL, Attribute, Infeasible, Table
from querygate.core.registry import Registry
from querygate.core.types import Ints


class Anonymiser(Protocol):
    """A way to divide a table: the class of each combination, numbered 0..m-1, every promise kept."""

    def __call__(
        self, table: Table, k: int, guards: Sequence[Guard] = (), *, progress: Progress | None = None
    ) -> Ints: ...


@dataclass(frozen=True, slots=True)
class Method:
    """A registered anonymiser, and what it works on.

    `by_record`: it divides records, so that equal ones may part; its table has one combination per record, in a fixed
    order. Otherwise a combination of codes is never divided.
    """

    run: Anonymiser
    by_record: bool = False

    def __call__(
        self, table: Table, k: int, guards: Sequence[Guard] = (), *, progress: Progress | None = None
    ) -> Ints:
        return self.run(table, k, guards, progress=progress)


ANONYMISERS: Registry[Method] = Registry("anonymiser")
ANONYMISERS.register("mondrian", Method(mondrian))

__all__ = [
    "ANONYMISERS",
    "Anonymiser",
    "Method",
    "Progress",
    "mondrian",
    "Attribute",
    "Table",
    "NULL",
    "Infeasible",
    "Guard",
    "NumericHull",
    "Sensitive",
    "Distinct",
    "Entropy",
    "Recursive",
    "Alpha",
    "Closeness",
    "Box",
    "Intervals",
    "ValueSets",
    "NO_NULLS",
    "SOME_NULLS",
    "ALL_NULLS",
    "boxes",
    "loss_by_attribute",
    "ncp",
    "verify",
]
