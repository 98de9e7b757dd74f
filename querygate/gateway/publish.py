"""The path of a publication: source to vault to classes to cells, verified, then served.

Each step below is a function of the draft so far. Nothing is served before the independent verifier has re-measured
what was written; whatever fails, the version before goes on serving.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from querygate.anonymise import (
    ANONYMISERS,
    Alpha,
    Anonymiser,
    Attribute,
    Box,
    Closeness,
    Distinct,
    Entropy,
    Guard,
    Infeasible,
    Intervals,
    NumericHull,
    Recursive,
    Sensitive,
    Table,
    ValueSets,
    boxes,
    loss_by_attribute,
)
from querygate.core.errors import ConfigError
from querygate.core.ports import Combinations, Profile, Source, Workshop
from querygate.core.types import Catalog, Column, Ints
from querygate.gateway.coding import NumberCodes, bin_codes, check_values, exact_codes, grid_codes
from querygate.gateway.verify import Measured, Written, verify_release
from querygate.policy import ColumnPolicy, Policy

METHODS = {"auto": "mondrian", "mondrian": "mondrian"}
Progress = Callable[[str], None]


class Publication(Protocol):
    """One version in the making, under the dataset's lock."""

    version: int

    def workshop(self) -> Workshop: ...

    def write(self, catalog: Catalog, tables: Mapping[str, Any]) -> Written: ...

    def switch(self) -> None: ...


class Shelf(Protocol):
    """Where publications are made."""

    def publishing(self, dataset: str) -> AbstractContextManager[Publication]: ...


@dataclass(frozen=True, slots=True)
class Report:
    """What was published, in figures that are safe to print."""

    dataset: str
    version: int
    rows: int
    classes: int
    cells: int
    measured: Measured
    loss: Mapping[str, float]  # per quasi-identifier, the mean share of its domain that a class covers
    warnings: tuple[str, ...]
    seconds: float


@dataclass
class Draft:
    """A publication on its way."""

    policy: Policy
    workshop: Workshop
    progress: Progress
    rows: int = 0
    profiles: dict[str, Profile] = field(default_factory=dict)
    numbers: dict[str, NumberCodes] = field(default_factory=dict)
    texts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    combinations: Combinations | None = None
    table: Table | None = None
    labels: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    boxes: tuple[Box, ...] = ()
    columns: list[Column] = field(default_factory=list)
    cells: dict[str, Any] = field(default_factory=dict)
    pairs: dict[str, list[Any]] = field(
        default_factory=lambda: {"column_id": [], "set_id": [], "value_id": [], "alone": []}
    )

    @property
    def published(self) -> tuple[ColumnPolicy, ...]:
        return tuple(column for column in self.policy.columns if column.is_published)


def publish(
    policy: Policy,
    source: Source,
    shelf: Shelf,
    *,
    now: Callable[[], str],
    clock_s: Callable[[], float],
    progress: Progress = lambda text: None,
    anonymiser: Anonymiser | None = None,
) -> Report:
    """Publish a source under a policy as the next version. ConfigError says what to change; nothing is half done.

    `anonymiser` stands in for the policy's method; its classes are verified like any others.
    """
    began = clock_s()
    check_columns(policy, source)
    with shelf.publishing(policy.dataset) as publication:
        draft = Draft(policy, publication.workshop(), progress)
        try:
            load(draft, source)
            code(draft)
            partition(draft, anonymiser or ANONYMISERS.get(METHODS[policy.anonymise.method]))
            generalise(draft)
            catalog = make_catalog(draft, publication.version, now())
            progress("writing and verifying")
            measured = verify_release(publication.write(catalog, tables(draft)), policy, draft.workshop, draft.rows)
        finally:
            draft.workshop.close()
        publication.switch()
    return Report(
        policy.dataset,
        publication.version,
        draft.rows,
        int(draft.labels.max()) + 1,
        len(draft.cells["n"]),
        measured,
        _loss(draft),
        policy.warnings,
        clock_s() - began,
    )


