"""Measures again every guarantee beyond k on the written release.

Guarantees on published values are measured on the written cells, by the boxes that an outsider sees. Those on raw
numbers, on what people guard and on values that only a hull tells of are measured on the raw rows of each box.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from querygate.core.types import Array, Arrays, Bools, Column, Ints
from querygate.custody.columns.hierarchies import rows_of
from querygate.custody.columns.personal_privacy import read_wishes
from querygate.custody.columns.population import Population
from querygate.custody.columns.rule_conditions import rule_columns, rule_conditions
from querygate.custody.columns.value_codes import grid_codes
from querygate.custody.policy import ColumnPolicy, DiversityPolicy, Policy
from querygate.custody.policy.diversity_rules import domain_width
from querygate.methods.anonymise import knowledge_check, partition_check, range_check

ROOM = 1e-8
"""For rounding in logarithms and sums of shares."""

CARRIED = (None, "bins", "univariate")
"""Ways in which a record's own value is in the cells: categories, and numbers in bins or intervals of their own."""


class ClassRows(Protocol):
    """Raw rows by class."""

    def raw_counts(
        self, columns: Sequence[str], *, by: Literal["combination", "class"]
    ) -> tuple[Ints, Mapping[str, Array], Ints]: ...


class Sets(Protocol):
    def sets(self, column: int) -> tuple[Ints, Ints, tuple[str, ...]]: ...


@dataclass(frozen=True, slots=True)
class GuaranteeCheck:
    """One guarantee: what it promises, what was measured, and whether that is enough."""

    promise: str
    measure: str
    figure: float
    holds: bool


@dataclass(frozen=True, slots=True)
class WrittenCells:
    """The written cells: `box` is the class of each as an outsider sees it. If they are not all, `whole` has the
    records of every published value of the sensitive columns.
    """

    columns: Sequence[Column]
    cells: Arrays
    box: Ints
    written: Sets
    staging: ClassRows
    whole: Mapping[str, Arrays] = field(default_factory=dict)

    def raw(self, *names: str) -> tuple[Ints, Arrays, Ints]:
        """(box, raw values by column, records)."""
        first = int(np.min(self.cells["class"]))
        box_of = np.zeros(int(np.max(self.cells["class"])) - first + 1, dtype=np.int64)
        box_of[self.cells["class"] - first] = self.box
        classes, values, counts = self.staging.raw_counts(names, by="class")
        return box_of[classes - first], values, counts

    def values(self, column: Column) -> Ints:
        """The number of the published value of each cell."""
        return published_values(column, self.cells, self.whole.get(column.name))

    def has_values(self, column: Column) -> bool:
        """Whether any cell of the whole tells a value of a number."""
        return not missing_values(column, self.whole.get(column.name, self.cells), self.written).all()

    def counts(self, column: Column, *, spares_missing: bool) -> Ints | None:
        """How many records of the whole have each published value; None where these cells are all."""
        whole = self.whole.get(column.name)
        if whole is None:
            return None
        asked = ~missing_values(column, whole, self.written) if spares_missing else np.ones(len(whole["n"]), np.bool_)
        return np.bincount(published_values(column, whole)[asked], whole["n"][asked]).astype(np.int64)


def measure_guarantees(
    release: WrittenCells, policy: Policy, population: Population | None
) -> Iterator[GuaranteeCheck]:
    """Every guarantee of the policy in turn."""
    for column in release.columns:
        wanted = policy.column(column.name)
        for diversity in wanted.diversity:
            yield from _measured(release, policy, column, wanted, diversity)
    if policy.k_map is not None and population is not None:
        people = list(population.values.values())
        fewest = partition_check.fewest_matches(_boxes(release, population), people, population.persons)
        yield GuaranteeCheck(f"{policy.k_map.k}-map", "people of the population", fewest, fewest >= policy.k_map.k)


def population_matches(release: WrittenCells, population: Population) -> Ints:
    """How many people of the population lie in each published box, in the order of the boxes."""
    people = list(population.values.values())
    matches = [partition_check.fewest_matches([box], people, population.persons) for box in _boxes(release, population)]
    return np.array(matches, dtype=np.int64)


