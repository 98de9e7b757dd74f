"""Views of a second version beside those of a first, against everything that can be tried on tiny tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from querygate.core.types import Ints
from querygate.methods.views import (
    CellRelease,
    EarlierColumn,
    EarlierViews,
    Measure,
    RecordTable,
    SensitiveColumn,
    TooFewPeople,
    Uncertified,
    ViewPlan,
    certified_beside,
    certified_views,
)
from querygate.methods.views.balance_check import BalanceGiven, unbalanced
from querygate.methods.views.certificate_check import BinnedNumber, OtherBins, SidedGiven, WitnessCheck
from querygate.methods.views.earlier_versions import given
from querygate.methods.views.holders import Holders, Possible
from querygate.methods.views.windows import Windows
from tests.unit.methods.views import brute
from tests.unit.methods.views.tables import plan, random_table

LEAST, MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
MOST_ATOMS = 16
"""With more, trying everything would take too long."""


def part(table: RecordTable, records: Ints) -> RecordTable:
    """Some records of a table."""
    quasi = tuple(replace(column, codes=column.codes[records]) for column in table.quasi)
    sensitive = tuple(
        SensitiveColumn(
            column.name,
            column.codes[records],
            column.size,
            tuple(replace(one, values=one.values[records]) for one in column.measures),
        )
        for column in table.sensitive
    )
    return RecordTable(quasi, sensitive)


def with_sums(table: RecordTable, step: int, fewest: int) -> RecordTable:
    """Sums in cells of this width."""

    def told_so(column: SensitiveColumn) -> SensitiveColumn:
        return replace(column, measures=tuple(replace(one, step=step, fewest=fewest) for one in column.measures))

    return replace(table, sensitive=tuple(told_so(column) for column in table.sensitive))


def with_wide_bins(table: RecordTable) -> RecordTable:
    """Two bins of a number in the place of four."""

    def wide(column: SensitiveColumn) -> SensitiveColumn:
        if not column.measures:
            return column
        measures = tuple(replace(one, low=one.low[::2], high=one.high[1::2]) for one in column.measures)
        return SensitiveColumn(column.name, column.codes // 2, column.size // 2, measures)

    return replace(table, sensitive=tuple(wide(column) for column in table.sensitive))


def sums_told(column: SensitiveColumn, label: Ints) -> tuple[Ints, Ints]:
    """By record the ends of the cell of its class's sum, unless bins have the same; by counting, class by class."""
    least, most = np.full(label.size, LEAST), np.full(label.size, MOST)
    (measure,) = column.measures
    for name in np.unique(label[label >= 0]):
        members = np.flatnonzero((label == name) & measure.has_number[column.bins])
        low, high = (int(end[column.bins[members]].sum()) for end in measure.ends)
        cells = max(1, (high - low + 1) // measure.step) if members.size >= measure.fewest else 1
        place = min((int(measure.values[members].sum()) - low) // measure.step, cells - 1)
        if place > 0:
            least[label == name] = low + place * measure.step
        if place < cells - 1:
            most[label == name] = low + (place + 1) * measure.step - 1
    return least, most


def told(table: RecordTable, before: Ints, views: ViewPlan) -> EarlierViews:
    """What a first version of some records tells, by record of the table."""
    (cell,) = certified_views(part(table, before), views).cells

    def spread(label: Ints) -> Ints:
        found = np.full(table.records, -1)
        found[before[cell.records]] = label
        return found

    columns = []
    for column, one in zip(table.sensitive, cell.columns, strict=True):
        labels = [spread(view.of(cell.leaf[at])) for at, view in zip(one.views, one.safe.views, strict=True)]
        ends = zip(*column_ends(column), strict=True) if column.measures else ((), ())
        sums = [sums_told(column, label) for label in labels] if column.measures else []
        shape = len(column.measures), len(labels), table.records
        columns.append(
            EarlierColumn(
                np.array(labels, dtype=np.int64).reshape(len(labels), table.records),
                np.broadcast_to(column.bins, (len(labels), table.records)),
                *(np.array(end, dtype=np.int64).reshape(-1, table.records) for end in ends),
                *(np.array([pair[side] for pair in sums], dtype=np.int64).reshape(shape) for side in (0, 1)),
            )
        )
    counts = np.stack([spread(view.of(leaf)) for view, leaf in zip(cell.counts, cell.leaf, strict=True)])
    return EarlierViews(counts, tuple(columns), views.k)


def column_ends(column: SensitiveColumn) -> list[tuple[Ints, Ints]]:
    """By measure what bins tell of each record."""
    found = []
    for one in column.measures:
        low, high = (end[column.bins] for end in one.ends)
        known = one.has_number[column.bins]
        found.append((np.where(known, low, LEAST), np.where(known, high, MOST)))
    return found


def problems(seed: int, records: int) -> list[str]:
    """What is wrong with a second version: other views of a table that has come to have more people, or the same, with
    other bins at times.
    """
    k = 2 + seed % 2
    table = with_sums(random_table(seed, records + seed % 6), step=(30, 12, 7)[seed // 6 % 3], fewest=k)
    first, now = ((table, table), (with_wide_bins(table), table), (table, with_wide_bins(table)))[seed // 2 % 3]
    came = (0, k, k + 1)[seed % 3]
    before = np.random.default_rng(seed).permutation(table.records)[came:]
    second = ViewPlan((("age", "school"), ("sex", "race")), (), k)
    try:
        earlier = told(first, np.sort(before), plan(2, k))
        cell = certified_beside(now, second, np.arange(table.records), earlier)
    except TooFewPeople:
        return []
    labels = np.stack([view.of(leaf) for view, leaf in zip(cell.counts, cell.leaf, strict=True)])
    all_views = np.concatenate([earlier.counts, labels])
    atoms, weight = np.unique(all_views, axis=1, return_counts=True)
    few = weight.size < MOST_ATOMS and brute.least_support(atoms, weight) < k
    wrong = ["a combination tells of fewer than k people"] if few else []
    given = [BalanceGiven(one.atom, one.numbers, one.denominator) for one in cell.together]
    if given and unbalanced(all_views, np.ones(table.records, dtype=np.int64), k, given):
        wrong.append("the checker does not take a certificate")
    for place, columns in enumerate(zip(table.sensitive, first.sensitive, now.sensitive, strict=True)):
        wrong += [f"{columns[0].name}: {text}" for text in unsafe(columns, place, cell, earlier)]
    return [f"seed {seed}: {text}" for text in wrong]


def unsafe(columns: tuple[SensitiveColumn, ...], place: int, cell: CellRelease, earlier: EarlierViews) -> list[str]:
    """Of a column with its finest bins, those of the first version and those of the second."""
    finest, _, column = columns
    one, before = cell.columns[place], earlier.columns[place]
    if not one.views:
        return []
    now = np.stack([view.of(cell.leaf[at]) for at, view in zip(one.views, one.safe.views, strict=True)])
    labels, wrong = np.concatenate([before.labels, now]), []
    if finest.measures:
        ends = [*zip(before.least[0], before.most[0], strict=True), *(sums_told(column, label) for label in now)]
        bins = [*before.bins, *(column.bins for _ in now)]
        wrong += [f"certain in atom {atom}" for atom in certain_numbers(labels, bins, ends, finest)]
    elif labels.shape[1] < MOST_ATOMS:
        wrong += [f"{len(could)} values" for could in brute.possible_bins(labels, column.bins) if len(could) < 2]
    if one.beside:
        numbers = [
            BinnedNumber(m.values, np.append(m.low, 1), np.append(m.high, 0), m.span, m.step, m.fewest)
            for m in column.measures
        ]
        others = OtherBins(before.bins, before.low, before.high, before.least, before.most)
        check = WitnessCheck(labels, column.bins, numbers, 2, (), others)
        for world in one.safe.sided:
            if not check.trade(SidedGiven(world.sides, world.exact, world.totals)):
                wrong.append("a world that is none")
        wrong += ["the checker does not show everybody safe"] if check.unsafe().any() else []
    return wrong


def certain_numbers(
    labels: Ints, bins: Sequence[Ints], ends: Sequence[tuple[Ints, Ints]], column: SensitiveColumn
) -> list[int]:
    """Atoms whose people all have one bin of the last margin in every table of whole people and whole numbers with the
    same figures; `bins` and `ends` (of sums) are by margin and record, and the column has the finest bins.
    """
    measure = column.measures[0]
    atoms, atom = np.unique(labels, axis=1, return_inverse=True)
    number, size = atoms.shape[1], column.size + 1
    held = np.zeros((number, size))
    np.add.at(held, (atom.reshape(-1), column.bins), 1.0)
    low, high = measure.ends
    people, counted, summed, least, most = np.kron(np.eye(number), np.ones(size)), [], [], [], []
    for row, label, bin_, (begin, end) in zip(atoms, labels, bins, ends, strict=True):
        for name in np.unique(row):
            member, first = (row == name).astype(np.float64), int(np.flatnonzero(label == name)[0])
            counted += [np.kron(member, np.isin(np.arange(size), finest)) for finest in in_bins(column, bin_)]
            summed.append(member)
            least.append(begin[first] if begin[first] != LEAST else -np.inf)
            most.append(end[first] if end[first] != MOST else np.inf)
    figures = np.vstack([people, *counted])
    rules = [
        LinearConstraint(np.hstack([figures, np.zeros((len(figures), number))]), *2 * (figures @ held.reshape(-1),)),
        LinearConstraint(np.hstack([np.zeros((len(summed), number * size)), np.array(summed)]), least, most),
        LinearConstraint(np.hstack([-np.kron(np.eye(number), low), np.eye(number)]), 0, np.inf),
        LinearConstraint(np.hstack([-np.kron(np.eye(number), high), np.eye(number)]), -np.inf, 0),
    ]
    upper = np.append(np.repeat(held.sum(axis=1), size), np.full(number, np.inf))
    lower = np.append(np.zeros(number * size), np.full(number, -np.inf))
    found, whole = [], np.ones(upper.size, dtype=np.int64)
    for one in range(number):
        for finest in in_bins(column, bins[-1]):
            own = np.zeros(upper.size)
            own[one * size + np.array(finest)] = 1.0
            if own[: number * size] @ held.reshape(-1) == held[one].sum():
                other = LinearConstraint(own, -np.inf, held[one].sum() - 1)
                bounds, goal = Bounds(lower, upper), np.zeros(upper.size)
                if milp(goal, integrality=whole, bounds=bounds, constraints=[*rules, other]).status != 0:
                    found.append(one)
    return found


def in_bins(column: SensitiveColumn, bins: Ints) -> list[list[int]]:
    """The finest bins that each bin is made of."""
    return [np.unique(column.bins[bins == one]).tolist() for one in np.unique(bins)]


@pytest.mark.parametrize("seed", range(0, 60, 10))
def test_two_versions_hold_against_trying_everything(seed: int) -> None:
    assert [text for one in range(seed, seed + 10) for text in problems(one, 9)] == []


def test_numbers_of_larger_tables_are_never_certain() -> None:
    assert [text for seed in range(8) for text in problems(5 * seed, 30)] == []


def test_some_are_coarsened_and_some_told_together() -> None:
    """The tables above are not so easy that nothing has to be done."""
    table, k = random_table(24, records=40), 2
    earlier = told(table, np.arange(30), plan(2, k))
    cell = certified_beside(table, ViewPlan((("age", "school"), ("sex", "race")), (), k), np.arange(40), earlier)
    assert any("earlier versions" in one.reason for one in cell.collapses)
    assert cell.together
    assert any(one.beside for one in cell.columns)


def test_one_newcomer_cannot_be_hidden() -> None:
    table = random_table(3, records=30)
    earlier = told(table, np.arange(29), plan(2, 3))
    with pytest.raises(Uncertified, match="fewer than k people"):
        certified_beside(table, plan(2, 3), np.arange(30), earlier)


def test_nothing_new_needs_no_new_certificates() -> None:
    table = random_table(4, records=30)
    earlier = told(table, np.arange(30), plan(2, 3))
    cell = certified_beside(table, plan(2, 3), np.arange(30), earlier)
    assert not cell.together
    assert not any(one.beside for one in cell.columns)


@pytest.mark.parametrize(("before", "now", "is_new"), [(99, 3, True), (3, 99, False)])
def test_sums_in_narrower_cells_are_something_new(before: int, now: int, is_new: bool) -> None:
    """Of fewer numbers than `fewest` a sum is told as bins tell it, so another k tells sums in other cells."""
    table = random_table(4, records=40)
    earlier = told(with_sums(table, 7, before), np.arange(40), plan(2, 3))
    cell = certified_beside(with_sums(table, 7, now), plan(2, 3), np.arange(40), earlier)
    assert [one.beside for one in cell.columns] == [False, False, is_new]


def test_bins_with_other_ends_are_something_new() -> None:
    """The same people in the same bins, but these end elsewhere: both together tell more than either."""
    table = random_table(4, records=40)
    earlier = told(table, np.arange(40), plan(2, 3))
    number = earlier.columns[2]
    columns = (
        *earlier.columns[:2],
        replace(number, low=np.maximum(number.low, 0) - 1, high=np.minimum(number.high, 99) + 1),
    )
    cell = certified_beside(table, plan(2, 3), np.arange(40), replace(earlier, columns=columns))
    assert cell.columns[2].beside


@pytest.mark.parametrize(("inner", "is_safe"), [((8, 11), False), ((5, 14), True)])
def test_values_span_the_guard_by_the_bins_of_all_versions(inner: tuple[int, int], is_safe: bool) -> None:
    """Two bins of the new version span the guard of 8, whatever is left of them beside those of an earlier one."""
    bins, one = np.array([0, 0, 1, 1]), np.zeros((1, 4), dtype=np.int64)
    low, high = np.where(bins == 0, inner[0], 10), np.where(bins == 0, 9, inner[1])
    values, ends = np.array([9, 9, 10, 10]), (np.array([0, 10]), np.array([9, 19]))
    open_ends = np.full((1, 1, 4), LEAST), np.full((1, 1, 4), MOST)
    others = OtherBins(bins[None], low[None], high[None], *open_ends)
    check = WitnessCheck(np.vstack([one, one]), bins, [BinnedNumber(values, *ends, 8, 0)], 2, (), others)
    assert check.unsafe().any() != is_safe
    told_before = EarlierColumn(one, bins[None], low[None], high[None], *open_ends)
    column = SensitiveColumn("sbp", bins, 2, (Measure(values, *ends, span=8, step=0),))
    windows = Windows.of(column, np.arange(4), finer=told_before.finer)
    holders = Holders.of(windows, [given(one[0]), given(one[0])], np.vstack([one, one]))
    assert Possible.begin(holders, 2).is_safe().all() == is_safe