# -- the steps -----------------------------------------------------------------------------------------------


def check_columns(policy: Policy, source: Source) -> None:
    """Every column the policy names must be in the source, as spelled; those it does not name are left there."""
    there = set(source.columns())
    absent = [column.name for column in policy.columns if column.name not in there]
    if absent:
        raise ConfigError(
            "QG801",
            f"The policy names columns that the source does not have: {', '.join(absent)}.",
            f"Accepted: {', '.join(source.columns())}.",
        )


def load(draft: Draft, source: Source) -> None:
    """Raw rows into the vault, typed by the policy; identifiers as text; withheld columns stay where they are."""
    draft.progress("reading the source")
    wanted = {c.name: str(c.type or "category") for c in draft.policy.columns if c.role != "withheld"}
    draft.rows = draft.workshop.load(source, wanted)
    if draft.rows < draft.policy.k:
        raise ConfigError(
            "QG803",
            f"The source has {draft.rows:,} rows, fewer than k = {draft.policy.k}.",
            "Publish more records, or lower k in the policy.",
        )


def code(draft: Draft) -> None:
    """Give every published value its code."""
    draft.progress("coding")
    for column in draft.published:
        profile = draft.workshop.profile(column.name)
        check_values(column, profile)
        draft.profiles[column.name] = profile
        if column.is_numeric:
            codes = _number_codes(draft, column, profile)
        else:
            draft.texts[column.name] = tuple(sorted({*column.values, *map(str, profile.values)}))
            codes = np.searchsorted(np.array(draft.texts[column.name], dtype=object), profile.values).astype(np.int64)
        draft.workshop.set_codes(column.name, profile.values, codes)


def _number_codes(draft: Draft, column: ColumnPolicy, profile: Profile) -> Ints:
    if column.role == "public" or (column.role == "quasi-identifier" and draft.policy.anonymise.edges == "tight"):
        numbers = exact_codes(column, profile)
    elif column.role == "quasi-identifier" or column.carry == "hull":
        numbers = grid_codes(column)
    else:
        bins = bin_codes(column)
        counts = np.bincount(bins.of(profile.values), profile.counts, bins.size).astype(np.int64)
        groups = bins.joined(counts, draft.policy.k)
        numbers = bins.merged(groups)
    draft.numbers[column.name] = numbers
    return numbers.of(profile.values)


def partition(draft: Draft, anonymiser: Anonymiser) -> None:
    """Divide the distinct combinations of quasi-identifiers into classes."""
    draft.progress("making classes")
    policy = draft.policy
    quasi = policy.named("quasi-identifier")
    sensitive = [c.name for c in policy.named("sensitive") if c.is_numeric]
    found = draft.combinations = draft.workshop.combinations([c.name for c in quasi], sensitive)
    draft.table = Table(tuple(_attribute(draft, c, found.codes[c.name]) for c in quasi), found.counts)
    try:
        draft.labels = anonymiser(draft.table, policy.k, _guards(draft))
    except Infeasible as infeasible:
        raise ConfigError(
            "QG803",
            f"Even all records together do not satisfy {infeasible.guarantee}.",
            "Relax it in the policy, or withhold the column.",
        ) from None
    draft.workshop.set_classes(draft.labels)


def _attribute(draft: Draft, column: ColumnPolicy, codes: Ints) -> Attribute:
    weight = column.weight or 1.0
    if not column.is_numeric:
        return Attribute.nominal(column.name, codes, len(draft.texts[column.name]) or 1, weight)
    numbers = draft.numbers[column.name]
    low, high = numbers.low.astype(np.float64), numbers.high.astype(np.float64)
    if not numbers.size:  # nothing but missing values
        return Attribute(column.name, codes, 1, True, 1.0, np.zeros(1), np.zeros(1), weight)
    span = float((column.high or 0) - (column.low or 0))
    return Attribute(column.name, codes, numbers.size, True, span, low, high, weight, numbers.cuts(column.cuts))