def _measured(
    release: WrittenCells, policy: Policy, column: Column, wanted: ColumnPolicy, d: DiversityPolicy
) -> Iterator[GuaranteeCheck]:
    if d.kind in ("ke", "em") or (d.kind == "range" and wanted.is_numeric):
        return _of_numbers(release, wanted, d)
    if d.kind == "personalised":
        return _of_wishes(release, wanted, d)
    if d.kind == "mined":
        return _of_rules(release, policy, wanted, d)
    return _of_values(release, column, wanted, d)


def _of_values(
    release: WrittenCells, column: Column, wanted: ColumnPolicy, d: DiversityPolicy
) -> Iterator[GuaranteeCheck]:
    box, values, counts = _values(release, column, wanted)
    if not box.size:
        return  # nobody was asked
    promise, name = f"{d.kind} diversity of {wanted.name}", wanted.name
    match d.kind:
        case "distinct" | "p-sensitive":
            found, least = partition_check.distinct_values(box, values), int(d.l or d.p or 0)
            yield GuaranteeCheck(promise, f"distinct values of {name}", found, found >= least)
        case "entropy":
            figure = partition_check.entropy_l(box, values, counts)
            yield GuaranteeCheck(promise, f"entropy l of {name}", figure, figure >= float(d.l or 0) - ROOM)
        case "recursive":
            figure = partition_check.recursive_ratio(box, values, counts, l=int(d.l or 0))
            yield GuaranteeCheck(promise, f"recursive c of {name}, l = {d.l}", figure, figure < float(d.c or 0))
        case "alpha":
            yield from _shares(d, name, (box, values, counts), _texts_of(release, column) if d.alphas else {}, promise)
        case "range":
            texts = _texts_of(release, column)
            figure = range_check.narrowest_range(box, [texts[value] for value in values.tolist()], _span(wanted, texts))
            measure = f"narrowest range of {name}, of the domain"
            yield GuaranteeCheck(promise, measure, figure, figure >= float(d.share or 0) - ROOM)
        case "ck":
            figure = knowledge_check.worst_belief(box, values, counts, int(d.pieces or 0))
            yield GuaranteeCheck(
                promise,
                f"surest belief in {name}, {d.pieces} pieces known",
                figure,
                figure <= float(d.share or 0) + ROOM,
            )
        case "growth":
            figure = knowledge_check.largest_growth(box, values, counts)
            yield GuaranteeCheck(promise, f"growth of belief in {name}", figure, figure <= float(d.share or 0) + ROOM)
        case "t-closeness":
            figure = _distance(release, column, wanted, d, (box, values, counts))
            measure = f"{d.distance or 'equal'} t of {name}"
            yield GuaranteeCheck(promise, measure, figure, figure <= float(d.t or 0) + ROOM)


def _distance(
    release: WrittenCells, column: Column, wanted: ColumnPolicy, d: DiversityPolicy, held: tuple[Ints, Ints, Ints]
) -> float:
    """The largest distance of a class from the whole table."""
    whole = release.counts(column, spares_missing=wanted.spares_missing)
    if d.distance == "hierarchy":
        return partition_check.closeness_in_tree(*held, levels=_levels(release, column, wanted), whole=whole)
    return partition_check.closeness(*held, ordered=d.distance == "ordered", whole=whole)


def _shares(
    d: DiversityPolicy, name: str, held: tuple[Ints, Ints, Ints], texts: Mapping[int, str | None], promise: str
) -> Iterator[GuaranteeCheck]:
    """Of all values that have no alpha of their own, and of each that has."""
    own = dict(d.alphas)
    others = [value for value in np.unique(held[1]).tolist() if texts.get(value) not in own]
    figure, most = partition_check.largest_share(*held, among=others), float(d.alpha or 0)
    yield GuaranteeCheck(promise, f"largest share of {name}", figure, figure <= most)
    for text, most in own.items():
        figure = partition_check.largest_share(*held, among=[value for value in texts if texts[value] == text])
        yield GuaranteeCheck(promise, f"largest share of {name} = {text}", figure, figure <= most)


