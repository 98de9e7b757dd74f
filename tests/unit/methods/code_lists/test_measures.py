"""Measures of published code sets: by hand, and against their definitions on small random records."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from querygate.methods.code_lists.baskets import Baskets, Items
from querygate.methods.code_lists.code_tree import CodeTree
from querygate.methods.code_lists.diseases import Disease, gwas_diseases
from querygate.methods.code_lists.known_code_systems import lines_of
from querygate.methods.code_lists.local_items import LocalItems
from querygate.methods.code_lists.losses import changes, frequent_sets, published_loss, workload_errors
from querygate.methods.code_lists.record_matches import PublishedRecords, estimates, matches, unchanged
from querygate.methods.code_lists.reidentification import reidentification, unique_records
from querygate.methods.code_lists.set_partition import partitioned
from tests.unit.methods.code_lists.case_counts import case_counts, surviving

SIZE = 6
GOLDEN = Baskets.of([[0, 1, 2], [3, 4, 5], [0, 2]], size=SIZE)
JOINED = Items(np.array([0, 0, 1, 2, 3, 4]))


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[set[int]], Items]:
    """A few records, and items with some codes suppressed."""
    records = draw(st.lists(st.sets(st.integers(0, SIZE - 1)), min_size=1, max_size=9))
    raw = draw(st.lists(st.integers(-1, 3), min_size=SIZE, max_size=SIZE))
    number = {item: i for i, item in enumerate(sorted(set(raw) - {-1}))}
    return records, Items(np.array([number.get(item, -1) for item in raw]))


def baskets_of(records: list[set[int]]) -> Baskets:
    return Baskets.of([sorted(record) for record in records], SIZE)


def published_sets(records: list[set[int]], items: Items) -> list[list[set[int]]]:
    groups = [set(codes) for codes in items.groups()]
    return [[group for group in groups if group & record] for record in records]


def chance_of(query: set[int], groups: list[set[int]]) -> Fraction:
    """The share of the records that may be meant, any codes of each item but none, that have all of a query."""
    choices = [
        [set(codes) for size in range(1, len(group) + 1) for codes in combinations(group, size)] for group in groups
    ]
    meant = [set().union(*chosen) for chosen in product(*choices)]
    return Fraction(sum(query <= one for one in meant), len(meant))


QUERIES = Baskets.of([(), *((c,) for c in range(SIZE)), *combinations(range(SIZE), 2), (0, 1, 2, 3)], SIZE)

# -- matching and counts -----------------------------------------------------------------------------------------------


@given(worlds())
def test_matches_and_estimates_are_as_defined(world: tuple[list[set[int]], Items]) -> None:
    records, items = world
    published = PublishedRecords.of(baskets_of(records), items)
    told = published_sets(records, items)
    covers = [set().union(*groups) for groups in told]
    hidden = {code for code in range(SIZE) if items.of[code] == -1}
    expected, shares = [], []
    for query in map(set, QUERIES.lists()):
        expected.append(sum(query - hidden <= cover for cover in covers))
        shares.append(float(sum(chance_of(query, groups) for groups in told)))
    assert matches(published, QUERIES).tolist() == expected
    assert estimates(published, QUERIES).tolist() == pytest.approx(shares)


def test_counts_add_up_over_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    baskets = baskets_of([set(np.flatnonzero(rng.random(SIZE) < 0.4).tolist()) for _ in range(203)])
    whole = matches(unchanged(baskets), QUERIES), estimates(PublishedRecords.of(baskets, JOINED), QUERIES)
    monkeypatch.setattr("querygate.methods.code_lists.record_matches._BLOCK_BYTES", 64)
    assert matches(unchanged(baskets), QUERIES).tolist() == whole[0].tolist()
    assert estimates(PublishedRecords.of(baskets, JOINED), QUERIES).tolist() == pytest.approx(whole[1].tolist())


def test_errors_by_hand() -> None:
    """Of (296.00, 296.01) two records have each with 2/3 and both with 1/3; all else is as it was."""
    errors = workload_errors(GOLDEN, JOINED, Baskets.of([[0], [1], [0, 1], [2], [0, 3], [1, 2]], SIZE))
    assert errors.actual.tolist() == [2, 1, 1, 2, 0, 1]
    assert errors.estimated.tolist() == pytest.approx([4 / 3, 4 / 3, 2 / 3, 2, 0, 4 / 3])
    assert errors.relative.tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0, 0, 1 / 3])
    assert errors.mean == pytest.approx(4 / 18)


def test_the_published_example() -> None:
    """Gkoulalas-Divanis & Loukides 2012: one of three records with the item (401.1, 401.2) has 401.2; told 3 x 2/3."""
    baskets = Baskets.of([[0], [1, 2], [0], [2]], 3)
    errors = workload_errors(baskets, Items(np.array([0, 0, 1])), Baskets.of([[1]], 3))
    assert errors.actual.tolist() == [1]
    assert errors.estimated.tolist() == pytest.approx([2])
    assert errors.mean == pytest.approx(1)


def test_an_item_of_thousands_of_codes_tells_each_with_a_half() -> None:
    baskets = Baskets.of([[i] for i in range(3000)], 3000)
    found = estimates(
        PublishedRecords.of(baskets, Items(np.zeros(3000, dtype=np.int64))), Baskets.of([[7], [7, 9]], 3000)
    )
    assert found.tolist() == pytest.approx([1500, 750])


def test_nothing_asked_has_no_mean() -> None:
    assert math.isnan(workload_errors(GOLDEN, JOINED, Baskets.of([], SIZE)).mean)


@given(worlds(), st.sampled_from([0.1, 0.3, 0.5, 1.0]))
def test_frequent_sets_are_all_that_are_frequent(world: tuple[list[set[int]], Items], share: float) -> None:
    records, _ = world
    wanted = [
        list(query)
        for size in (1, 2, 3)
        for query in combinations(range(SIZE), size)
        if sum(set(query) <= record for record in records) >= max(1, share * len(records))
    ]
    assert frequent_sets(baskets_of(records), share).lists() == wanted


def test_thirty_codes_in_every_record_make_no_billion_sets() -> None:
    baskets = Baskets.of([list(range(30))] * 20, 30)
    lengths = np.diff(frequent_sets(baskets, longest=30, most=50).starts)
    assert np.bincount(lengths).max() == 50


# -- utility loss ------------------------------------------------------------------------------------------------------


def exact_loss(
    records: list[set[int]], items: Items, weight: dict[tuple[int, ...], Fraction] | None = None
) -> Fraction:
    loss = Fraction(0)
    for codes in items.groups():
        support = sum(bool(set(codes) & record) for record in records)
        heavy = weight[codes] if weight else Fraction(1)
        loss += Fraction(2 ** len(codes) - 1, 2**SIZE - 1) * heavy * Fraction(support, len(records))
    lost = sum(items.of[code] == -1 for record in records for code in record)
    return loss + Fraction(int(lost), len(records))


@given(worlds())
def test_utility_loss_is_its_formula(world: tuple[list[set[int]], Items]) -> None:
    records, items = world
    loss = published_loss(baskets_of(records), items)
    assert loss.total == pytest.approx(float(exact_loss(records, items)), rel=1e-12)
    assert math.exp2(loss.log2_total) == pytest.approx(loss.total, rel=1e-12)


def test_utility_loss_of_the_golden_example() -> None:
    records = [{0, 1, 2}, {3, 4, 5}, {0, 2}]
    assert exact_loss(records, JOINED) == Fraction(3 * 2 + 1 * 2 + 3, 63 * 3)
    assert published_loss(GOLDEN, JOINED).total == pytest.approx(11 / 189)
    suppressed = published_loss(GOLDEN, Items(np.array([-1, 0, 1, 2, 3, 4])))
    assert suppressed.suppressed == 2 / 3
    assert suppressed.total == pytest.approx(2 / 3 + 6 / 189)


def test_utility_loss_weighted_by_distance() -> None:
    """296.00 and 296.01 are two edges apart in a tree of height 2: weight 1/2. Codes alone weigh nothing."""
    names = ("296.00", "296.01", "296.02", "295.00", "295.01", "295.02")
    tree = CodeTree.of([(name, name[:3], "*") for name in sorted(names)])
    order = np.argsort(np.argsort(names))
    items = np.empty(SIZE, dtype=np.int64)
    items[order] = JOINED.of
    baskets = Baskets.of([[int(order[code]) for code in record] for record in GOLDEN.lists()], SIZE)
    assert published_loss(baskets, Items(items), tree.spread).total == pytest.approx(3 / 63 * 0.5 * 2 / 3)


def test_thousands_of_codes_neither_overflow_nor_compare_as_equal() -> None:
    size = 6000
    baskets = Baskets.of([[0, 1, 2, 3], [4]], size)
    of = np.arange(size)
    two, three = of.copy(), of.copy()
    two[1], three[1:3] = 0, 0
    pair, triple = (published_loss(baskets, Items(np.unique(one, return_inverse=True)[1])) for one in (two, three))
    exact = Fraction(3 + 1 + 1 + 1, (2**size - 1) * 2)
    assert pair.log2_total == pytest.approx(math.log2(exact.numerator) - math.log2(exact.denominator), abs=1e-9)
    assert pair.total == 0.0
    assert pair.log2_total < triple.log2_total


# -- what was changed --------------------------------------------------------------------------------------------------


@given(worlds())
def test_changes_are_counts_of_entries(world: tuple[list[set[int]], Items]) -> None:
    records, items = world
    found = changes(baskets_of(records), items)
    size = {code: len(group) for group in items.groups() for code in group}
    entries = [size.get(code, 0) for record in records for code in record]
    occurring = set().union(*records)
    assert found.codes == len(occurring)
    assert found.codes_suppressed == sum(code not in size for code in occurring)
    assert found.codes_generalised == sum(size.get(code, 0) > 1 for code in occurring)
    assert found.suppressed == (entries.count(0) / len(entries) if entries else 0)
    assert found.generalised == (sum(n > 1 for n in entries) / len(entries) if entries else 0)
    kept = [n for n in entries if n]
    assert found.mean_size == pytest.approx(sum(kept) / len(kept) if kept else 1.0)


# -- diseases ----------------------------------------------------------------------------------------------------------


def possible_records(groups: list[set[int]], hidden: set[int]) -> list[set[int]]:
    """Every set of codes that is published like this."""
    visible = set().union(*groups) | hidden
    found = [set(s) for size in range(len(visible) + 1) for s in combinations(sorted(visible), size)]
    return [one for one in found if all(one & group for group in groups)]


@given(worlds(), st.sets(st.integers(0, SIZE - 1), min_size=1))
def test_case_counts_are_those_of_all_records_that_could_be(
    world: tuple[list[set[int]], Items], codes: set[int]
) -> None:
    records, items = world
    hidden = {code for code in range(SIZE) if items.of[code] == -1}
    least = most = 0
    for groups in published_sets(records, items):
        cases = {bool(one & codes) for one in possible_records(groups, hidden)}
        least += cases == {True}
        most += True in cases
    found = case_counts(baskets_of(records), items, Disease("d", tuple(sorted(codes))))
    assert (found.least, found.most) == (least, most)
    assert found.least <= found.cases == sum(bool(record & codes) for record in records) <= found.most
    assert found.exact == (least == most)


def test_diseases_that_survive_by_hand() -> None:
    bipolar, psychosis, none = Disease("bipolar", (0, 1)), Disease("psychosis", (1, 2)), Disease("none", ())
    kept = surviving(GOLDEN, JOINED, [bipolar, psychosis, none])
    assert [(one.name, one.cases) for one in kept] == [("bipolar", 2), ("psychosis", 2)]  # 2 is with each (0, 1)
    split = Items(np.array([0, 1, 1, 2, 3, 4]))
    assert [one.name for one in surviving(GOLDEN, split, [bipolar, psychosis])] == ["bipolar", "psychosis"]
    assert surviving(GOLDEN, Items(np.array([-1, 0, 1, 2, 3, 4])), [bipolar]) == ()
    assert surviving(GOLDEN, Items(np.array([0, 0, 0, 1, 1, 0])), [bipolar]) == ()


def test_eighteen_diseases_without_a_code_in_common() -> None:
    codes = tuple(sorted(lines_of("icd9cm")))
    diseases = gwas_diseases(codes)
    assert len(diseases) == 18
    assert all(disease.codes for disease in diseases)
    every = [code for disease in diseases for code in disease.codes]
    assert len(every) == len(set(every))
    called = {disease.name: {codes[i] for i in disease.codes} for disease in diseases}
    assert {"250.01", "250.93"} <= called["Diabetes mellitus type 1"]
    assert {"250.00", "250.92"} <= called["Diabetes mellitus type 2"]
    assert {"410", "414.9"} <= called["Coronary disease"]
    assert "415.0" not in called["Coronary disease"]
    assert called["Prostate cancer"] == {"185"}
    assert called["Renal cancer"] == {"189.0", "189.1"}


# -- re-identification -------------------------------------------------------------------------------------------------


@given(worlds())
def test_whole_sets_and_unique_records_are_as_defined(world: tuple[list[set[int]], Items]) -> None:
    records, items = world
    curve = reidentification(baskets_of(records), items, longest=2, draws=3, rng=np.random.default_rng(0))
    told = [{frozenset(group) for group in groups} for groups in published_sets(records, items)]
    holder = {code: frozenset(group) for group in items.groups() for code in group}
    assert curve.whole_before.tolist() == [sum(one <= other for other in records) for one in records]
    assert curve.whole_after.tolist() == [
        sum({holder[code] for code in one if code in holder} <= other for other in told) for one in records
    ]
    assert curve.unique_before == sum(records.count(record) == 1 for record in records)
    assert curve.unique_after == sum(told.count(groups) == 1 for groups in told)
    assert curve.before.shape == (2, 3 * len(records))
    assert (curve.after >= curve.before).all()
    assert (curve.before[0] >= curve.before[1]).all()
    assert (curve.before[1] >= np.repeat(curve.whole_before, 3)).all()


def test_random_sets_are_codes_of_the_record() -> None:
    """Records share no code, so every known set has one match; joined two and two, two."""
    baskets = Baskets.of([[0, 1], [2, 3], [4, 5], []], SIZE)
    joined = LocalItems(Baskets.of([[0], [0], [1], []], 2), ((0, 1, 2, 3), (4, 5)), suppressed=0, loss=0.0)
    curve = reidentification(baskets, joined, longest=3, draws=5, rng=np.random.default_rng(1))
    assert curve.before.tolist() == [[1] * 15 + [4] * 5] * 3
    assert curve.after.tolist() == [[2] * 10 + [1] * 5 + [4] * 5] * 3
    assert curve.share_before(2).tolist() == [0.75] * 3
    assert curve.share_after(2).tolist() == [0.25] * 3
    assert curve.whole_share_before(2) == 0.75
    assert curve.whole_share_after(2) == 0.25
    assert (curve.unique_before, curve.unique_after) == (4, 2)


def test_of_many_records_some_are_drawn() -> None:
    baskets = Baskets.of([[i % SIZE] for i in range(60)], SIZE)
    curve = reidentification(baskets, Items.unchanged(SIZE), longest=1, draws=2, most=7, rng=np.random.default_rng(2))
    assert curve.before.tolist() == [[10] * 14]
    assert curve.whole_after.tolist() == [10] * 7


def test_unique_records_of_none() -> None:
    assert unique_records(Baskets.of([], SIZE)) == 0


def test_no_records_and_no_codes_are_measured_as_nothing() -> None:
    for baskets in (Baskets.of([], SIZE), Baskets.of([[], []], SIZE)):
        nothing = Items(np.full(SIZE, -1))
        assert published_loss(baskets, nothing).total == 0
        assert changes(baskets, nothing).entries == 0
        assert frequent_sets(baskets).records == 0
        assert surviving(baskets, nothing, [Disease("d", (0,))]) == ()
        curve = reidentification(baskets, nothing, longest=2, rng=np.random.default_rng(0))
        assert curve.whole_after.tolist() == [baskets.records] * baskets.records
        assert curve.share_after(1).tolist() == [0, 0]


# -- local recoding ----------------------------------------------------------------------------------------------------


def test_measures_of_local_recoding() -> None:
    """Code 1 alone of one pair of records and with 0 of another; a record that is suppressed may be anything."""
    baskets = Baskets.of([[0, 2], [1, 2], [1], [1], [3]], 4)
    local = LocalItems(Baskets.of([[0, 2], [0, 2], [1], [1], []], 3), ((0, 1), (1,), (2,)), suppressed=1, loss=0.0)
    found = changes(baskets, local)
    assert (found.entries, found.entries_suppressed, found.entries_generalised) == (7, 1, 2)
    assert (found.codes, found.codes_suppressed, found.codes_generalised) == (4, 1, 2)
    loss = published_loss(baskets, local)
    assert loss.suppressed == 1 / 5
    assert loss.total == pytest.approx((3 * 2 + 2 + 2) / 15 / 5 + 1 / 5)
    errors = workload_errors(baskets, local, Baskets.of([[1], [1, 2], [3], [0, 1]], 4))
    assert errors.actual.tolist() == [3, 1, 1, 0]
    assert errors.estimated.tolist() == pytest.approx([2 * 2 / 3 + 2, 2 * 2 / 3, 0, 2 / 3])
    assert matches(PublishedRecords.of(baskets, local), Baskets.of([[1], [1, 2], [3]], 4)).tolist() == [5, 3, 1]
    assert not case_counts(baskets, local, Disease("one", (1,))).exact
    counted = case_counts(baskets, local, Disease("both", (0, 1)))
    assert (counted.cases, counted.least, counted.most) == (4, 4, 5)


@given(st.integers(0, 10_000))
def test_estimates_of_local_recoding_are_as_defined(seed: int) -> None:
    """Any two items of all records may overlap; those of one record do not."""
    rng = np.random.default_rng(seed)
    groups: dict[tuple[int, ...], int] = {}
    told: list[list[int]] = []
    for _ in range(5):
        parts = rng.integers(-1, 3, SIZE)
        held = [tuple(np.flatnonzero(parts == part).tolist()) for part in set(parts.tolist()) - {-1}]
        told.append([groups.setdefault(codes, len(groups)) for codes in held])
    local = LocalItems(Baskets.of(told, len(groups)), tuple(groups), suppressed=0, loss=0.0)
    found = estimates(PublishedRecords.of(Baskets.of([[0]] * 5, SIZE), local), QUERIES)
    sets = [set(codes) for codes in groups]
    expected = [
        float(sum(chance_of(set(query), [sets[item] for item in items]) for items in told)) for query in QUERIES.lists()
    ]
    assert found.tolist() == pytest.approx(expected)


def test_complete_k_anonymity_leaves_nobody_alone() -> None:
    rng = np.random.default_rng(3)
    baskets = Baskets.of([np.flatnonzero(rng.random(8) < 0.4).tolist() for _ in range(40)], 8)
    levels = [np.arange(8), np.arange(8) // 2, np.arange(8) // 4, np.zeros(8, dtype=np.int64)]
    made = partitioned(baskets, levels, 3)
    curve = reidentification(baskets, made, longest=3, rng=rng)
    assert curve.whole_share_before(3) > 0
    assert curve.whole_share_after(3) == 0
    assert curve.unique_after == 0
