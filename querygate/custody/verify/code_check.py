"""Measures lists of codes in the written release again: what each record's set says, and who could be found by codes.

Raw lists are read again and compared, record by record, with the sets that were written for the cells of their class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Protocol

import numpy as np

from querygate.core.publications.vault_ports import ListedCodes
from querygate.core.types import Arrays, Catalog, Column, Ints
from querygate.custody.code_lists.public_codes import CodeSystem, open_system
from querygate.custody.code_lists.record_code_lists import read_texts, utility_groups
from querygate.custody.policy import CodesPolicy, ColumnPolicy, Policy
from querygate.custody.verify.code_knowledge import PublishedCodeSets, measure_known
from querygate.custody.verify.diversity_check import GuaranteeCheck
from querygate.custody.verify.pattern_marks import measure_marks

GROUPED = ("cba", "ugaclip", "least-frequent")
"""Methods that use the utility policy."""


class WrittenCodes(Protocol):
    def code_sets(self, column: int) -> tuple[tuple[str, ...], Ints, Ints, Ints]: ...


def measure_codes(
    written: WrittenCodes, catalog: Catalog, policy: Policy, cells: Arrays, staging: ListedCodes
) -> Iterator[GuaranteeCheck]:
    """Check every promise about every list of codes; promises that are either kept or broken have no measure."""
    for column in (column for column in catalog.columns if column.is_codes):
        wanted, name = policy.column(column.name), column.name
        system, told = open_system(wanted), _told(written, column, cells)
        yield GuaranteeCheck(f"the codes of {name} are the public ones", "", len(column.values), told is not None)
        if told is None:
            return
        off = _off(wanted, system, told, staging)
        yield GuaranteeCheck(f"every list of {name} is published as its items", "", off, off == 0)
        yield from measure_known(wanted, system, told, staging, policy.k)
        yield from measure_marks(wanted, system, told, staging)
        broken = _breaches(wanted, system, told)
        yield GuaranteeCheck(f"items of {name} lie inside groups", "", broken, broken == 0)


def _told(written: WrittenCodes, column: Column, cells: Arrays) -> PublishedCodeSets | None:
    """What was written; None if items are not sets of codes from the public list."""
    codes, of_code, of_set, held = written.code_sets(column.index)
    entries = list(zip(of_code.tolist(), codes, strict=True))
    if len(set(entries)) < len(entries) or not set(codes) <= {*column.values, ""}:
        return None
    items: dict[int, frozenset[str]] = {}
    for item, code in entries:
        items[item] = items.get(item, frozenset()) | {code}
    sets: dict[int, frozenset[int]] = {0: frozenset()}
    for number, item in zip(of_set.tolist(), held.tolist(), strict=True):
        sets[number] = sets.get(number, frozenset()) | {item}
    numbers, classes, counts = (
        np.asarray(cells[key], dtype=np.int64) for key in (f"c{column.index}_items", "class", "n")
    )
    if not set(numbers.tolist()) <= set(sets) or not all(one <= set(items) for one in sets.values()):
        return None
    return PublishedCodeSets(items, sets, classes, numbers, counts)


# -- what the sets say ---------------------------------------------------------------------------------------------


def _off(wanted: ColumnPolicy, system: CodeSystem, told: PublishedCodeSets, staging: ListedCodes) -> int:
    """How many records have a set that is not written for their class, or that is not true of them.

    A set is true if the record has a code of each of its items, and no code of an item outside it, apart from those in
    one that is.
    """
    raw = staging.code_texts(wanted.name, (wanted.codes or CodesPolicy()).separator)
    classes, numbers = staging.record_classes(), staging.record_codes(wanted.name)
    stated: Counter[tuple[int, int]] = Counter()
    for label, number, n in zip(told.classes.tolist(), told.numbers.tolist(), told.counts.tolist(), strict=True):
        stated[label, number] += n
    given = Counter(zip(classes.tolist(), numbers.tolist(), strict=True))
    astray = sum(((given - stated) + (stated - given)).values())
    codes, _ = read_texts(wanted, system, raw, "lists")
    text = [system.codes[code] for code in codes.tolist()]
    lists: list[set[str]] = [set() for _ in range(classes.size)]
    for record, place in zip(raw.record.tolist(), raw.text.tolist(), strict=True):
        lists[record].add(text[place])
    published = {code for one in told.items.values() for code in one}
    untrue = sum(
        not _is_true(held, told.sets.get(number), told.items, published)
        for held, number in zip(lists, numbers.tolist(), strict=True)
    )
    return astray + untrue


def _is_true(
    held: set[str], stated: frozenset[int] | None, items: Mapping[int, frozenset[str]], published: set[str]
) -> bool:
    if stated is None:
        return False
    sure = all("" in items[item] or items[item] & held for item in stated)
    return sure and (held & published) <= {code for item in stated for code in items[item]}


def _breaches(wanted: ColumnPolicy, system: CodeSystem, told: PublishedCodeSets) -> int:
    """Items with codes of different utility groups."""
    if (wanted.codes or CodesPolicy()).method not in GROUPED:
        return 0
    group = utility_groups(wanted, system).tolist()
    return sum(1 for codes in told.items.values() if len({group[system.tree.place[code]] for code in codes}) > 1)