def _texts_of(release: WrittenCells, column: Column) -> dict[int, str | None]:
    """By the number of a written value of a category its text; None of a missing one."""
    set_ids, value_ids, texts = release.written.sets(column.index)
    pairs = zip(set_ids.tolist(), value_ids.tolist(), strict=True)
    return {set_id: texts[value] if value >= 0 else None for set_id, value in pairs}


def _span(wanted: ColumnPolicy, texts: Mapping[int, str | None]) -> range_check.Span:
    """What a set of values of a category spans of its domain."""
    known = sorted(text for text in texts.values() if text is not None)
    if wanted.order:
        return range_check.of_order(wanted.order)
    if wanted.hierarchy is not None:
        return range_check.of_tree(rows_of(wanted, sorted({*wanted.values, *known})))
    return range_check.of_names(len(wanted.values))


def _of_numbers(release: WrittenCells, wanted: ColumnPolicy, d: DiversityPolicy) -> Iterator[GuaranteeCheck]:
    name = wanted.name
    box, raw, counts = release.raw(name)
    values = raw[name]
    if wanted.spares_missing:
        asked = ~np.isnan(values)
        box, values, counts = box[asked], values[asked], counts[asked]
        if not box.size:
            return
    if d.kind == "em":
        figure = partition_check.crowding(box, values, counts, epsilon=float(d.epsilon or 0))
        promise = f"(epsilon,m)-anonymity of {name}"
        yield GuaranteeCheck(
            promise, f"share within {d.epsilon} of {name}", figure, figure <= 1 / float(d.m or 1) + ROOM
        )
        return
    figure = partition_check.narrowest_hull(box, values, values)
    if d.kind == "range":
        domain, measure = domain_width(wanted), f"narrowest range of {name}, of the domain"
        holds = figure >= float(d.share or 0) * domain
        yield GuaranteeCheck(f"range diversity of {name}", measure, round(figure / domain, 9) if domain else 1.0, holds)
        return
    yield GuaranteeCheck(f"(k,e)-anonymity of {name}", f"narrowest range of {name}", figure, figure >= float(d.e or 0))
    if d.distinct:
        found = partition_check.distinct_numbers(box, values)
        yield GuaranteeCheck(f"(k,e)-anonymity of {name}", f"distinct numbers of {name}", found, found >= d.distinct)


def _of_wishes(release: WrittenCells, wanted: ColumnPolicy, d: DiversityPolicy) -> Iterator[GuaranteeCheck]:
    name, by = wanted.name, str(d.by)
    box, raw, counts = release.raw(name, by)
    texts = sorted({text for text in raw[name].tolist() if text is not None} | set(wanted.values))
    number = {None: len(texts), **{text: i for i, text in enumerate(texts)}}
    value = np.array([number[text] for text in raw[name].tolist()], dtype=np.int64)
    which, sets = read_wishes(wanted, d, texts, value, raw[by])
    figure = partition_check.guarded_share(box, value, which, counts, sets)
    yield GuaranteeCheck(
        f"what {by} guards of {name}", f"share that {by} guards", figure, figure <= float(d.share or 0) + ROOM
    )


def _of_rules(
    release: WrittenCells, policy: Policy, wanted: ColumnPolicy, d: DiversityPolicy
) -> Iterator[GuaranteeCheck]:
    """Rules are mined anew from the raw rows of each box."""
    known = rule_columns(policy)
    box, raw, counts = release.raw(*(one.name for one in known), wanted.name)
    texts = raw[wanted.name]
    missing = np.array([text is None for text in texts.tolist()], dtype=np.bool_)
    asked = ~missing if wanted.spares_missing else np.ones_like(missing)
    if not asked.any():
        return
    _, values = np.unique(np.where(missing, "", texts).astype(str), return_inverse=True)
    values = np.where(missing, -1, values.reshape(-1))
    conditions = [rule_conditions(one, raw[one.name])[asked] for one in known]
    found = knowledge_check.mined_knowledge(
        box[asked], conditions, values[asked], counts[asked], expected=float(d.expected or 0)
    )
    promise, least = f"values of {wanted.name} that no mined rule excludes", int(d.l or 0)
    yield GuaranteeCheck(promise, f"plausible values of {wanted.name}", found.plausible, found.plausible >= least)


