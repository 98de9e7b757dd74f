"""The step that publishes lists of codes: texts to codes, codes to items, the items of each record to one number.

A code anonymiser decides once for all records which codes are published as one item and which are suppressed. Only
codes that occur are given to it. A code of the public list that nobody has becomes an item that no record holds, so
that whoever asks for it is told so; but beside a suppressed code of its own group it is suppressed too, so that
suppression tells that a group has rare codes and not which of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from querygate.codesets import SUPPRESSED, Baskets, Items
from querygate.codesets.methods import METHODS
from querygate.codesets.policies import BadPolicy, Privacy, Utility
from querygate.codesets.tree import OTHER
from querygate.codesets.unprotectable import Unprotectable
from querygate.core.block import CodeSets
from querygate.core.errors import ConfigError
from querygate.core.ports import CodeTexts, Workshop
from querygate.core.types import Bools, Ints
from querygate.gateway.code_systems import CodeSystem, Places, open_system
from querygate.policy import CodesPolicy, ColumnPolicy

CodeAnonymiser: TypeAlias = Callable[[Baskets, int], Items]
"""Gives each code its item, so that whatever the policy protects is held by k records or by none."""


@dataclass(frozen=True, slots=True)
class PublishedCodes:
    """What is published of a column of codes, and how it came to be."""

    system: CodeSystem
    sets: CodeSets
    report: CodeReport

    def in_cells(self, classes: Ints, sets: Ints, counts: Ints) -> PublishedCodes:
        """The same, once it is known who shares a class."""
        _, which = np.unique(classes * (sets.max(initial=0) + 1) + sets, return_inverse=True)
        held = np.bincount(which.reshape(-1), counts)
        return replace(self, report=replace(self.report, alone=float((held == 1).sum() / counts.sum())))


@dataclass(frozen=True, slots=True)
class CodeReport:
    """How the codes of a column were published. `exact`, `generalised` and `suppressed` are of codes that occur;
    `unknown` are texts that the system does not have, `mended` had lost zeros in front, `ambiguous` may have lost some.
    `lost` is the share of all entries in lists that are of suppressed codes, `alone` that of records whose set of items
    nobody else of their class has.
    """

    column: str
    method: str
    k: int
    public: int
    occurring: int
    exact: int
    generalised: int
    suppressed: int
    unknown: int
    mended: int
    ambiguous: int
    lost: float
    alone: float = 0.0


def publish_codes(column: ColumnPolicy, workshop: Workshop, rows: int, k: int) -> PublishedCodes:
    """Anonymise the lists of a column; every record has the number of its set of items in the workshop afterwards."""
    wanted, system = column.codes or CodesPolicy(), open_system(column)
    k = wanted.protect.k or k
    if k > rows:
        raise ConfigError(
            "QG803",
            f"Column {column.name}: k = {k:,} is more than the {rows:,} records there are, so no code could be told.",
            "Lower k in its `protect`, or publish more records.",
        )
    told = workshop.code_texts(column.name, wanted.separator)
    codes, read = read_texts(column, system, told, "lists")
    occurring, members = np.unique(codes[told.text], return_inverse=True)
    baskets = _baskets(told.record, members.reshape(-1), rows, max(1, occurring.size))
    known = known_sets(column, system, workshop)
    items = _anonymised(column, system, known, occurring)(baskets, k) if occurring.size else Items.unchanged(1)
    kept = {code for itemset in known for code in itemset}
    of_code = spread(system, occurring, items.of[: occurring.size], kept)
    numbers, sets = number_sets(_item_lists(told.record, of_code[codes[told.text]], rows))
    workshop.set_record_codes(column.name, numbers)
    report = _report(column, k, system, occurring, of_code, members.reshape(-1), read)
    return PublishedCodes(system, CodeSets.of(system.codes, of_code.tolist(), sets), report)


# -- texts to codes ------------------------------------------------------------------------------------------------


def read_texts(column: ColumnPolicy, system: CodeSystem, told: CodeTexts, where: str) -> tuple[Ints, Places]:
    """The place of each text in the public list, and what was read: a text that the list does not have stands for
    `other`, or stops the publication. Says how many and where, never which.
    """
    read = system.read(told.texts)
    unknown = read.codes < 0
    if unknown.any() and (column.codes or CodesPolicy()).unknown == "refuse":
        held = np.flatnonzero(unknown[told.text])
        raise ConfigError(
            "QG802",
            f"Column {column.name}: {int(unknown.sum()):,} different texts in its {where}, {held.size:,} entries in "
            f"all, are no codes of its system, the first in record {int(told.record[held].min()) + 1:,}.",
            'Correct the source or the `separator`, take another `system`, or set unknown = "other".',
        )
    return np.where(unknown, system.tree.place.get(OTHER, -1), read.codes), read


def known_sets(column: ColumnPolicy, system: CodeSystem, workshop: Workshop) -> tuple[tuple[int, ...], ...]:
    """The sets of codes that the policy lists, or that were given in one visit; none where it goes by their number."""
    wanted = column.codes or CodesPolicy()
    if wanted.protect.kind == "itemsets":
        place = named(column, system, {text for itemset in wanted.protect.itemsets for text in itemset})
        return tuple(tuple(sorted({place[text] for text in itemset})) for itemset in wanted.protect.itemsets)
    if wanted.protect.kind == "visits":
        told = workshop.visit_texts(wanted.protect.column, wanted.separator, wanted.protect.between)
        codes, _ = read_texts(column, system, told, "visits")
        cuts = np.flatnonzero(np.diff(told.record)) + 1
        visits = np.split(codes[told.text], cuts) if told.record.size else []
        return tuple(sorted({tuple(sorted(set(visit.tolist()))) for visit in visits}))
    return ()


def named(column: ColumnPolicy, system: CodeSystem, texts: Collection[str]) -> dict[str, int]:
    """The places of codes that the policy names."""
    place = dict(zip(sorted(texts), system.read(sorted(texts)).codes.tolist(), strict=True))
    if min(place.values(), default=0) < 0:
        first = next(text for text, code in place.items() if code < 0)
        raise ConfigError(
            "QG801",
            f"columns.{column.name}: {first} is no code of its system.",
            "Write codes as the system has them; dots and case do not matter.",
        )
    return place


# -- codes to items ------------------------------------------------------------------------------------------------


def _anonymised(
    column: ColumnPolicy, system: CodeSystem, known: tuple[tuple[int, ...], ...], occurring: Ints
) -> CodeAnonymiser:
    """The policy's method over the codes that occur. A set with a code that nobody has is held by nobody already."""
    wanted, place = column.codes or CodesPolicy(), {code: i for i, code in enumerate(occurring.tolist())}
    itemsets = tuple(tuple(place[c] for c in itemset) for itemset in known if all(c in place for c in itemset))
    upto = wanted.protect.m if wanted.protect.kind == "k^m" else 0
    privacy = Privacy(itemsets, upto=upto)
    groups = utility_groups(column, system)[occurring]
    return partial(
        _run, column, privacy, Utility.by_level(groups.tolist()), [one[occurring] for one in system.tree.levels]
    )


