"""Counts of many conditions on the quasi-identifiers, drawn from what the policy makes public, never from the data.

A partition is as useful as its counts are certain: of every condition, the records of classes that lie across its
border may or may not be meant. The mean share of such records, over the same conditions for every partition, tells
which partition answers counts best.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.anonymise import ALL_NULLS, NO_NULLS, Attribute, Intervals, Table, ValueSets, boxes

CONDITIONS = 200
SEED = 20060301  # any number: what matters is that it is the same for every partition and every publication


@dataclass(frozen=True)
class Condition:
    """A range of an ordered attribute, or a set of codes of a nominal one."""

    attribute: str
    low: float = 0.0
    high: float = 0.0
    codes: Bools | None = None


class Workload:
    """Conditions on up to two attributes each. `domains` are the public ends of numbers; hierarchies have their own."""

    def __init__(self, attributes: Sequence[Attribute], domains: Mapping[str, tuple[float, float]]) -> None:
        rng = np.random.default_rng(SEED)
        useful = [a for a in attributes if a.ordered or a.size > 1]
        self.queries = [
            [_condition(rng, useful[i], domains) for i in rng.permutation(len(useful))[:2].tolist()]
            for _ in range(CONDITIONS if useful else 0)
        ]

    def mean_width(self, table: Table, labels: Ints) -> float:
        """Mean over the queries of the width of the guaranteed count, as a share of all records.

        Conditions on attributes that the table does not have are left out.
        """
        records = np.bincount(labels, table.counts)
        found = {a.name: (a, box) for a, box in zip(table.attributes, boxes(table, labels), strict=True)}
        uncertain = 0.0
        for query in self.queries:
            possible, certain = np.ones(records.size, dtype=np.bool_), np.ones(records.size, dtype=np.bool_)
            for condition in (c for c in query if c.attribute in found):
                meets, lies = _judged(*found[condition.attribute], condition)
                possible &= meets
                certain &= lies
            uncertain += float(records[possible & ~certain].sum())
        return uncertain / (table.records * max(1, len(self.queries)))


def _condition(rng: np.random.Generator, attribute: Attribute, domains: Mapping[str, tuple[float, float]]) -> Condition:
    if attribute.ordered:
        low, high = domains.get(attribute.name, (attribute.edges[0][0], attribute.edges[1][attribute.size - 1]))
        ends: Floats = np.sort(low + (high - low) * rng.random(2))
        return Condition(attribute.name, float(ends[0]), float(ends[1]))
    codes = np.zeros(attribute.size, dtype=np.bool_)
    codes[rng.permutation(attribute.size)[: int(rng.integers(1, attribute.size))]] = True
    return Condition(attribute.name, codes=codes)


def _judged(attribute: Attribute, box: Intervals | ValueSets, condition: Condition) -> tuple[Bools, Bools]:
    """Per class whether some, and whether all of its records can meet the condition. A missing value never does."""
    if isinstance(box, ValueSets):
        codes = np.ones(0, dtype=np.bool_) if condition.codes is None else condition.codes
        hits = np.concatenate(([0], np.cumsum(codes[box.codes])))
        number = hits[box.starts[1:]] - hits[box.starts[:-1]]
        meets, lies = number > 0, number == np.diff(box.starts)
    else:
        first, last = attribute.tree.ancestors(box.low, box.high) if attribute.tree else (box.low, box.high)
        low, high = attribute.edges[0][first], attribute.edges[1][last]
        meets = (high >= condition.low) & (low <= condition.high)
        lies = (low >= condition.low) & (high <= condition.high)
    return meets & (box.nulls != ALL_NULLS), lies & (box.nulls == NO_NULLS)
