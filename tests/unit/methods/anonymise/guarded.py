"""Every guard on random data, each with the verdict of the independent verifier: what the conformance suite runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Ints
from querygate.methods.anonymise import (
    Alpha,
    Closeness,
    Distinct,
    EntropyDiversity,
    Guard,
    KMap,
    Leaves,
    Names,
    Numbers,
    PersonalGuard,
    Proximity,
    PSensitive,
    RangeDiversity,
    Ranks,
    Recursive,
    Scale,
    Sensitive,
    SpreadGuard,
    Table,
    TreeCloseness,
    partition_check,
    range_check,
)
from tests.unit.methods.anonymise.tables import random_hull, random_sensitive

TREE = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]])
IN_B = (("2", "b", "*"), ("3", "b", "*"))
LEAVES = Leaves(tuple(TREE), (np.full(4, 0.25), np.full(4, 0.5), np.ones(4)))
WISHES = ((), (0,), (2, 3), (1, 2, 3))


@dataclass(frozen=True)
class Guarded:
    """A guard, and whether a partition keeps what it promises, measured without it."""

    guard: Guard
    is_kept: Callable[[Ints], bool]


def of_disease(make: Callable[[Sensitive], Guard], kept: Callable[..., bool]) -> Callable[[int, Table], Guarded]:
    def guarded(seed: int, table: Table) -> Guarded:
        disease = random_sensitive(seed, table)
        return Guarded(make(disease), lambda labels: kept(labels[disease.combination], disease.value, disease.count))

    return guarded


def ranging(scale: Scale, span: range_check.Span) -> Callable[[int, Table], Guarded]:
    """Half of the domain is spanned. Of four values the rarest is as good as missing."""

    def guarded(seed: int, table: Table) -> Guarded:
        disease = random_sensitive(seed, table)
        texts = [str(value) if value < 3 else None for value in disease.value.tolist()]
        return Guarded(
            RangeDiversity(disease, 0.5, scale, np.array([True, True, True, False])),
            lambda labels: range_check.narrowest_range(labels[disease.combination], texts, span) >= 0.5,
        )

    return guarded


def random_numbers(seed: int, table: Table) -> Numbers:
    """Blood pressures by record, some missing."""
    _, raw = random_hull(seed, table)
    pairs = np.stack([raw["combination"].astype(float), np.where(np.isnan(raw["value"]), 1e9, raw["value"])])
    found, count = np.unique(pairs, axis=1, return_counts=True)
    value = np.where(found[1] == 1e9, np.nan, found[1])
    return Numbers("sbp", found[0].astype(np.int64), value, count)


def of_numbers(make: Callable[[Numbers], Guard], kept: Callable[..., bool]) -> Callable[[int, Table], Guarded]:
    def guarded(seed: int, table: Table) -> Guarded:
        sbp = random_numbers(seed, table)
        return Guarded(make(sbp), lambda labels: kept(labels[sbp.combination], sbp.value, sbp.count))

    return guarded


def hull(seed: int, table: Table) -> Guarded:
    guard, raw = random_hull(seed, table)
    return Guarded(
        guard,
        lambda labels: (
            partition_check.narrowest_hull(labels, raw["low"], raw["high"]) >= 10.0
            and partition_check.distinct_values(labels[raw["combination"]], raw["bin"]) >= 2
        ),
    )


def p_sensitive(seed: int, table: Table) -> Guarded:
    columns = [random_sensitive(seed, table), random_sensitive(seed + 1, table)]
    return Guarded(
        PSensitive(columns, 2),
        lambda labels: all(partition_check.distinct_values(labels[c.combination], c.value) >= 2 for c in columns),
    )


def personalised(seed: int, table: Table) -> Guarded:
    """Everybody has a disease of four, and a wish of four: none, one disease, two, three."""
    rng = np.random.default_rng(seed)
    combination = np.repeat(np.arange(table.combinations), table.counts)
    value = rng.integers(0, 4, combination.size)
    wish = np.where(rng.random(combination.size) < 0.8, 0, rng.integers(0, 3, combination.size))
    found, count = np.unique(np.stack([combination, value * 4 + wish]), axis=1, return_counts=True)
    combination, value, wish = found[0], found[1] // 4, found[1] % 4
    pairs, code = np.unique(found[1], return_inverse=True)
    guard = PersonalGuard(
        Sensitive("disease", combination, code.reshape(-1), count, pairs.size),
        pairs // 4,
        [WISHES[pair % 4] for pair in pairs.tolist()],
        share=0.6,
    )
    return Guarded(
        guard,
        lambda labels: partition_check.guarded_share(labels[combination], value, wish, count, WISHES) <= 0.6 + 1e-9,
    )


def k_map(seed: int, table: Table) -> Guarded:
    """A population of ten times the table's records, on some of its attributes, not all of them known."""
    rng = np.random.default_rng(seed)
    attributes = table.attributes[: max(1, len(table.attributes) - 1)]
    size = 10 * table.records
    people = {a.name: rng.integers(0, a.size, size) + (0.5 if a.ordered else 0.0) for a in attributes}
    for values in people.values():
        values[rng.random(size) < 0.05] = np.nan if values.dtype == np.float64 else -1
    persons = rng.integers(1, 3, size)
    floats = {name: values.astype(np.float64) for name, values in people.items()}
    return Guarded(
        KMap(table, floats, persons, k=60),
        lambda labels: (
            partition_check.fewest_matches(boxes_of(table, labels, list(people)), list(floats.values()), persons) >= 60
        ),
    )