def _run(
    column: ColumnPolicy, privacy: Privacy, utility: Utility, levels: list[Ints], baskets: Baskets, k: int
) -> Items:
    method = METHODS.get((column.codes or CodesPolicy()).method)
    given = (levels, k, privacy.upto) if method.kind == "itemsets" else (k, privacy, utility)
    try:
        items: Items = method.run(baskets, *given)
        return items
    except (BadPolicy, Unprotectable) as problem:
        raise ConfigError("QG803", f"Column {column.name}: {problem.reason}", problem.remedy) from None


def utility_groups(column: ColumnPolicy, system: CodeSystem) -> Ints:
    """The group of each public code inside which it may be generalised; a code that no group has is alone."""
    utility = (column.codes or CodesPolicy()).utility
    if utility.kind == "none":
        return np.zeros(len(system.codes), dtype=np.int64)
    if utility.kind == "level":
        most = len(system.tree.levels) - 1
        if utility.level > most:
            raise ConfigError(
                "QG801",
                f"columns.{column.name}.utility.level: the system has {most} levels above its codes.",
                "Name one of them, 1 being the nearest; or list groups.",
            )
        return system.tree.levels[utility.level]
    groups = np.full(len(system.codes), -1, dtype=np.int64)
    for number, names in enumerate(utility.groups):
        for name in names:
            for code in system.under(name) or named(column, system, (name,)).values():
                if groups[code] not in (-1, number):
                    raise ConfigError(
                        "QG801",
                        f"columns.{column.name}.utility.groups: {system.codes[code]} belongs to several groups.",
                        "Join these groups, or take the code out of one: an item lies inside one group.",
                    )
                groups[code] = number
    alone = groups < 0
    groups[alone] = len(utility.groups) + np.arange(int(alone.sum()))
    return groups


