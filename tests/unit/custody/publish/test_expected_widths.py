"""The workload of counts: the same for every partition, and its widths are those of exact reasoning."""

from __future__ import annotations

import numpy as np
import pytest

from querygate.custody.publish.expected_widths import CONDITIONS, Workload
from querygate.methods.anonymise import Attribute, Hierarchy, Table, mondrian

pytestmark = pytest.mark.usefixtures("compared_methods")

DOMAINS = {"age": (0.0, 63.0)}


def table_of(seed: int, rows: int = 80) -> Table:
    rng = np.random.default_rng(seed)
    age = rng.integers(-1, 64, rows)
    return Table(
        (
            Attribute("age", age, 64, True, 64.0, np.arange(64.0), np.arange(64.0)),
            Attribute.nominal("sex", rng.integers(-1, 3, rows), 3),
        ),
        np.ones(rows, dtype=int),
    )


def slow_width(workload: Workload, table: Table, labels: np.ndarray) -> float:
    """Class by class: some member of the box meets all conditions, and not all members do."""
    uncertain = 0
    for query in workload.queries:
        for label in range(labels.max() + 1):
            members = labels == label
            possible = certain = True
            for condition in query:
                attribute = next(a for a in table.attributes if a.name == condition.attribute)
                codes = attribute.codes[members]
                known = codes[codes >= 0]
                if condition.codes is None:
                    box = np.arange(known.min(), known.max() + 1.0) if known.size else known
                    first, last = (box[:1], box[-1:])
                    possible &= bool((last >= condition.low).any() and (first <= condition.high).any())
                    hit = (box >= condition.low) & (box <= condition.high)
                else:
                    hit = condition.codes[known]
                    possible &= bool(hit.any())
                certain &= bool(hit.all() and known.size == codes.size)
            uncertain += int(members.sum()) * (possible and not certain)
    return uncertain / (table.records * len(workload.queries))


def test_widths_are_those_of_exact_reasoning():
    for seed in range(4):
        table = table_of(seed)
        workload = Workload(table.attributes, DOMAINS)
        labels = mondrian(table, 2 + seed)
        assert np.isclose(workload.mean_width(table, labels), slow_width(workload, table, labels))


def test_it_comes_from_what_is_public_alone():
    first, second = (Workload(table_of(seed).attributes, DOMAINS).queries for seed in (1, 2))
    assert len(first) == CONDITIONS
    shown = [[(c.attribute, c.low, c.high, None if c.codes is None else c.codes.tolist()) for c in q] for q in first]
    other = [[(c.attribute, c.low, c.high, None if c.codes is None else c.codes.tolist()) for c in q] for q in second]
    assert shown == other


def test_smaller_classes_have_narrower_counts():
    table = table_of(3, rows=2000)
    workload = Workload(table.attributes, DOMAINS)
    widths = [workload.mean_width(table, mondrian(table, k)) for k in (1, 10, 100, 1000)]
    assert widths == sorted(widths)
    assert widths[0] < 0.01


def test_conditions_on_what_is_not_there_are_left_out():
    table = table_of(5)
    workload = Workload(table.attributes, DOMAINS)
    reduced = Table(table.attributes[:1], table.counts)
    assert 0 < workload.mean_width(reduced, mondrian(reduced, 5)) < 1


def test_hierarchies_are_published_as_nodes():
    tree = Hierarchy.of([(str(i), str(i // 2), "*") for i in range(8)])
    place = Attribute.hierarchical("place", np.array([0, 3, 4, 5] * 5), tree)
    table = Table((place,), np.ones(20, dtype=int))
    workload = Workload(table.attributes, {})
    leaves = workload.mean_width(table, np.unique(place.codes, return_inverse=True)[1])
    nodes = workload.mean_width(table, (place.codes >= 4).astype(np.int64))
    assert leaves == 0.0
    assert nodes > 0.0


def test_a_table_that_offers_no_condition_has_no_width():
    table = Table((Attribute.nominal("one", np.zeros(5, dtype=int), 1),), np.ones(5, dtype=int))
    assert Workload(table.attributes, {}).mean_width(table, np.zeros(5, dtype=int)) == 0.0
