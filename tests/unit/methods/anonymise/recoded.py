"""What would be published, looked at record by record in plain Python: shares no code with the recoders."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from querygate.methods.anonymise import ALL_NULLS, NO_NULLS, NULL, SOME_NULLS, Attribute, Hierarchy, RecodedTable, Table

Side = tuple[int, int, int]
Row = tuple[Side, ...]


def rows_of(table: Table, recoded: RecodedTable) -> Iterator[tuple[int, Row]]:
    """(combination, what is published of each of its records), without those left out."""
    for combination, label in enumerate(recoded.labels.tolist()):
        if label >= 0:
            parts = [(recoded.low[a.name], recoded.high[a.name], recoded.nulls[a.name]) for a in table.attributes]
            yield combination, tuple((int(low[label]), int(high[label]), int(no[label])) for low, high, no in parts)


def check(table: Table, recoded: RecodedTable, k: int) -> None:
    """Every record is in what is published of it, alike ones are a class of k, and the figures are right."""
    sizes: Counter[Row] = Counter()
    labels = defaultdict(set)
    kept, lost = 0, 0.0
    for combination, row in rows_of(table, recoded):
        records = int(table.counts[combination])
        sizes[row] += records
        labels[row].add(int(recoded.labels[combination]))
        kept += records
        for attribute, side in zip(table.attributes, row, strict=True):
            assert holds(side, int(attribute.codes[combination])), (attribute.name, side)
            lost += records * attribute.weight * width(attribute, side)
    assert min(sizes.values(), default=k) >= k
    assert all(len(found) == 1 for found in labels.values())
    assert sorted(label for (label,) in labels.values()) == list(range(len(labels)))
    assert recoded.suppressed == table.records - kept
    weights = sum(a.weight for a in table.attributes)
    assert abs(recoded.loss - (lost / weights + recoded.suppressed) / table.records) < 1e-9


def holds(side: Side, code: int) -> bool:
    low, high, nulls = side
    if code == NULL:
        return nulls != NO_NULLS
    return nulls != ALL_NULLS and low <= code <= high


def width(attribute: Attribute, side: Side) -> float:
    low, high, nulls = side
    if nulls != NO_NULLS:
        return float(nulls == SOME_NULLS)
    if attribute.lower is None or attribute.upper is None or attribute.tree is not None:
        return (high - low + 1) / attribute.size if high > low else 0.0
    return min(1.0, float(attribute.upper[high] - attribute.lower[low]) / (attribute.span or 1.0))


def nodes_of(attribute: Attribute, tree: Hierarchy) -> set[Side]:
    """What may be published by a hierarchy: its nodes, missing, and `*`."""
    nodes = set()
    for level in tree.levels:
        for node in set(level.tolist()):
            under = [code for code in range(tree.size) if level[code] == node]
            nodes.add((under[0], under[-1], NO_NULLS))
    if attribute.has_nulls:
        nodes |= {(NULL, NULL, ALL_NULLS), (0, attribute.size - 1, SOME_NULLS)}
    return nodes


def hierarchical_table(seed: int, rows: int = 60, nulls: bool = True) -> tuple[Table, Mapping[str, Hierarchy]]:
    """A category with a tree of its own, one whose tree is given, one without, and a number."""
    rng = np.random.default_rng(seed)
    codes = np.stack([np.minimum(rng.geometric(0.35, rows) - 1, size - 1) for size in (6, 8, 3, 24)], axis=1)
    if nulls:
        codes[rng.random(codes.shape) < 0.04] = NULL
    codes, counts = np.unique(codes, axis=0, return_counts=True)
    own, given = tree_of(6, (2, 3)), tree_of(8, (2, 4))
    columns: Sequence[np.ndarray] = [column.copy() for column in codes.T]
    attributes = (
        Attribute.hierarchical("own", columns[0], own),
        Attribute.nominal("given", columns[1], 8, weight=2.0),
        Attribute.nominal("flat", columns[2], 3),
        Attribute.ordered_by("number", columns[3], np.arange(25.0)),
    )
    return Table(attributes, counts * rng.integers(1, 3, counts.size)), {"given": given}


def tree_of(size: int, joined: Sequence[int]) -> Hierarchy:
    """Leaves joined by so many at each height."""
    return Hierarchy.of([(str(leaf), *(f"{n}:{leaf // n}" for n in joined), "*") for leaf in range(size)])