def spread(system: CodeSystem, occurring: Ints, items: Ints, kept: set[int]) -> Ints:
    """From the items of codes that occur to those of the whole list. Items are numbered by their first code.

    Codes in `kept` stay items of their own where nobody has them: they are in sets that are looked for, and whoever
    finds no record with the rest of such a set must see that there is none.
    """
    of_code = np.full(len(system.codes), SUPPRESSED, dtype=np.int64)
    nobody = np.ones(len(system.codes), dtype=np.bool_)
    of_code[occurring], nobody[occurring] = items, False
    beside = _beside(system, occurring[items == SUPPRESSED])
    beside[sorted(kept)] = False
    alone = np.flatnonzero(nobody & ~beside)
    of_code[alone] = items.max(initial=SUPPRESSED) + 1 + np.arange(alone.size)
    published = of_code != SUPPRESSED
    _, first, which = np.unique(of_code[published], return_index=True, return_inverse=True)
    of_code[published] = np.argsort(np.argsort(first))[which.reshape(-1)]
    return of_code


def _beside(system: CodeSystem, rare: Ints) -> Bools:
    """Codes in the narrowest group of each of these that has others too; the group of all only where no other is."""
    levels = system.tree.levels
    found, waiting = np.zeros(len(system.codes), dtype=np.bool_), rare
    for level in levels[1:-1] or levels[1:]:
        large = np.bincount(level)[level[waiting]] > 1
        found |= np.isin(level, level[waiting[large]])
        waiting = waiting[~large]
    return found


# -- items to sets -------------------------------------------------------------------------------------------------


def _baskets(record: Ints, member: Ints, rows: int, size: int) -> Baskets:
    pairs = np.unique(record * size + member)
    return Baskets(np.searchsorted(pairs // size, np.arange(rows + 1)).astype(np.int64), pairs % size, size)


def _item_lists(record: Ints, item: Ints, rows: int) -> Baskets:
    """The items of each record; suppressed codes are left out."""
    told = item != SUPPRESSED
    return _baskets(record[told], item[told], rows, int(item.max(initial=0)) + 1)


def number_sets(lists: Baskets) -> tuple[Ints, list[tuple[int, ...]]]:
    """The number of each record's set, and the sets in an order that does not tell where they came from; 0 is empty.

    >>> number_sets(Baskets.of([[1], [], [0, 1], [1]], 2))
    (array([2, 0, 1, 2]), [(), (0, 1), (1,)])
    """
    held = [tuple(one) for one in lists.lists()]
    sets = sorted({(), *held})
    number = {one: i for i, one in enumerate(sets)}
    return np.array([number[one] for one in held], dtype=np.int64), sets


def _report(
    column: ColumnPolicy, k: int, system: CodeSystem, occurring: Ints, of_code: Ints, members: Ints, read: Places
) -> CodeReport:
    sizes = np.bincount(of_code[of_code != SUPPRESSED], minlength=1)
    item = of_code[occurring]
    exact = (item != SUPPRESSED) & (sizes[item] == 1)
    suppressed = item == SUPPRESSED
    return CodeReport(
        column.name,
        (column.codes or CodesPolicy()).method,
        k,
        len(system.codes),
        int(occurring.size),
        int(exact.sum()),
        int((~exact & ~suppressed).sum()),
        int(suppressed.sum()),
        int((read.codes < 0).sum()),
        read.mended,
        read.ambiguous,
        float(suppressed[members].mean()) if members.size else 0.0,
    )