def _guards(draft: Draft) -> list[Guard]:
    guards: list[Guard] = []
    found = draft.combinations
    for column in draft.policy.named("sensitive"):
        name = column.name
        if column.is_numeric and column.guard and found is not None:
            guards.append(
                NumericHull(
                    name, found.low[name], found.high[name], found.low_code[name], found.high_code[name], column.guard
                )
            )
        if column.diversity is not None:
            combination, value, count = draft.workshop.counts_by_combination(name)
            null = len(draft.texts[name])  # a missing value is a value of its own to whoever looks for a secret
            value = np.where(value < 0, null, value)
            guards.append(_diversity(column, Sensitive(name, combination, value, count, size=null + 1)))
    return guards


def _diversity(column: ColumnPolicy, sensitive: Sensitive) -> Guard:
    wanted = column.diversity
    if wanted is None:
        raise ValueError(f"column {column.name!r} has no diversity")
    match wanted.kind:
        case "distinct":
            return Distinct(sensitive, int(wanted.l or 0))
        case "entropy":
            return Entropy(sensitive, float(wanted.l or 0))
        case "recursive":
            return Recursive(sensitive, float(wanted.c or 0), int(wanted.l or 0))
        case "alpha":
            return Alpha(sensitive, float(wanted.alpha or 0))
        case "t-closeness":
            return Closeness(sensitive, float(wanted.t or 0))


def generalise(draft: Draft) -> None:
    """Boxes of the classes and codes of the other columns, as the physical columns of the cells."""
    draft.progress("generalising")
    carried = [c for c in draft.published if c.role != "quasi-identifier" and c.carry != "hull"]
    classes, codes, counts = draft.workshop.cells([c.name for c in carried])
    size = np.bincount(classes, counts).astype(np.int64)
    draft.cells = {"class": classes, "n": counts, "class_n": size[classes]}
    draft.boxes = boxes(draft.table, draft.labels) if draft.table else ()
    by_name = {box.name: box for box in draft.boxes}
    for index, column in enumerate(draft.published):
        box = by_name.get(column.name)
        if isinstance(box, ValueSets):
            nullable = _put_sets(draft, index, column, box, classes)
        elif isinstance(box, Intervals):
            nullable = _put_box(draft, index, column, box.low, box.high, box.nulls, classes)
        elif column.carry == "hull":
            nullable = _put_box(draft, index, column, *_hull(draft, column), classes)
        elif column.is_numeric:
            value = codes[column.name]
            nullable = _put_box(draft, index, column, value, value, np.where(value < 0, 2, 0), np.arange(len(value)))
        else:
            nullable = _put_values(draft, index, column, codes[column.name])
        draft.columns.append(_published(draft, index, column, nullable))


def _hull(draft: Draft, column: ColumnPolicy) -> tuple[Ints, Ints, Ints]:
    """Least and greatest code of a sensitive number in each class, and whether values are missing."""
    combination, code, _ = draft.workshop.counts_by_combination(column.name)
    label, known = draft.labels[combination], code >= 0
    classes = int(draft.labels.max()) + 1
    low, high, missing = np.full(classes, draft.numbers[column.name].size), np.full(classes, -1), np.zeros(classes, int)
    np.minimum.at(low, label[known], code[known])
    np.maximum.at(high, label[known], code[known])
    missing[label[~known]] = 1
    return np.where(high < 0, -1, low), high, np.where(high < 0, 2, missing)


