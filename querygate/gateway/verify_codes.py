"""Lists of codes in the written release, measured anew: what each record's set says, and who could be found by codes.

Raw lists are read once more and compared, record by record, with the sets that were written for the cells of their
class. Known sets of codes are counted in the written sets alone, as somebody would who has the store: a suppressed code
is published nowhere and helps nobody to look, so only the other codes of a set narrow the records down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from querygate.core.ports import CodeTexts, Workshop
from querygate.core.types import Catalog, Column, Ints
from querygate.gateway.code_lists import known_sets, read_texts, utility_groups
from querygate.gateway.code_systems import CodeSystem, open_system
from querygate.gateway.verify_guarantees import Kept
from querygate.policy import CodesPolicy, ColumnPolicy, Policy

FREE = ("aclip", "apriori")
"""Methods that do not ask the utility policy."""


class WrittenCodes(Protocol):
    def code_sets(self, column: int) -> tuple[tuple[str, ...], Ints, Ints, Ints]: ...


@dataclass(frozen=True)
class Told:
    """The item of each public code (-1: none), the items of each set, and the records that have each set."""

    item: Mapping[str, int]
    sets: Mapping[int, frozenset[int]]
    records: Mapping[int, int]


def measure_codes(
    written: WrittenCodes, catalog: Catalog, policy: Policy, cells: Mapping[str, Any], workshop: Workshop
) -> Iterator[Kept]:
    """Every promise about every list of codes; what is a matter of yes or no has no measure."""
    for column in (column for column in catalog.columns if column.is_codes):
        wanted, name = policy.column(column.name), column.name
        system, told = open_system(wanted), _told(written, column, cells)
        is_public = column.values == system.codes and column.parents == system.parents and told is not None
        yield Kept(f"the codes of {name} are the public ones", "", len(column.values), is_public)
        if told is None:
            return
        off = _off(wanted, system, told, column, cells, workshop)
        yield Kept(f"every list of {name} is published as its items", "", off, off == 0)
        k, fewest = (
            (wanted.codes or CodesPolicy()).protect.k or policy.k,
            fewest_records(wanted, system, told, workshop),
        )
        yield Kept(f"k = {k} for whoever knows codes of {name}", known_measure(name), fewest, fewest >= k)
        broken = _breaches(wanted, system, told)
        yield Kept(f"items of {name} lie inside groups", "", broken, broken == 0)


def known_measure(name: str) -> str:
    """Under which name the figure of a column is told."""
    return f"fewest records with known codes of {name}"


def _told(written: WrittenCodes, column: Column, cells: Mapping[str, Any]) -> Told | None:
    """What was written; None where it is not one item for each code, from the public list."""
    codes, of_code, of_set, held = written.code_sets(column.index)
    if len(set(codes)) < len(codes) or not set(codes) <= set(column.values):
        return None
    sets: dict[int, frozenset[int]] = {0: frozenset()}
    for number, item in zip(of_set.tolist(), held.tolist(), strict=True):
        sets[number] = sets.get(number, frozenset()) | {item}
    records: Counter[int] = Counter()
    for number, n in zip(cells[f"c{column.index}_items"].tolist(), cells["n"].tolist(), strict=True):
        records[number] += n
    known = set(of_code.tolist())
    if not set(records) <= set(sets) or not all(items <= known for items in sets.values()):
        return None
    return Told(dict(zip(codes, of_code.tolist(), strict=True)), sets, records)


# -- what the sets say ---------------------------------------------------------------------------------------------


def _off(
    wanted: ColumnPolicy, system: CodeSystem, told: Told, column: Column, cells: Mapping[str, Any], workshop: Workshop
) -> int:
    """Records by class and set of items, counted from raw lists and as written: how many do not agree."""
    raw = workshop.code_texts(column.name, (wanted.codes or CodesPolicy()).separator)
    classes = workshop.record_classes()
    true = Counter(zip(classes.tolist(), _true_sets(raw, wanted, system, told, classes.size), strict=True))
    stated: Counter[tuple[int, frozenset[int]]] = Counter()
    numbers = cells[f"c{column.index}_items"]
    for label, number, n in zip(cells["class"].tolist(), numbers.tolist(), cells["n"].tolist(), strict=True):
        stated[label, told.sets[number]] += n
    return sum(((true - stated) + (stated - true)).values())


def _true_sets(
    raw: CodeTexts, wanted: ColumnPolicy, system: CodeSystem, told: Told, records: int
) -> list[frozenset[int]]:
    codes, _ = read_texts(wanted, system, raw, "lists")
    item = [told.item.get(system.codes[code]) for code in codes.tolist()]
    held: list[set[int]] = [set() for _ in range(records)]
    for record, text in zip(raw.record.tolist(), raw.text.tolist(), strict=True):
        found = item[text]
        if found is not None:
            held[record].add(found)
    return [frozenset(one) for one in held]


# -- who could be found --------------------------------------------------------------------------------------------


def fewest_records(wanted: ColumnPolicy, system: CodeSystem, told: Told, workshop: Workshop) -> int:
    """Of all sets of codes that may be known, the fewest records that one leads to, those apart that lead to none."""
    protect = (wanted.codes or CodesPolicy()).protect
    numbers = list(told.records)
    held, weight = [told.sets[number] for number in numbers], np.array([told.records[n] for n in numbers])
    if protect.kind == "k^m":
        return _fewest_of(_matrix(held), weight, protect.m)
    item_of = [told.item.get(code) for code in system.codes]
    listed = known_sets(wanted, system, workshop)
    known = {frozenset(item for code in codes if (item := item_of[code]) is not None) for codes in listed}
    having: dict[int, Any] = {}
    for place, items in enumerate(held):
        for item in items:
            having.setdefault(item, np.zeros(len(held), dtype=np.bool_))[place] = True
    nobody = np.zeros(len(held), dtype=np.bool_)
    counts = [int(weight[_all([having.get(i, nobody) for i in items], len(held))].sum()) for items in known]
    return min((count for count in counts if count), default=int(weight.sum()))


def _all(parts: Sequence[Any], size: int) -> Any:
    return np.logical_and.reduce(parts) if parts else np.ones(size, dtype=np.bool_)


def _matrix(held: Sequence[frozenset[int]]) -> Any:
    """A row for each set, a column for each item."""
    row = np.repeat(np.arange(len(held)), [len(items) for items in held])
    column = np.array([item for items in held for item in sorted(items)], dtype=np.int64)
    _, column = np.unique(column, return_inverse=True)
    shape = (len(held), int(column.max(initial=-1)) + 1)
    return sparse.csr_matrix((np.ones(row.size, dtype=np.int64), (row, column.reshape(-1))), shape=shape)


def _fewest_of(held: Any, weight: Ints, most: int) -> int:
    """The smallest number of records that have some set of up to so many items, among sets that occur."""
    if not held.nnz:
        return int(weight.sum())
    weighted = sparse.csr_matrix(held.multiply(weight[:, None]))
    if most == 2:
        return int((held.T @ weighted).data.min())  # single items stand on the diagonal
    fewest = int(np.asarray(weighted.sum(axis=0)).min())
    if most == 1:
        return fewest
    columns = held.tocsc()
    for item in range(held.shape[1] - 1):
        rows = columns.indices[columns.indptr[item] : columns.indptr[item + 1]]
        beside = columns[rows][:, item + 1 :]
        if beside.nnz:
            fewest = min(fewest, _fewest_of(sparse.csr_matrix(beside), weight[rows], most - 1))
    return fewest


def _breaches(wanted: ColumnPolicy, system: CodeSystem, told: Told) -> int:
    """Items with codes of different utility groups."""
    if (wanted.codes or CodesPolicy()).method in FREE:
        return 0
    group = utility_groups(wanted, system).tolist()
    groups: dict[int, set[int]] = {}
    for code, item in told.item.items():
        groups.setdefault(item, set()).add(group[system.tree.place[code]])
    return sum(1 for found in groups.values() if len(found) > 1)
