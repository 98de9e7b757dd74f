"""The verifier of a version of views: checks every certificate against the written file and the raw rows.

Records are put into the classes of every margin by the published boxes, and what is published of these is counted. Then
frame cell by frame cell: k people and the guards of a class (R1), no combination of classes about fewer than k people
(R2), and for every record and unit tables with the same figures in which it has another value (R3). It shares no code
with what made the views: balances and worlds found there are only proposals, which count if they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TypeVar

import numpy as np

from querygate.core.publications.vault_ports import VerifierTables
from querygate.core.types import Catalog, Column, Ints
from querygate.custody.policy import Policy, ViewRules
from querygate.custody.verify.catalog_check import check_catalog, check_strays
from querygate.custody.verify.certificate_proposals import Proposals
from querygate.custody.verify.code_group_check import check_code_groups
from querygate.custody.verify.column_check import check_edges, check_groups
from querygate.custody.verify.earlier_disclosures import are_unions, tell_more
from querygate.custody.verify.earlier_views import (
    ABSENT,
    EarlierMargins,
    EarlierVersion,
    Incomparable,
    KeptVersion,
    read_earlier,
    stacked,
)
from querygate.custody.verify.margin_records import (
    LocatedMargin,
    ReadColumn,
    WrittenMargin,
    find_frames,
    locate,
    read_margin,
)
from querygate.custody.verify.person_check import ClassPeople
from querygate.custody.verify.raw_combinations import DIVIDING, RawCombinations
from querygate.custody.verify.told_values import told_values
from querygate.custody.verify.unit_figures import UnitTold, read_unit
from querygate.custody.verify.verifier_types import MarginReader, Measurement, ViewsMeasured, Written, require
from querygate.custody.verify.view_guarantees import MarginGuards, measure_margin
from querygate.methods.anonymise.parallel import side_by_side
from querygate.methods.views.balance_check import (
    BalanceGiven,
    least_support,
    people_by_class,
    person_shares,
    unbalanced,
)
from querygate.methods.views.certificate_check import (
    OtherBins,
    SidedGiven,
    TotalsGiven,
    WitnessCheck,
)

T = TypeVar("T")

SEVERAL = 20_000
"""With fewer records, other processes would take longer to start than to help."""


@dataclass
class _Measured:
    """The findings so far, margin by margin."""

    guards: MarginGuards = field(default_factory=MarginGuards)
    classes: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    fewest: int = 2**62
    most: int = 0
    smallest: int = 2**62
    largest: int = 0
    widths: dict[str, list[tuple[float, int]]] = field(default_factory=dict)
    shown: dict[str, int] = field(default_factory=dict)
    withheld: dict[str, int] = field(default_factory=dict)

    def add(self, people: Ints, records: Ints) -> None:
        """The classes of one more margin."""
        self.fewest, self.most = min(self.fewest, int(people.min())), max(self.most, int(people.max()))
        self.smallest, self.largest = min(self.smallest, int(records.min())), max(self.largest, int(records.max()))


def verify_views(
    written: Written,
    policy: Policy,
    staging: VerifierTables,
    rows: int,
    proposals: Proposals | None = None,
    beside: Sequence[KeptVersion] = (),
) -> Measurement:
    """Measure the written version and check every promise; ConfigError QG803 names the first that is broken.

    R2 and R3 are about all views of this version and of those `beside` it.
    Without proposals witnesses are looked for in the table as it is, and no view after the second can be shown safe.
    """
    if policy.views is None:
        raise ValueError("the policy has no views")
    catalog, read = check_catalog(written, policy, staging, rows), staging.raw_column
    check_code_groups(catalog, policy, staging)
    persons = _persons(read, policy) if catalog.persons else None
    with written.margins() as margins:
        versions = _read_versions(beside, policy, staging.columns, read) if beside else ()
        quasi = [column.name for column in catalog.columns if column.role in DIVIDING]
        raw = RawCombinations.of(quasi, read, rows)
        job = _Job(written, margins, policy, policy.views, catalog, read, raw, persons, rows, proposals or {}, versions)
        measured = job.measure()
    check_strays(written)
    return measured


def _read_versions(
    beside: Sequence[KeptVersion], policy: Policy, columns: Sequence[str], read: ReadColumn
) -> tuple[EarlierVersion, ...]:
    try:
        return tuple(read_earlier(one, policy, columns, read) for one in beside)
    except Incomparable as problem:
        require(False, f"versions that can be compared ({problem.reason})")
        raise


def _check_margins(catalog: Catalog, margins: MarginReader, rules: ViewRules) -> list[dict[tuple[str, ...], int]]:
    """The number of every margin by view and unit. Every view has its counts and each unit, and a sensitive column is
    in one unit: otherwise its values would be linked to those of others.
    """
    views: list[dict[tuple[str, ...], int]] = [{} for _ in rules.views]
    for number, margin in enumerate(catalog.margins):
        known = 0 <= margin.view < len(views) and margin.quasi == rules.told[margin.view]
        require(known and margin.sensitive not in views[margin.view], f"margin {number} is one of the policy's")
        views[margin.view][margin.sensitive] = number
    require(margins.numbers() == frozenset(range(len(catalog.margins))), "every margin is written, and no other")
    units = list(views[0])
    require(units[:1] == [()] and all(list(one) == units for one in views), "every view has its counts and all units")
    named = [name for unit in units for name in unit]
    secret = [column.name for column in catalog.columns if column.role == "sensitive"]
    require(sorted(named) == sorted(secret), "every sensitive column is in one unit")
    linked = {frozenset(group) for group in rules.linked}
    require(all(len(unit) < 2 or frozenset(unit) in linked for unit in units), "linked columns are those of the policy")
    others = {column.role for column in catalog.columns if not column.groups} - {"sensitive", *DIVIDING}
    require(not others, "no other columns are beside views")
    return views


def _persons(read: ReadColumn, policy: Policy) -> Ints:
    """The person of each record, as a number; all records without a person count as one."""
    raw = read(policy.person)
    values = np.unique(raw.values, return_inverse=True)[1].reshape(-1)
    return np.where(raw.missing, -1, values)


def _by_frame(frame: Ints) -> dict[int, Ints]:
    """The records of each frame cell."""
    order = np.argsort(frame, kind="stable")
    names, begin = np.unique(frame[order], return_index=True)
    return dict(zip(names.tolist(), np.split(order, begin[1:]), strict=True))


def _of_each(cells: Mapping[int, Ints], work: Callable[[int, Ints], T]) -> list[T]:
    """The findings of each frame cell, in any order; several at a time, if there are enough records for that."""
    listed = list(cells.items())
    if sum(records.size for records in cells.values()) < SEVERAL:
        return [work(frame, records) for frame, records in listed]
    return list(side_by_side(lambda place: work(*listed[place]), len(listed)))


def _mean(parts: Sequence[tuple[float, int]]) -> float:
    number = sum(n for _, n in parts)
    return sum(total for total, _ in parts) / number if number else 0.0


@dataclass(frozen=True)
class _Job:
    """One version under the verifier."""

    written: Written
    margins: MarginReader
    policy: Policy
    rules: ViewRules
    catalog: Catalog
    read: ReadColumn
    raw: RawCombinations
    persons: Ints | None
    rows: int
    proposals: Proposals
    versions: tuple[EarlierVersion, ...]
    found: _Measured = field(default_factory=_Measured)

    def measure(self) -> Measurement:
        """Check every promise in turn."""
        catalog, found = self.catalog, self.found
        require(not catalog.tight, "edges of classes are public")
        views = _check_margins(catalog, self.margins, self.rules)
        written = [self.read_margin(margins[()]) for margins in views]
        frame = find_frames(self.written, written, catalog.columns, self.raw)
        counts = [self.located(one, frame) for one in written]
        cells = _by_frame(frame[self.raw.place])
        least = self.check_combinations(counts, cells)
        self.check_versions(counts, frame[self.raw.place], cells)
        for place, unit in enumerate(list(views[0])[1:]):
            margins = [self.located(self.read_margin(numbers[unit]), frame) for numbers in views]
            self.check_unit(place, unit, margins, counts, cells)
        return Measurement(
            found.smallest,
            found.largest,
            found.guards.l,
            found.guards.t,
            found.guards.hull,
            {name: _mean(parts) for name, parts in found.widths.items()},
            found.guards.kept,
            None if self.persons is None else ClassPeople(found.fewest, found.most),
            ViewsMeasured(len(cells), sum(one.names.size for one in counts), least, found.shown, found.withheld),
        )

    def read_margin(self, number: int) -> WrittenMargin:
        """A margin with public edges and whole groups."""
        found = read_margin(self.margins, self.catalog.margins[number], number, self.catalog.columns)
        require(not np.isin(found.names, self.found.classes).any(), "a class is in one margin")
        self.found.classes = np.append(self.found.classes, found.names)
        for column in self.catalog.columns:
            if column.name in found.margin.columns:
                self._check_column(column, found)
        return found

    def located(self, margin: WrittenMargin, frame: Ints) -> LocatedMargin:
        """Every record in its class, each of which has k people (R1); `frame` is by combination."""
        one = locate(self.written, margin, self.catalog.columns, self.raw, frame)
        people = one.sizes if self.persons is None else people_by_class(one.label, self.persons)
        promise = f"k = {self.policy.k} people in each class of margin {margin.number}"
        require(int(people.min()) >= self.policy.k, promise)
        self._check_hidden(one)
        self.found.add(people, one.sizes)
        return one

    def _check_hidden(self, margin: LocatedMargin) -> None:
        """Check that each published value of a class could be that of k people (R1). Of the whole table as one class
        nothing coarser could be published.
        """
        if margin.names.size == 1:
            return
        for name in margin.margin.quasi:
            column = next(column for column in self.catalog.columns if column.name == name)
            others = told_values(self.written, column, self.policy.column(name), margin) - 1
            promise = f"each {name} of a class of margin {margin.number} could be that of k = {self.policy.k} people"
            require(bool((margin.sizes - others >= self.policy.k).all()), promise)

    def _check_column(self, column: Column, margin: WrittenMargin) -> None:
        """Check that edges are public, and groups whole."""
        wanted = self.policy.column(column.name)
        if not column.is_numeric:
            if wanted.groups:
                check_groups(column, self.policy, self.written)
            return
        ends = [np.ma.asarray(margin.cells[f"c{column.index}_{end}"]) for end in ("lo", "hi")]
        known = ~np.ma.getmaskarray(ends[0])
        low, high = (np.ma.getdata(end)[known] for end in ends)
        if column.role == "public":
            raw = self.raw.read(column.name)
            attained = np.isin(np.append(low, high), raw.values[~raw.missing]).all()
            require(bool(attained), f"the edges of {column.name} are attained")
        else:
            check_edges(column, wanted, low, high)
        n = np.asarray(margin.cells["n"])[known]
        total = float(((high.astype(np.float64) - low.astype(np.float64)) * n).sum())
        self.found.widths.setdefault(column.name, []).append((total, int(n.sum())))

    # -- R2 --------------------------------------------------------------------------------------------------------

    def check_combinations(self, counts: Sequence[LocatedMargin], cells: Mapping[int, Ints]) -> int:
        """The fewest people in a combination of two views; further views by what is proposed for them."""
        weight, whole = person_shares(self.rows, self.persons)

        def least_in(frame: int, records: Ints) -> int:
            labels = np.stack([one.label[records] for one in counts])
            return self._least_support(frame, labels, weight[records], self.policy.k * whole)

        return min(_of_each(cells, least_in)) // whole

    def _least_support(self, frame: int, labels: Ints, weight: Ints, wanted: int) -> int:
        """Of one frame cell; `labels` are views x records."""
        least = least_support(labels[0], labels[min(1, len(labels) - 1)], weight)
        require(least >= wanted, f"two views together tell of k = {self.policy.k} people or of nobody")
        for view in range(2, len(labels)):
            if (labels[view] == labels[view][0]).all():
                continue  # the whole cell as one class is a sum of classes of the first view
            given = self.proposals[frame].balances[view - 2] if frame in self.proposals else ()
            balances = [BalanceGiven(one.atom, one.numbers, one.denominator) for one in given]
            left = unbalanced(labels[: view + 1], weight, wanted, balances)
            require(not left, f"views together tell of k = {self.policy.k} people or of nobody")
        return least

    def check_versions(self, counts: Sequence[LocatedMargin], frame: Ints, cells: Mapping[int, Ints]) -> None:
        """No combination of classes of any versions tells of fewer than k people; balances of all views show it.
        `frame` is by record.
        """
        if not self.versions:
            return
        least = min([self.policy.k, *(one.k for one in self.versions)])
        earlier = np.concatenate([one.counts for one in self.versions])
        for one in self.versions:
            pairs = np.unique(np.stack([one.frame, frame])[:, one.frame != ABSENT], axis=1)
            whole = np.unique(pairs[0]).size == pairs.shape[1]
            require(whole, f"a frame cell of version {one.number} lies in one of the new version")
            require(not set(one.gone) & set(pairs[0].tolist()), f"nobody left a frame cell of version {one.number}")
        for name, records in cells.items():
            before, now = earlier[:, records], np.stack([one.label[records] for one in counts])
            if (before == ABSENT).all() or all(any(are_unions(row, own) for own in before) for row in now):
                continue
            given = self.proposals[name].together if name in self.proposals else ()
            balances = [BalanceGiven(one.atom, one.numbers, one.denominator) for one in given]
            weight = np.ones(records.size, dtype=np.int64)
            left = unbalanced(np.concatenate([before, now]), weight, least, balances)
            require(not left, f"all versions together tell of k = {least} people or of nobody")

    # -- units: R1 and R3 --------------------------------------------------------------------------------------------

    def check_unit(
        self,
        place: int,
        unit: tuple[str, ...],
        margins: Sequence[LocatedMargin],
        counts: Sequence[LocatedMargin],
        cells: Mapping[int, Ints],
    ) -> None:
        name = " and ".join(unit)
        for one, whole in zip(margins, counts, strict=True):
            first = np.zeros(whole.names.size, dtype=np.int64)
            first[whole.label] = one.label
            require(np.array_equal(first[whole.label], one.label), f"classes of {name} are made of classes of counts")
        columns = [column for key in unit for column in self.catalog.columns if column.name == key]
        policies = {column.name: self.policy.column(column.name) for column in columns}
        read = cache(self.read)  # of this unit alone
        told = read_unit(self.written, columns, margins, read, policies, self.rules.sum_cell, self.policy.k)
        for number, one in enumerate(margins):
            rows = told.is_told(number)
            if rows.any():
                measure_margin(self.written, columns, one, told.told[number], read, self.policy, self.found.guards)
        numbers = [column.name for column in columns if column.is_numeric]
        before = stacked(self.versions, unit, numbers, self.rows)

        def shown_in(frame: int, records: Ints) -> tuple[int, int]:
            number = self._shown(frame, place, told, records, before.of(records))
            require(number in (0, records.size), f"everybody could have another value of {name}")
            return number, records.size - number

        safe, withheld = zip(*_of_each(cells, shown_in), strict=True)
        self.found.shown[name], self.found.withheld[name] = sum(safe), sum(withheld)

    def _shown(self, frame: int, place: int, told: UnitTold, records: Ints, before: EarlierMargins) -> int:
        """How many records of a frame cell are shown to be able to have another value; none where nothing is published.
        `before` is what earlier versions show of them.
        """
        telling = [one for i, one in enumerate(told.margins) if told.told[i][one.label[records[0]]]]
        if not telling:
            return 0
        numbers = [replace(one, values=one.values[records]) for one in told.numbers]
        labels = np.stack([one.label[records] for one in telling])
        bins, others = told.bin[records], None
        if self._is_beside(frame, place) or tell_more(labels, bins, numbers, before):
            labels = np.concatenate([before.labels, labels])
            others = OtherBins(before.bins, before.low, before.high, before.least, before.most)
        check = WitnessCheck(labels, bins, numbers, self.rules.values, told.meant, others)
        for world in self._given(frame, place):
            check.swap(world)
        for sided in self.proposals[frame].units[place].sided if self._is_beside(frame, place) else ():
            check.trade(SidedGiven(sided.sides, sided.exact, sided.totals))
        for exact in check.divided if check.unsafe().any() else ():
            check.swap(check.world(exact))
        # nobody, unless everybody is proved safe
        return records.size if not check.unsafe().any() else -1

    def _is_beside(self, frame: int, place: int) -> bool:
        given = self.proposals[frame].units if frame in self.proposals else ()
        return bool(self.versions) and place < len(given) and given[place].beside

    def _given(self, frame: int, place: int) -> Iterator[TotalsGiven]:
        if frame in self.proposals and place < len(self.proposals[frame].units):
            for world in self.proposals[frame].units[place].worlds:
                yield TotalsGiven(world.exact, world.totals)