def _put_box(draft: Draft, index: int, column: ColumnPolicy, low: Ints, high: Ints, nulls: Ints, which: Ints) -> bool:
    """Interval columns c{index}_lo, c{index}_hi and, where something is missing, c{index}_null."""
    numbers = draft.numbers[column.name]
    known = nulls != 2
    ends = [
        np.where(known, numbers_end[np.where(known, code, 0)] if numbers.size else 0, 0)
        for numbers_end, code in ((numbers.low, low), (numbers.high, high))
    ]
    nullable = bool((nulls > 0).any())
    for name, values in (("lo", ends[0]), ("hi", ends[1])):
        draft.cells[f"c{index}_{name}"] = pa.array(values[which], mask=~known[which])
    if nullable:
        draft.cells[f"c{index}_null"] = nulls[which].astype(np.int8)
    return nullable


def _put_sets(draft: Draft, index: int, column: ColumnPolicy, box: ValueSets, classes: Ints) -> bool:
    """A value-set column: equal sets share an id; NULL is a member with value id -1."""
    numbers, sets = box.numbered()
    some = (box.nulls > 0).astype(np.int64)
    ids, which = np.unique(numbers * 2 + some, return_inverse=True)
    for set_id, key in enumerate(ids.tolist()):
        _add_set(draft, index, set_id, sorted(([-1] if key % 2 else []) + list(sets[key // 2])))
    draft.cells[f"c{index}_set"] = which.reshape(-1)[classes].astype(np.int32)
    return bool(some.any())


def _put_values(draft: Draft, index: int, column: ColumnPolicy, codes: Ints) -> bool:
    """A category carried per record: every value is a set of its own."""
    size = len(draft.texts[column.name])
    missing = bool((codes < 0).any())
    for value in range(size):
        _add_set(draft, index, value, [value])
    if missing:
        _add_set(draft, index, size, [-1])
    draft.cells[f"c{index}_set"] = np.where(codes < 0, size, codes).astype(np.int32)
    return missing


def _add_set(draft: Draft, index: int, set_id: int, members: list[int]) -> None:
    draft.pairs["column_id"] += [index] * len(members)
    draft.pairs["set_id"] += [set_id] * len(members)
    draft.pairs["value_id"] += members
    draft.pairs["alone"] += [len(members) == 1] * len(members)


def _published(draft: Draft, index: int, column: ColumnPolicy, nullable: bool) -> Column:
    return Column(
        name=column.name,
        index=index,
        role=column.role,
        type=column.type or "category",
        nullable=nullable,
        low=column.low,
        high=column.high,
        values=draft.texts.get(column.name, ()),
        title=column.title,
    )


def make_catalog(draft: Draft, version: int, published: str) -> Catalog:
    policy = draft.policy
    return Catalog(
        dataset=policy.dataset,
        version=version,
        title=policy.title,
        k=policy.k,
        rows=draft.rows,
        columns=tuple(draft.columns),
        tight=policy.anonymise.edges == "tight",
        min_group=policy.answers.min_group,
        modes=policy.answers.modes,
        policy_hash=policy.hash,
        published=published,
        unit=policy.unit,
    )


def tables(draft: Draft) -> dict[str, pa.Table]:
    """The store's tables: cells, the members of value sets, and the texts of values."""
    kinds = {"column_id": pa.int32(), "set_id": pa.int32(), "value_id": pa.int32(), "alone": pa.bool_()}
    index_of = {column.name: column.index for column in draft.columns}
    texts = [(index_of[name], i, text) for name, values in draft.texts.items() for i, text in enumerate(values)]
    column_ids, value_ids, words = zip(*texts, strict=True) if texts else ((), (), ())
    return {
        "cells": pa.table(draft.cells),
        "set_value": pa.table({name: pa.array(draft.pairs[name], kind) for name, kind in kinds.items()}),
        "value_text": pa.table(
            {
                "column_id": pa.array(column_ids, pa.int32()),
                "value_id": pa.array(value_ids, pa.int32()),
                "text": pa.array(words, pa.string()),
            }
        ),
    }


def _loss(draft: Draft) -> dict[str, float]:
    if draft.table is None:
        return {}
    losses = loss_by_attribute(draft.table, draft.labels, draft.boxes)
    return {a.name: float(loss) for a, loss in zip(draft.table.attributes, losses, strict=True)}
