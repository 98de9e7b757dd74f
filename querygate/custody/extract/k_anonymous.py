"""k-anonymous extracts: quasi-identifiers generalised so that k records look alike, everything else as it is.

The classes are made by the same steps as those of a publication, under the same guards, and measured anew afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Protocol

import numpy as np
import pyarrow as pa

from querygate.core.counted import counted
from querygate.core.errors import ConfigError, ExtractRefused
from querygate.core.ports import Source, StagingTables
from querygate.core.progress import Progress
from querygate.core.types import Column, Ints
from querygate.custody.codes.code_items import in_classes, publish_codes
from querygate.custody.columns.population import Population
from querygate.custody.columns.value_groups import with_values
from querygate.custody.extract.class_columns import ClassColumn, publish_column
from querygate.custody.extract.code_texts import codes_field, codes_kept
from querygate.custody.extract.free_texts import beside
from querygate.custody.extract.protected_records import Field, ProtectedRecords, Side
from querygate.custody.extract.raw_tables import out_of
from querygate.custody.policy import ColumnPolicy, Policy
from querygate.custody.publish.guarantees import make_guards
from querygate.custody.publish.method_comparison import Trial
from querygate.custody.publish.partition import partition, quasi_identifiers, read_table
from querygate.custody.publish.publication_state import PublicationState, Step
from querygate.custody.publish.publish import code, load
from querygate.custody.verify.guarantee_check import GuaranteeCheck, WrittenCells, measure_guarantees
from querygate.methods.anonymise import (
    ANONYMISERS,
    RECODERS,
    SOME_NULLS,
    Box,
    Infeasible,
    Intervals,
    RecodedTable,
    Table,
    local,
    partition_check,
)

METHODS = (*ANONYMISERS.names(), *RECODERS.names())


class RecordReader(Protocol):
    """The raw records of the dataset."""

    def selected(self, where: str) -> Source:
        """Those of which a condition is true; all where it is empty."""

    def workshop(self) -> StagingTables:
        """An empty one that leaves nothing behind."""


def make_k_anonymous(
    policy: Policy,
    rows: RecordReader,
    where: str,
    *,
    recoder: str,
    suppress: float,
    cells: float,
    population: Population | None,
    progress: Progress,
    clock_s: Callable[[], float],
) -> ProtectedRecords:
    """Divide the selected records by the method of the policy, or by a recoder, and publish each class as its box.

    Records may be left out by recoders alone: `local` does it with the classes of any method.
    """
    draft = PublicationState(policy, rows.workshop(), progress)
    try:
        _load(draft, rows.selected(where))
        code(draft)
        if recoder or suppress or cells:
            _recode(draft, recoder or "local", suppress, cells, population, clock_s)
        else:
            _divided(draft, population, clock_s)
        return _protected(draft, population)
    finally:
        draft.workshop.close()


def _load(draft: PublicationState, source: Source) -> None:
    try:
        load(draft, source, ())
    except ConfigError as problem:
        if problem.code != "QG803":
            raise
        raise ExtractRefused(
            "QG605", f"The request selects fewer than k = {draft.policy.k} records.", "Select more records, or lower k."
        ) from None


def _divided(draft: PublicationState, population: Population | None, clock_s: Callable[[], float]) -> None:
    try:
        partition(draft, None, population, clock_s)
    except ConfigError as problem:
        raise ExtractRefused("QG605", problem.detail, problem.remedy) from None


def _recode(
    draft: PublicationState,
    name: str,
    suppress: float,
    cells: float,
    population: Population | None,
    clock_s: Callable[[], float],
) -> None:
    draft.begin(Step.DIVIDE, f"making classes: {name}")
    began, policy = clock_s(), draft.policy
    lists = [column.name for column in policy.columns if in_classes(column)]
    if lists:
        raise ExtractRefused(
            "QG605",
            f"{lists[0]} is protected within classes, which may have to be merged; recoded classes cannot be merged.",
            "Use another method and leave out no records or cells, or leave out the column.",
        )
    inner = "mondrian" if policy.anonymise.method == "auto" else policy.anonymise.method
    recoder = partial(local, method=inner) if name == "local" else RECODERS.get(name)
    by_record = name == "local" and ANONYMISERS.get(inner).by_record
    table = _prepared(draft, by_record)
    guards = make_guards(draft, population)
    try:
        recoded = recoder(table, policy.k, guards, suppress=suppress, cells=cells, progress=draft.within)
    except Infeasible as infeasible:
        raise ExtractRefused(
            "QG605",
            f"No recoding satisfies {infeasible.guarantee}.",
            "Allow more records to be left out, lower k, or leave out columns.",
        ) from None
    draft.labels = recoded.labels
    _seal(draft, recoded.labels)
    if _protect_codes_of_the_rest(draft):
        draft.workshop.forget_classes()
        _prepared(draft, by_record)
        _seal(draft, recoded.labels)
    draft.classes, draft.boxes = int(recoded.labels.max()) + 1, _boxes(recoded, draft)
    note = f"{counted(recoded.starred, 'cell')} replaced by *" if recoded.starred else ""
    tried = Trial(name, policy.k, draft.classes, recoded.loss, {}, clock_s() - began, chosen=True, note=note)
    draft.comparison = (tried,)


def _prepared(draft: PublicationState, by_record: bool) -> Table:
    """What is recoded: the quasi-identifiers of the records, or of those that share them."""
    numbers = [column.name for column in draft.policy.named("sensitive") if column.is_numeric]
    draft.workshop.prepare([column.name for column in quasi_identifiers(draft.policy)], numbers)
    return read_table(draft, 0, 0, by_record=by_record)


def _seal(draft: PublicationState, labels: Ints) -> None:
    draft.workshop.add_classes(labels)
    draft.workshop.seal_classes()


def _protect_codes_of_the_rest(draft: PublicationState) -> bool:
    """Codes are told by k records of those that leave, so they are protected anew where some are left out. Says whether
    that was needed.
    """
    kept = draft.workshop.record_classes() >= 0 if draft.code_lists else np.ones(0, dtype=np.bool_)
    if kept.all():
        return False
    for name in draft.code_lists:
        column = draft.policy.column(name)
        try:
            made = publish_codes(column, draft.workshop, draft.rows, draft.policy.k, kept)
        except ConfigError as problem:
            raise ExtractRefused("QG605", problem.detail, problem.remedy) from None
        draft.code_lists[name] = made
    return True


def _boxes(recoded: RecodedTable, draft: PublicationState) -> tuple[Box, ...]:
    names = [column.name for column in quasi_identifiers(draft.policy)]
    return tuple(
        Intervals(
            name,
            np.where(recoded.nulls[name] == SOME_NULLS, np.maximum(recoded.low[name], 0), recoded.low[name]),
            recoded.high[name],
            recoded.nulls[name],
        )
        for name in names
    )


def _protected(draft: PublicationState, population: Population | None) -> ProtectedRecords:
    policy = draft.policy
    out = list(out_of(policy))
    carried = beside(policy)
    members = draft.workshop.members([*(column.name for column in out), *carried], list(draft.code_lists))
    classes: Ints = np.asarray(members["class"], dtype=np.int64)
    boxes = {box.name: box for box in with_values(draft)}
    published = {c.name: publish_column(draft, c, boxes[c.name]) for c in out if c.name in boxes}
    fields, arrays, usable = columns_of(out, published, members, classes)
    numbers = {name: np.asarray(members[name], dtype=np.int64) for name in draft.code_lists}
    for name, made in draft.code_lists.items():
        field, texts = codes_field(draft, name, made, numbers[name])
        fields.append(field)
        arrays.append(texts)
    table = pa.table(dict(zip([field.name for field in fields], arrays, strict=True)))
    seen = outside(table, fields, published)
    kept_codes = [
        one for name, made in draft.code_lists.items() for one in codes_kept(draft, name, made, numbers[name], seen)
    ]
    _check(policy, published, members, classes, seen)
    return ProtectedRecords(
        kind="k-anonymous",
        method=draft.comparison[0].method if draft.comparison else str(policy.anonymise.method),
        k=partition_check.smallest_class(seen),
        table=table,
        raw=members.select([column.name for column in out]),
        codes=tuple(
            made.in_cells(seen, numbers[name], np.ones_like(seen)).report for name, made in draft.code_lists.items()
        ),
        beside=members.select(carried) if carried else None,
        usable=pa.table(usable),
        classes=seen,
        fields=tuple(fields),
        rows=draft.rows,
        loss=draft.loss,
        tried=draft.comparison,
        sides={name: by_seen(one.sides(), classes, seen) for name, one in published.items()},
        kept=(*_kept(draft, _seen_of(classes, seen), population), *kept_codes),
    )


def columns_of(
    out: list[ColumnPolicy], published: dict[str, ClassColumn], members: pa.Table, classes: Ints
) -> tuple[list[Field], list[pa.Array], dict[str, pa.Array]]:
    fields: list[Field] = []
    arrays: list[pa.Array] = []
    usable: dict[str, pa.Array] = {}
    for column in out:
        found = published.get(column.name)
        if found is not None:
            fields += found.fields()
            arrays += found.arrays(classes)
            usable[column.name] = found.usable(classes)
        else:
            raw = members[column.name]
            labels = (
                () if column.is_numeric else tuple(sorted({str(t) for t in raw.unique().to_pylist() if t is not None}))
            )
            fields.append(Field(column.name, column.name, f"{column.name}, unchanged", column.title, labels))
            arrays.append(raw)
            usable[column.name] = raw
    return fields, arrays, usable


def outside(table: pa.Table, fields: list[Field], published: dict[str, ClassColumn]) -> Ints:
    """The class of each record as somebody sees it who has the extract: by the texts and numbers that stand in it."""
    names = [field.name for field in fields if field.of in published]
    key = np.zeros(table.num_rows, dtype=np.int64)
    for name in names:
        place = np.asarray(table[name].combine_chunks().dictionary_encode("encode").indices, dtype=np.int64)
        key = np.unique(key * (int(place.max(initial=0)) + 1) + place, return_inverse=True)[1].reshape(-1)
    return key


def _check(policy: Policy, published: dict[str, ClassColumn], members: pa.Table, classes: Ints, seen: Ints) -> None:
    """Nothing leaves that was not measured on what leaves: k by what stands in it, and that no value is misstated."""
    k = partition_check.smallest_class(seen)
    strays = sum(one.strays(classes, members[name]) for name, one in published.items())
    if k < policy.k or strays:
        raise ExtractRefused(
            "QG605",
            f"The extract does not keep its guarantee: its smallest class has {counted(k, 'record')}, and "
            f"{counted(strays, 'value is', 'values are')} wrong.",
            "Nothing was written. Use another method, and report this fault to the makers of QueryGate.",
        )


class _Texts:
    """The dictionary of each category, as the verifier asks for it."""

    def __init__(self, draft: PublicationState, names: dict[int, str]) -> None:
        self._draft, self._names = draft, names

    def sets(self, column: int) -> tuple[Ints, Ints, tuple[str, ...]]:
        texts = self._draft.texts[self._names[column]]
        ids = np.arange(len(texts) + 1)
        return ids, np.append(ids[:-1], -1), texts


def by_seen(sides: list[Side], classes: Ints, seen: Ints) -> list[Side]:
    """What each class says, classes as they are seen."""
    _, first = np.unique(seen, return_index=True)
    return [sides[c] for c in classes[first].tolist()]


def _seen_of(classes: Ints, seen: Ints) -> Ints:
    """For each class the one that somebody outside sees: classes that look alike are one."""
    found = np.zeros(int(classes.max()) + 1, dtype=np.int64)
    found[classes] = seen
    return found


def _kept(draft: PublicationState, seen_of: Ints, population: Population | None) -> list[GuaranteeCheck]:
    """Every guarantee beyond k, on the classes as they are seen."""
    policy = replace(draft.policy, k_map=None)
    sensitive = [c for c in policy.named("sensitive") if c.diversity]
    if not sensitive:
        return []
    index = {c.name: i for i, c in enumerate(sensitive)}
    classes, codes, counts = draft.workshop.cells([c.name for c in sensitive])
    cells = {"class": classes, "n": counts}
    for column in sensitive:
        if not column.is_numeric:
            found = codes[column.name]
            cells[f"c{index[column.name]}_set"] = np.where(found < 0, len(draft.texts[column.name]), found)
    columns = [Column(c.name, i, c.role, c.type or "category", True, c.low, c.high) for i, c in enumerate(sensitive)]
    release = WrittenCells(
        columns, cells, seen_of[classes], _Texts(draft, {i: n for n, i in index.items()}), draft.workshop
    )
    found_all = list(measure_guarantees(release, policy, population))
    broken = [one for one in found_all if not one.holds]
    if broken:
        raise ExtractRefused(
            "QG605",
            f"The extract does not keep its guarantee: {broken[0].promise}.",
            "Nothing was written. Use another method.",
        )
    return found_all
