"""The step that publishes lists of codes: texts to codes, codes to items, the items of each record to one number.

An anonymiser decides which codes are published as one item and which are suppressed, once for all records or for each
part of them. It only gets codes that occur. A code of the public list that nobody has becomes an item that no record
holds, so that questions about it get 0; but beside a suppressed code of its own group it is suppressed too, so that
suppression reveals that a group has rare codes, but not which. Groups of the utility policy without a suppressed code
are exempt, so that their cases can be counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from querygate.core.block import MISSING, CodeSets
from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import ListedCodes
from querygate.core.types import Bools, Floats, Ints
from querygate.custody.code_lists.code_measures import CodeMeasures, measure_recoding
from querygate.custody.code_lists.code_protection import protect, protect_in_classes
from querygate.custody.code_lists.public_codes import CodeSystem
from querygate.custody.code_lists.record_code_lists import (
    CodeLists,
    known_sets,
    listed_groups,
    read_lists,
    utility_groups,
)
from querygate.custody.policy import CodesPolicy, ColumnPolicy
from querygate.methods.code_lists import SUPPRESSED, Baskets, Items, LocalItems

HIDING = ("local-suppression", "unknowns")
"""Methods that hide codes of single records and merge none."""


@dataclass(frozen=True, slots=True)
class PublishedCodes:
    """What is published of a column of codes, and how."""

    system: CodeSystem
    sets: CodeSets
    report: CodeReport

    def in_cells(self, classes: Ints, sets: Ints, counts: Ints) -> PublishedCodes:
        """The same, completed once the classes are known."""
        _, which = np.unique(classes * (sets.max(initial=0) + 1) + sets, return_inverse=True)
        held = np.bincount(which.reshape(-1), counts)
        return replace(self, report=replace(self.report, alone=float((held == 1).sum() / counts.sum())))


@dataclass(frozen=True, slots=True)
class CodeReport:
    """How the codes of a column were published. `exact`, `generalised` and `suppressed` count codes that occur;
    `hidden` those that a method which merges none hides in some records, or in all, and `untold` is the share of list
    entries that it hides. `unknown` are texts that the system does not have, `mended` had lost leading zeros,
    `ambiguous` may have lost some. `lost` is the share of list entries with suppressed codes, `alone` that of records
    whose set of items is unique in their class. `measures` describe the remaining utility, if records have codes.
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
    hidden: int = 0
    untold: float = 0.0
    measures: CodeMeasures | None = None


def explain_codes(report: CodeReport) -> str:
    """The share of people found by codes, as a sentence; empty if no record has codes."""
    if report.measures is None:
        return ""
    whole = report.measures.found[-1]
    return (
        f"Somebody who knows all codes of {report.column} of a person finds fewer than {report.k:,} records for "
        f"{100 * whole.after:.1f} % of people ({100 * whole.before:.1f} % before); somebody who also knows the class "
        f"finds a single record for {100 * report.alone:.1f} %."
    )


def publish_codes(
    column: ColumnPolicy, staging: ListedCodes, rows: int, k: int, kept: Bools | None = None
) -> PublishedCodes:
    """Anonymise the lists of a column; each record's code is then the number of its set of items.

    If some records are left out, `kept` are the others, among which k must hold.
    """
    lists, k = _read(column, staging, rows, k, kept)
    made = protect(lists, k, staging) if lists.occurring.size else Items.unchanged(1)
    if isinstance(made, LocalItems):
        return _published_locally(lists, made, k, staging)
    known = {code for itemset in known_sets(column, lists.system, staging) for code in itemset}
    return _published(lists, made, known, k, staging)


def publish_codes_in_classes(
    column: ColumnPolicy, staging: ListedCodes, classes: Ints, centres: Floats, k: int
) -> tuple[PublishedCodes, Ints]:
    """The same within classes of the records; also returns the new classes, each a union of old ones."""
    lists, k = _read(column, staging, classes.size, k)
    if not lists.occurring.size:
        return _published(lists, Items.unchanged(1), set(), k, staging), classes
    made = protect_in_classes(lists, k, classes, centres)
    return _published_locally(lists, made.codes, k, staging), made.labels


def _read(
    column: ColumnPolicy, staging: ListedCodes, rows: int, k: int, kept: Bools | None = None
) -> tuple[CodeLists, int]:
    k = (column.codes or CodesPolicy()).protect.k or k
    there = rows if kept is None else int(kept.sum())
    if k > there:
        raise ConfigError(
            "QG803",
            f"Column {column.name}: k = {k:,} is more than the number of records ({there:,}), so no code could be "
            "published.",
            "Lower k in its `protect`, or publish more records.",
        )
    return read_lists(column, staging, rows, kept), k


# -- one recoding for all records ----------------------------------------------------------------------------------


def _published(lists: CodeLists, items: Items, kept: set[int], k: int, staging: ListedCodes) -> PublishedCodes:
    item = items.of[: lists.occurring.size]
    kept = kept | set(np.flatnonzero(_countable(lists, lists.occurring[item == SUPPRESSED])).tolist())
    of_code = spread(lists.system, lists.occurring, item, kept)
    item = of_code[lists.occurring]
    told = item if lists.occurring.size else np.full(1, SUPPRESSED, dtype=np.int64)
    numbers, sets = number_sets(Items(told).publish(lists.baskets))
    staging.set_record_codes(lists.column.name, lists.by_record(numbers))
    suppressed = item == SUPPRESSED
    exact = ~suppressed & (np.bincount(of_code[of_code != SUPPRESSED], minlength=1)[item] == 1)
    lost = float(suppressed[lists.baskets.members].mean()) if lists.baskets.members.size else 0.0
    hidden = np.flatnonzero(of_code == SUPPRESSED)
    report = _report(lists, items, k, int(exact.sum()), int(suppressed.sum()), lost, hidden)
    return PublishedCodes(lists.system, CodeSets.of(lists.system.codes, of_code.tolist(), sets), report)


