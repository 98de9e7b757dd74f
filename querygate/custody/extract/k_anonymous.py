"""k-anonymous extracts: quasi-identifiers generalised so that k records look alike, everything else unchanged.

The classes are made by the same steps as for a publication, under the same guards, and measured again afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from querygate.core.count_text import counted
from querygate.core.errors import ConfigError, ExtractRefused
from querygate.core.progress import Progress
from querygate.core.publications.vault_ports import Source, StagingTables, ValueCount
from querygate.core.types import Column, Ints
from querygate.custody.code_lists.code_items import PublishedCodes, publish_codes
from querygate.custody.columns.population import Population
from querygate.custody.columns.value_groups import with_values
from querygate.custody.extract.class_columns import (
    ClassColumn,
    classes_seen,
    columns_of,
    count_strays,
    publish_column,
    sides_seen,
)
from querygate.custody.extract.code_texts import codes_field, codes_kept
from querygate.custody.extract.free_texts import beside
from querygate.custody.extract.protected_records import ProtectedRecords
from querygate.custody.extract.raw_tables import out_of
from querygate.custody.policy import Policy
from querygate.custody.policy.statistic_rules import TARGETED
from querygate.custody.publish.coded_rows import code, load
from querygate.custody.publish.guarantees import make_guards
from querygate.custody.publish.method_trial import Trial
from querygate.custody.publish.partition import partition, prepare, quasi_identifiers, read_table
from querygate.custody.publish.step_state import PublicationState, Step, StepProgress
from querygate.custody.verify.diversity_check import GuaranteeCheck, WrittenCells, measure_guarantees
from querygate.methods.anonymise import (
    ANONYMISERS,
    RECODERS,
    SOME_NULLS,
    Box,
    Infeasible,
    Intervals,
    RecodedTable,
    local,
    partition_check,
)


class RecordReader(Protocol):
    """The raw records of the dataset."""

    def selected(self, where: str) -> Source:
        """Records for which a condition is true; all if it is empty."""

    def count_values(self, columns: Iterable[str]) -> Mapping[str, ValueCount]:
        """Counts over all records."""

    def staging(self) -> StagingTables:
        """Empty staging tables that leave nothing behind."""


def make_k_anonymous(
    policy: Policy,
    rows: RecordReader,
    where: str,
    method: str = "",
    *,
    suppress: float = 0.0,
    cells: float = 0.0,
    population: Population | None,
    progress: Progress,
    clock_s: Callable[[], float],
) -> ProtectedRecords:
    """Divide the selected records and publish each class as its box. `method` is an anonymiser or a recoder; by default
    the policy's own.

    Only recoders may leave records out; `local` does so with the classes of any method.
    """
    recoder = method if method in RECODERS.names() else ""
    if method == TARGETED and policy.anonymise.target not in {column.name for column in policy.published}:
        raise ExtractRefused(
            "QG605",
            f"{TARGETED} keeps a column predictable that the policy names, and none is named or asked for.",
            "Use another method, ask for the column too, or have anonymise.target put into the policy.",
        )
    if method in ANONYMISERS.names():
        chosen: Any = method
        policy = replace(policy, anonymise=replace(policy.anonymise, method=chosen))
    state = PublicationState(policy, rows.staging(), StepProgress(progress), is_extract=True)
    try:
        state = _load(state, rows.selected(where))
        if recoder or suppress or cells:
            state = _recode(state, recoder or "local", suppress, cells, population, clock_s)
        else:
            state = _divide(state, population, clock_s)
        return _protected(state, population)
    finally:
        state.staging.close()


def _load(state: PublicationState, source: Source) -> PublicationState:
    try:
        state = load(state, source)
    except ConfigError as problem:
        if problem.code != "QG803":
            raise
        raise ExtractRefused(
            "QG605", f"The request selects fewer than k = {state.policy.k} records.", "Select more records, or lower k."
        ) from None
    return code(state)


def _divide(state: PublicationState, population: Population | None, clock_s: Callable[[], float]) -> PublicationState:
    try:
        return partition(state, None, population, clock_s)
    except ConfigError as problem:
        raise ExtractRefused("QG605", problem.detail, problem.remedy) from None


def _recode(
    state: PublicationState,
    name: str,
    suppress: float,
    cells: float,
    population: Population | None,
    clock_s: Callable[[], float],
) -> PublicationState:
    state.progress.begin(Step.DIVIDE, f"making classes: {name}")
    began, policy = clock_s(), state.policy
    lists = [column.name for column in policy.columns if column.is_protected_in_classes]
    if lists:
        raise ExtractRefused(
            "QG605",
            f"{lists[0]} is protected within classes, which may have to be merged; recoded classes cannot be merged.",
            "Use another method and leave out no records or cells, or leave out the column.",
        )
    inner = "mondrian" if policy.anonymise.method == "auto" else policy.anonymise.method
    recoder = partial(local, method=inner) if name == "local" else RECODERS.get(name)
    by_record = name == "local" and ANONYMISERS.get(inner).by_record
    prepare(state)
    state, table = read_table(state, by_record=by_record)
    guards = make_guards(state, population)
    try:
        recoded = recoder(table, policy.k, guards, suppress=suppress, cells=cells, progress=state.progress.within)
    except Infeasible as infeasible:
        raise ExtractRefused(
            "QG605",
            f"No recoding satisfies {infeasible.guarantee}.",
            "Allow more records to be left out, lower k, or leave out columns.",
        ) from None
    _seal(state, recoded.labels)
    codes = _codes_of_the_rest(state)
    if codes:
        state.staging.forget_classes()
        prepare(state)
        state, _ = read_table(state, by_record=by_record)
        _seal(state, recoded.labels)
    classes = int(recoded.labels.max()) + 1
    note = f"{counted(recoded.starred, 'cell')} replaced by *" if recoded.starred else ""
    trial = Trial(name, policy.k, classes, recoded.loss, {}, clock_s() - began, chosen=True, note=note)
    return replace(
        state,
        labels=recoded.labels,
        classes=classes,
        boxes=_boxes(recoded, state),
        code_lists={**state.code_lists, **codes},
        comparison=(trial,),
    )


def _seal(state: PublicationState, labels: Ints) -> None:
    state.staging.add_classes(labels)
    state.staging.seal_classes()


def _codes_of_the_rest(state: PublicationState) -> dict[str, PublishedCodes]:
    """The guarantees for codes count released records, so codes are protected again if some records are left out."""
    if not state.code_lists:
        return {}
    kept = state.staging.record_classes() >= 0
    if kept.all():
        return {}
    try:
        return {
            name: publish_codes(state.policy.column(name), state.staging, state.rows, state.policy.k, kept)
            for name in state.code_lists
        }
    except ConfigError as problem:
        raise ExtractRefused("QG605", problem.detail, problem.remedy) from None


def _boxes(recoded: RecodedTable, state: PublicationState) -> tuple[Box, ...]:
    names = [column.name for column in quasi_identifiers(state.policy)]
    return tuple(
        Intervals(
            name,
            np.where(recoded.nulls[name] == SOME_NULLS, np.maximum(recoded.low[name], 0), recoded.low[name]),
            recoded.high[name],
            recoded.nulls[name],
        )
        for name in names
    )


def _protected(state: PublicationState, population: Population | None) -> ProtectedRecords:
    policy = state.policy
    out = list(out_of(policy))
    carried = beside(policy)
    members = state.staging.members([*(column.name for column in out), *carried], list(state.code_lists))
    classes: Ints = np.asarray(members["class"], dtype=np.int64)
    boxes = {box.name: box for box in with_values(state)}
    published = {c.name: publish_column(state, c, boxes[c.name]) for c in out if c.name in boxes}
    fields, arrays, usable = columns_of(out, published, members, classes)
    numbers = {name: np.asarray(members[name], dtype=np.int64) for name in state.code_lists}
    for name, made in state.code_lists.items():
        field, texts = codes_field(state, name, made, numbers[name])
        fields.append(field)
        arrays.append(texts)
    table = pa.table(dict(zip([field.name for field in fields], arrays, strict=True)))
    seen = classes_seen(table, fields, published)
    kept_codes = [
        one for name, made in state.code_lists.items() for one in codes_kept(state, name, made, numbers[name], seen)
    ]
    _check(policy, published, members, classes, seen)
    return ProtectedRecords(
        kind="k-anonymous",
        method=state.comparison[0].method if state.comparison else str(policy.anonymise.method),
        k=partition_check.smallest_class(seen),
        table=table,
        raw=members.select([column.name for column in out]),
        codes=tuple(
            made.in_cells(seen, numbers[name], np.ones_like(seen)).report for name, made in state.code_lists.items()
        ),
        beside=members.select(carried) if carried else None,
        usable=pa.table(usable),
        classes=seen,
        fields=tuple(fields),
        rows=state.rows,
        loss=state.loss,
        tried=state.comparison,
        sides=sides_seen(published, classes, seen),
        kept=(*_kept(state, _seen_of(classes, seen), population), *kept_codes),
    )


def _check(policy: Policy, published: dict[str, ClassColumn], members: pa.Table, classes: Ints, seen: Ints) -> None:
    """Measures the extract itself: k by its content, and that no value is wrong."""
    k = partition_check.smallest_class(seen)
    strays = count_strays(published, members, classes)
    if k < policy.k or strays:
        raise ExtractRefused(
            "QG605",
            f"The extract does not keep its guarantee: its smallest class has {counted(k, 'record')}, and "
            f"{counted(strays, 'value is', 'values are')} wrong.",
            "Nothing was written. Use another method, and report this fault to the makers of QueryGate.",
        )


class _Texts:
    """The dictionary of each category, as the verifier asks for it."""

    def __init__(self, state: PublicationState, names: dict[int, str]) -> None:
        self._draft, self._names = state, names

    def sets(self, column: int) -> tuple[Ints, Ints, tuple[str, ...]]:
        texts = self._draft.texts[self._names[column]]
        ids = np.arange(len(texts) + 1)
        return ids, np.append(ids[:-1], -1), texts


def _seen_of(classes: Ints, seen: Ints) -> Ints:
    """For each class the one that a recipient sees: classes that look alike are merged."""
    found = np.zeros(int(classes.max()) + 1, dtype=np.int64)
    found[classes] = seen
    return found


def _kept(state: PublicationState, seen_of: Ints, population: Population | None) -> list[GuaranteeCheck]:
    """Every guarantee beyond k, on the classes as recipients see them."""
    policy = replace(state.policy, k_map=None)
    sensitive = [c for c in policy.named("sensitive") if c.diversity]
    if not sensitive:
        return []
    index = {c.name: i for i, c in enumerate(sensitive)}
    classes, codes, counts = state.staging.cells([c.name for c in sensitive])
    cells = {"class": classes, "n": counts}
    for column in sensitive:
        if not column.is_numeric:
            found = codes[column.name]
            cells[f"c{index[column.name]}_set"] = np.where(found < 0, len(state.texts[column.name]), found)
    columns = [Column(c.name, i, c.role, c.type or "category", True, c.low, c.high) for i, c in enumerate(sensitive)]
    release = WrittenCells(
        columns, cells, seen_of[classes], _Texts(state, {i: n for n, i in index.items()}), state.staging
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
