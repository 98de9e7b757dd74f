"""The lists of codes in the source, and the codes that the policy names, by their positions in the public list."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import CodeTexts, ListedCodes
from querygate.core.types import Bools, Ints
from querygate.custody.code_lists.public_codes import CodeSystem, Places, open_system
from querygate.custody.policy import CodesPolicy, ColumnPolicy
from querygate.methods.code_lists import Baskets, gwas_diseases


@dataclass(frozen=True, slots=True)
class CodeLists:
    """The lists of a column: baskets hold codes by their number among those that occur; `public` has their positions.

    If records were left out, there are baskets only for the others, and `kept` says which these are.
    """

    column: ColumnPolicy
    system: CodeSystem
    occurring: Ints
    baskets: Baskets
    read: Places
    kept: Bools | None = None

    def by_record(self, numbers: Ints) -> Ints:
        """Expands a number for each basket to one for each record; 0 for those left out."""
        if self.kept is None:
            return numbers
        found = np.zeros(self.kept.size, dtype=np.int64)
        found[self.kept] = numbers
        return found

    def among(self, places: Iterable[int]) -> tuple[int, ...] | None:
        """The numbers of these public codes; None if one of them does not occur."""
        wanted = np.array(sorted(set(places)), dtype=np.int64)
        found = self.present(wanted)
        return tuple(found.tolist()) if found.size == wanted.size else None

    def present(self, places: Ints) -> Ints:
        """The numbers of those public codes that occur."""
        return np.flatnonzero(np.isin(self.occurring, places))

    @property
    def levels(self) -> list[Ints]:
        """The groups of the codes that occur, level by level."""
        return [level[self.occurring] for level in self.system.tree.levels]


def read_lists(column: ColumnPolicy, staging: ListedCodes, rows: int, kept: Bools | None = None) -> CodeLists:
    """The codes of each record, in the order of rows; or only of those that are kept."""
    wanted, system = column.codes or CodesPolicy(), open_system(column)
    told = staging.code_texts(column.name, wanted.separator)
    codes, read = read_texts(column, system, told, "lists")
    record, text = told.record, told.text
    if kept is not None:
        here, rows = kept[record], int(kept.sum())
        record, text = (np.cumsum(kept) - 1)[record[here]], text[here]
    occurring, members = np.unique(codes[text], return_inverse=True)
    size = max(1, occurring.size)
    pairs = np.unique(record * size + members.reshape(-1))
    starts = np.searchsorted(pairs // size, np.arange(rows + 1)).astype(np.int64)
    return CodeLists(column, system, occurring, Baskets(starts, pairs % size, size), read, kept)


def read_texts(column: ColumnPolicy, system: CodeSystem, told: CodeTexts, where: str) -> tuple[Ints, Places]:
    """The place of each text in the public list, and what was read: a text that the list does not have becomes the
    "other" code of its group, or stops the publication. Errors say how many and where, never which.
    """
    read = system.read(told.texts)
    unknown = read.codes < 0
    if unknown.any() and (column.codes or CodesPolicy()).unknown == "refuse":
        held = np.flatnonzero(unknown[told.text])
        raise ConfigError(
            "QG802",
            f"Column {column.name}: {counted(held.size, 'entry', 'entries')} in its {where} "
            f"({int(unknown.sum()):,} distinct) {'is' if held.size == 1 else 'are'} not in its code system, the first "
            f"in record {int(told.record[held].min()) + 1:,}.",
            'Correct the source or the `separator`, use another `system`, or set unknown = "other".',
        )
    places = read.codes.copy()
    for at in np.flatnonzero(unknown).tolist():
        places[at] = system.unlisted.place(told.texts[at]) if system.unlisted is not None else -1
    return places, read


def known_sets(column: ColumnPolicy, system: CodeSystem, staging: ListedCodes) -> tuple[tuple[int, ...], ...]:
    """The sets of codes that the policy lists, or those of each visit; none if the policy protects sets by their
    size."""
    wanted = column.codes or CodesPolicy()
    if wanted.protect.kind == "itemsets":
        place = named(column, system, {text for itemset in wanted.protect.itemsets for text in itemset})
        return tuple(tuple(sorted({place[text] for text in itemset})) for itemset in wanted.protect.itemsets)
    if wanted.protect.kind == "visits":
        told = staging.visit_texts(wanted.protect.column, wanted.separator, wanted.protect.between)
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
            f"columns.{column.name}: {first} is not a code of its system.",
            "Write codes as in the code system; dots and case do not matter.",
        )
    return place


def sensitive_codes(column: ColumnPolicy, system: CodeSystem) -> Ints:
    """The public codes that the policy calls sensitive."""
    wanted = (column.codes or CodesPolicy()).protect.sensitive
    found = {code for name in wanted for code in system.under(name) or named(column, system, (name,)).values()}
    return np.array(sorted(found), dtype=np.int64)


def listed_rules(column: ColumnPolicy, system: CodeSystem) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    """The rules of the policy: known codes, and the codes that they must not reveal."""
    rules = (column.codes or CodesPolicy()).protect.rules
    place = named(column, system, {code for rule in rules for side in rule for code in side})
    return tuple(
        (tuple(place[code] for code in known), tuple(place[code] for code in secret)) for known, secret in rules
    )


def utility_groups(column: ColumnPolicy, system: CodeSystem) -> Ints:
    """The group of each public code inside which it may be generalised; a code that no group has is alone."""
    utility = (column.codes or CodesPolicy()).utility
    if utility.kind == "none":
        return np.zeros(len(system.codes), dtype=np.int64)
    most = len(system.tree.levels) - 1
    if utility.level > most:
        raise ConfigError(
            "QG801",
            f"columns.{column.name}.utility.level: the system has {most} levels above its codes.",
            "Choose one of them (1 is the nearest), or list groups.",
        )
    rest = system.tree.levels[utility.level]
    groups = listed_groups(column, system)
    return np.where(groups < 0, groups.max(initial=-1) + 1 + rest, groups)


def listed_groups(column: ColumnPolicy, system: CodeSystem) -> Ints:
    """The number of the listed group or disease of each public code; -1 where it is in none."""
    utility = (column.codes or CodesPolicy()).utility
    groups = np.full(len(system.codes), -1, dtype=np.int64)
    if utility.kind == "diseases":
        for number, disease in enumerate(gwas_diseases(system.codes)):
            groups[list(disease.codes)] = number
    for number, names in enumerate(utility.groups):
        for name in names:
            for code in system.under(name) or named(column, system, (name,)).values():
                if groups[code] not in (-1, number):
                    raise ConfigError(
                        "QG801",
                        f"columns.{column.name}.utility.groups: {system.codes[code]} belongs to several groups.",
                        "Merge these groups, or remove the code from one: an item must lie inside one group.",
                    )
                groups[code] = number
    return groups