def spread(system: CodeSystem, occurring: Ints, items: Ints, kept: set[int]) -> Ints:
    """From the items of codes that occur to those of the whole list. Items are numbered by their first code.

    Codes in `kept` that nobody has stay separate items: they occur in sets that attackers may look for, where it must
    be visible that no record has the rest of the set; or in groups that are to be counted.
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


def _countable(lists: CodeLists, rare: Ints) -> Bools:
    """Codes in utility groups that are listed, or of which somebody has a code, and that have no rare code."""
    group, listed = utility_groups(lists.column, lists.system), listed_groups(lists.column, lists.system) >= 0
    wanted = np.isin(group, group[lists.occurring]) | listed
    return np.asarray(wanted & ~np.isin(group, group[rare]))


def _beside(system: CodeSystem, rare: Ints) -> Bools:
    """Codes in the narrowest group of each of these that also has other codes; the group of all codes only if there is
    no other."""
    levels = system.tree.levels
    found, waiting = np.zeros(len(system.codes), dtype=np.bool_), rare
    for level in levels[1:-1] or levels[1:]:
        large = np.bincount(level)[level[waiting]] > 1
        found |= np.isin(level, level[waiting[large]])
        waiting = waiting[~large]
    return found


# -- a different recoding for each part of them
# -----------------------------------------------------------------------------


def _published_locally(lists: CodeLists, made: LocalItems, k: int, staging: ListedCodes) -> PublishedCodes:
    """Items may overlap: a code may be published alone for some records, and together with others of its group for
    other records. Records whose codes are withheld, and records beside them without codes, hold an item that stands for
    anything."""
    public = np.append(lists.occurring, MISSING)
    groups = [tuple(public[list(codes)].tolist()) for codes in made.groups]
    held = [tuple(one) for one in made.published.lists()]
    if made.suppressed:
        held = [one or (len(groups),) for one in held]
        groups.append((MISSING, *lists.occurring.tolist()))
    nobody = np.setdiff1d(np.arange(len(lists.system.codes)), lists.occurring)
    groups += [(code,) for code in nobody.tolist()]
    order = sorted(range(len(groups)), key=lambda item: groups[item])
    place = {item: number for number, item in enumerate(order)}
    numbers, sets = _numbered([tuple(sorted(place[item] for item in one)) for one in held])
    staging.set_record_codes(lists.column.name, lists.by_record(numbers))
    alone = _told_alone(lists, made)
    exact = int((alone == lists.baskets.supports()[: lists.occurring.size]).sum())
    report = _report(lists, made, k, exact, 0, _untold(lists.baskets, made.published))
    if report.method in HIDING:
        untold = 1 - float(alone.sum() / max(1, lists.baskets.members.size))
        report = replace(report, generalised=0, hidden=report.generalised, untold=untold)
    told = CodeSets.of_groups(lists.system.codes, [groups[item] for item in order], sets)
    return PublishedCodes(lists.system, told, report)


def _told_alone(lists: CodeLists, made: LocalItems) -> Ints:
    """In how many records each code that occurs is published alone."""
    alone = np.array([codes[0] if len(codes) == 1 else SUPPRESSED for codes in made.groups], dtype=np.int64)
    shown = alone[made.published.members]
    return np.bincount(shown[shown != SUPPRESSED], minlength=lists.baskets.size)[: lists.occurring.size]


def _untold(baskets: Baskets, published: Baskets) -> float:
    """The share of entries in records whose codes are withheld."""
    number = np.diff(baskets.starts)
    return float(number[np.diff(published.starts) == 0].sum() / max(1, number.sum()))


# -- items to sets -------------------------------------------------------------------------------------------------


def number_sets(lists: Baskets) -> tuple[Ints, list[tuple[int, ...]]]:
    """The number of each record's set, and the sets in an order that does not depend on the records; 0 is the empty
    set.

    >>> number_sets(Baskets.of([[1], [], [0, 1], [1]], 2))
    (array([2, 0, 1, 2]), [(), (0, 1), (1,)])
    """
    return _numbered([tuple(one) for one in lists.lists()])


def _numbered(held: list[tuple[int, ...]]) -> tuple[Ints, list[tuple[int, ...]]]:
    sets = sorted({(), *held})
    number = {one: i for i, one in enumerate(sets)}
    return np.array([number[one] for one in held], dtype=np.int64), sets


def _report(
    lists: CodeLists,
    recoding: Items | LocalItems,
    k: int,
    exact: int,
    suppressed: int,
    lost: float,
    hidden: Ints | None = None,
) -> CodeReport:
    occurring = int(lists.occurring.size)
    return CodeReport(
        lists.column.name,
        (lists.column.codes or CodesPolicy()).method,
        k,
        len(lists.system.codes),
        occurring,
        exact,
        occurring - exact - suppressed,
        suppressed,
        int((lists.read.codes < 0).sum()),
        lists.read.mended,
        lists.read.ambiguous,
        lost,
        measures=measure_recoding(lists, recoding, k, hidden),
    )