def boxes_of(table: Table, labels: Ints, names: list[str]) -> list[list[partition_check.Side]]:
    """What each class tells of some attributes, the slow and obvious way."""
    found: list[list[partition_check.Side]] = []
    for number in range(int(labels.max()) + 1):
        box: list[partition_check.Side] = []
        for attribute in (a for a in table.attributes if a.name in names):
            codes = attribute.codes[(labels == number) & (attribute.codes >= 0)]
            if not codes.size:
                box.append(None)
            elif attribute.lower is None or attribute.upper is None:
                box.append(frozenset(codes.tolist()))
            else:
                box.append((float(attribute.lower[codes.min()]), float(attribute.upper[codes.max()])))
        found.append(box)
    return found


GUARDS: dict[str, Callable[[int, Table], Guarded]] = {
    "distinct": of_disease(lambda s: Distinct(s, 3), lambda *a: partition_check.distinct_values(*a[:2]) >= 3),
    "entropy": of_disease(lambda s: EntropyDiversity(s, 2.0), lambda *a: partition_check.entropy_l(*a) >= 2.0),
    "recursive": of_disease(lambda s: Recursive(s, 2.0, 2), lambda *a: partition_check.recursive_ratio(*a, l=2) < 2.0),
    "alpha": of_disease(lambda s: Alpha(s, 0.6), lambda *a: partition_check.largest_share(*a) <= 0.6),
    "alpha by value": of_disease(
        lambda s: Alpha(s, 0.8, np.array([0.8, 0.4, 0.3, 0.2])),
        lambda *a: all(partition_check.largest_share(*a, among=[v]) <= s for v, s in enumerate((0.8, 0.4, 0.3, 0.2))),
    ),
    "range of names": ranging(Names(4), range_check.of_names(4)),
    "range of ranks": ranging(Ranks(np.array([2, 0, 3, 1]), 3), range_check.of_order("1302")),
    "range in a tree": ranging(LEAVES, range_check.of_tree([("0", "a", "*"), ("1", "a", "*"), *IN_B])),
    "t-closeness": of_disease(lambda s: Closeness(s, 0.2), lambda *a: partition_check.closeness(*a) <= 0.2),
    "ordered t-closeness": of_disease(
        lambda s: Closeness(s, 0.1, ordered=True), lambda *a: partition_check.closeness(*a, ordered=True, size=4) <= 0.1
    ),
    "t-closeness in a tree": of_disease(
        lambda s: TreeCloseness(s, 0.15, TREE), lambda *a: partition_check.closeness_in_tree(*a, levels=TREE) <= 0.15
    ),
    "p-sensitive": p_sensitive,
    "numeric hull": hull,
    "(k,e)": of_numbers(
        lambda n: SpreadGuard(n, 15.0, 3),
        lambda c, v, n: partition_check.narrowest_hull(c, v, v) >= 15.0 and partition_check.distinct_numbers(c, v) >= 3,
    ),
    "(epsilon,m)": of_numbers(
        lambda n: Proximity(n, 2.0, 2), lambda *a: partition_check.crowding(*a, epsilon=2.0) <= 1 / 2 + 1e-9
    ),
    "personalised": personalised,
    "k-map": k_map,
}
"""Every guard by name: (seed, table) -> the guard with its independent check."""
