"""What an extract has lost, by the measures of the literature; `measures` has the one that the methods work with.

Labels are classes 0..m-1 of combinations, or -1 where their records are left out; those lose everything. Categories
and numbers are counted in codes: a grid step is a value.

>>> import numpy as np
>>> labels, counts = np.array([0, 0, 1, -1]), np.array([3, 2, 4, 1])
>>> discernibility(labels, counts), average_class_size(labels, counts), c_avg(labels, counts, k=4)
(51, 4.5, 1.25)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.anonymise.class_boxes import NO_NULLS, SOME_NULLS
from querygate.methods.anonymise.recode.recoder import RecodedTable, Scale
from querygate.methods.anonymise.table import NULL, Table

Query = Mapping[str, tuple[int, int]]
"""COUNT of the records with codes from the first to the last in each attribute named; a missing value is in none."""


# -- sizes of classes ------------------------------------------------------------------------------------------------


def discernibility(labels: Ints, counts: Ints) -> int:
    """Each record pays the number of records it cannot be told from, all of them if it is left out.

    Bayardo, Agrawal, "Data privacy through optimal k-anonymization", ICDE 2005.
    """
    size = _sizes(labels, counts)
    records = int(counts.sum())
    return int((size**2).sum()) + records * (records - int(size.sum()))


def average_class_size(labels: Ints, counts: Ints) -> float:
    """Of the classes that are published; 0 if there are none."""
    size = _sizes(labels, counts)
    return float(size.mean()) if size.size else 0.0


def c_avg(labels: Ints, counts: Ints, k: int) -> float:
    """Records by class, as a multiple of k: 1 is the best (LeFevre, DeWitt, Ramakrishnan, ICDE 2006)."""
    classes = _sizes(labels, counts).size
    return float(counts.sum()) / (classes * k) if classes else float("inf")


def _sizes(labels: Ints, counts: Ints) -> Ints:
    kept = labels >= 0
    return np.bincount(labels[kept], counts[kept]).astype(np.int64)


# -- what a class tells about a target ---------------------------------------------------------------------------------


def classification_metric(labels: Ints, target: Ints, counts: Ints) -> float:
    """Share of records that are left out, or whose target is not the commonest of their class (Iyengar, KDD 2002).

    Entries are records by class and target, 0 or above.

    >>> import numpy as np
    >>> classification_metric(np.array([0, 0, 1, -1]), np.array([0, 1, 1, 1]), np.array([3, 1, 4, 2]))
    0.3
    """
    kept = labels >= 0
    width = int(target.max(initial=0)) + 1
    tally = np.bincount(labels[kept] * width + target[kept], counts[kept])
    table = np.append(tally, np.zeros(-tally.size % width)).reshape(-1, width)
    right = float(table.max(axis=1, initial=0).sum())
    return (float(counts.sum()) - right) / float(counts.sum())


# -- what is published of each attribute -------------------------------------------------------------------------------


def loss_metric(table: Table, recoded: RecodedTable) -> Floats:
    """LM by attribute: mean over records of (values under what is published - 1) / (all values - 1).

    Iyengar, KDD 2002. A missing value is one more value of an attribute that has some.
    """
    size, out = _sizes(recoded.labels, table.counts), recoded.suppressed
    lost = []
    for held, domain in _places(table, recoded):
        share = (held - 1) / max(1, domain - 1)
        lost.append((share @ size + out) / table.records)
    return np.array(lost)


def ambiguity(table: Table, recoded: RecodedTable) -> float:
    """AM: combinations of values that a published record may stand for, on average (Nergiz, Clifton, DKE 2007)."""
    size = _sizes(recoded.labels, table.counts)
    may_be, all_ = np.ones(size.size), 1.0
    for held, domain in _places(table, recoded):
        may_be, all_ = may_be * held, all_ * domain
    return float((may_be @ size + all_ * recoded.suppressed) / table.records)


def generalisation_height(table: Table, recoded: RecodedTable, scales: Sequence[Scale]) -> float:
    """Heights above the leaves, summed over attributes, on average over records; those left out are at the roots.

    For one height by attribute it is the height of the lattice node (Samarati, TKDE 2001). What is published at several
    heights has the least of them; what is no node has that of the least node around it.
    """
    size, total = _sizes(recoded.labels, table.counts), 0.0
    for scale in scales:
        first, last = stretches(recoded, scale.attribute.name)
        height = np.full(first.size, scale.heights)
        for begin, end in zip(scale.first, scale.last, strict=True):
            height -= (begin[first] <= first) & (end[first] >= last)
        total += float(height @ size) + (scale.heights - 1) * recoded.suppressed
    return total / table.records


def stretches(recoded: RecodedTable, name: str) -> tuple[Ints, Ints]:
    """First and last place that each class publishes; -1 is a missing value."""
    return np.where(recoded.nulls[name] == NO_NULLS, recoded.low[name], NULL), recoded.high[name]


def _places(table: Table, recoded: RecodedTable) -> Iterable[tuple[Ints, int]]:
    """Per attribute how many values each class may have, and how many there are, a missing one among them."""
    for a in table.attributes:
        first, last = stretches(recoded, a.name)
        yield last - first + 1, a.size + a.has_nulls


# -- answers to queries ------------------------------------------------------------------------------------------------


def average_relative_error(table: Table, recoded: RecodedTable, queries: Iterable[Query]) -> float:
    """AvgRE: mean over COUNT queries of |actual - estimate| / actual; those that count nobody are left aside.

    The estimate takes the records of a class to lie evenly in its box (LeFevre, DeWitt, Ramakrishnan, KDD 2006).
    """
    size, errors = _sizes(recoded.labels, table.counts), []
    codes = {a.name: a.codes for a in table.attributes}
    for query in queries:
        wanted: Bools = np.ones(table.combinations, dtype=np.bool_)
        share = np.ones(size.size)
        for name, (first, last) in query.items():
            wanted &= (codes[name] >= first) & (codes[name] <= last)
            share *= _overlap(recoded, name, first, last)
        actual = int(table.counts[wanted].sum())
        if actual:
            errors.append(abs(actual - float(share @ size)) / actual)
    return float(np.mean(errors)) if errors else 0.0


def _overlap(recoded: RecodedTable, name: str, first: int, last: int) -> Floats:
    """Share of each class that the range from first to last holds; where values may be missing, that is one place."""
    low, high = recoded.low[name], recoded.high[name]
    places = high - low + 1 + (recoded.nulls[name] == SOME_NULLS)
    common = np.minimum(high, last) - np.maximum(low, first) + 1
    return np.asarray(np.where(low == NULL, 0, np.maximum(common, 0)) / places)