def _values(release: WrittenCells, column: Column, wanted: ColumnPolicy) -> tuple[Ints, Ints, Ints]:
    """(box, number of the published value, records); a missing value has a number too, or is not applicable and left
    out."""
    if wanted.carry not in CARRIED:
        box, raw, counts = release.raw(column.name)
        values, missing = raw[column.name], np.isnan(raw[column.name])
        codes = grid_codes(wanted).of(np.where(missing, column.low or 0, values))
        _, values = np.unique(np.where(missing, codes.max(initial=0) + 1, codes), return_inverse=True)
        values = values.reshape(-1)
    else:
        box, values, counts = release.box, release.values(column), release.cells["n"]
        missing = missing_values(column, release.cells, release.written)
    asked = ~missing if wanted.spares_missing else np.ones_like(missing)
    return box[asked], values[asked], counts[asked]


def published_values(column: Column, cells: Arrays, whole: Arrays | None = None) -> Ints:
    """A number for each published value of a sensitive column, in order; a missing one has a number too. If there are
    other cells, `whole` has their values.
    """
    if not column.is_numeric:
        return np.asarray(cells[f"c{column.index}_set"], dtype=np.int64)
    low, all_low = (
        np.ma.filled(np.ma.asarray(one[f"c{column.index}_lo"], dtype=np.float64), np.inf)
        for one in (cells, whole or cells)
    )
    return np.searchsorted(np.unique(all_low), low)


def missing_values(column: Column, cells: Arrays, written: Sets) -> Bools:
    """Where the published value of a sensitive column is a missing one."""
    if column.is_numeric:
        return np.ma.getmaskarray(np.ma.asarray(cells[f"c{column.index}_lo"]))
    set_ids, value_ids, _ = written.sets(column.index)
    found: Bools = np.isin(np.asarray(cells[f"c{column.index}_set"]), set_ids[value_ids < 0])
    return found


def _levels(release: WrittenCells, column: Column, wanted: ColumnPolicy) -> Ints:
    """By height and number of the written set, its node: known by the way to the root. What is missing is alone."""
    set_ids, value_ids, texts = release.written.sets(column.index)
    text_of = {s: texts[v] if v >= 0 else None for s, v in zip(set_ids.tolist(), value_ids.tolist(), strict=True)}
    ways = {row[0]: tuple(row) for row in rows_of(wanted, texts)}
    height = len(next(iter(ways.values())))
    levels = np.zeros((height, max(text_of) + 1), dtype=np.int64)
    for level in range(height - 1):
        numbers: dict[tuple[str, ...], int] = {}
        for set_id, text in text_of.items():
            node = () if text is None else ways[text][level:]
            levels[level, set_id] = numbers.setdefault(node, len(numbers))
    return levels


def _boxes(release: WrittenCells, population: Population) -> Iterator[list[partition_check.Side]]:
    """What each published box says of the columns that the population has."""
    named = {column.name: column for column in release.columns}
    sides = [_sides(release, named[name], population) for name in population.values]
    _, first = np.unique(release.box, return_index=True)
    for cell in first.tolist():
        yield [of_cell[cell] for of_cell in sides]


def _sides(release: WrittenCells, column: Column, population: Population) -> Sequence[partition_check.Side]:
    stem = f"c{column.index}"
    if column.is_numeric:
        ends = [np.ma.asarray(release.cells[f"{stem}_{end}"]) for end in ("lo", "hi")]
        known = ~np.ma.getmaskarray(ends[0])
        pairs = zip(ends[0].data.tolist(), ends[1].data.tolist(), known.tolist(), strict=True)
        return [(low, high) if is_known else None for low, high, is_known in pairs]
    set_ids, value_ids, texts = release.written.sets(column.index)
    place = {text: i for i, text in enumerate(population.texts[column.name])}
    members: dict[int, set[int]] = {}
    for set_id, value_id in zip(set_ids.tolist(), value_ids.tolist(), strict=True):
        if value_id >= 0:
            members.setdefault(set_id, set()).add(place.get(texts[value_id], -1))
    sets = {set_id: frozenset(values) for set_id, values in members.items()}
    return [sets.get(set_id) for set_id in release.cells[f"{stem}_set"].tolist()]
