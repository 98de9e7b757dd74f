"""What every registered recoder must do, re-measured on what would be published."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from querygate.methods.anonymise import RECODERS, Attribute, Distinct, Infeasible, Table, local
from querygate.methods.anonymise.recode.full_domain import full_domain
from querygate.methods.anonymise.recode.full_subtree import full_subtree
from querygate.methods.anonymise.recode.interval_levels import flat_hierarchy, interval_hierarchy
from tests.each import each
from tests.unit.methods.anonymise.guarded import GUARDS
from tests.unit.methods.anonymise.recoded import check, hierarchical_table, nodes_of, rows_of
from tests.unit.methods.anonymise.tables import random_sensitive, random_table


@pytest.fixture(params=RECODERS.names())
def name(request):
    return request.param


@pytest.fixture
def recode(name):
    return RECODERS.get(name)


@pytest.mark.parametrize("suppress", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("cells", [0.0, 0.1])
def test_what_is_published_is_k_anonymous(recode, suppress, cells):
    divided = 0
    for seed in range(6):
        table, given = hierarchical_table(seed, nulls=seed % 2 == 0)
        k = 2 + seed % 4
        found = recode(table, k, suppress=suppress, cells=cells, hierarchies=given)
        check(table, found, k)
        assert found.suppressed <= suppress * table.records
        assert found.starred <= cells * table.records * len(table.attributes)
        divided += int(found.labels.max() > 0)
    assert divided > 3


def test_tables_of_every_kind(recode):
    for seed in range(2000, 2016):
        table, k = random_table(seed), 1 + seed % 5
        if table.records >= k:
            check(table, recode(table, k, suppress=0.1), k)


def test_nodes_alone_are_published(recode, name):
    for seed in range(4):
        table, given = hierarchical_table(seed)
        own, _, _, number = table.attributes
        trees = {**given, "own": own.tree, "flat": flat_hierarchy(3), "number": interval_hierarchy(number)}
        found = recode(table, 3, suppress=0.05, cells=0.05, hierarchies=trees)
        nodes = [nodes_of(a, trees[a.name]) for a in table.attributes]
        for _, row in rows_of(table, found):
            assert all(side in allowed for side, allowed in zip(row, nodes, strict=True))


@each("kind", GUARDS)
def test_every_guarantee_is_kept(recode, kind):
    divided = 0
    for seed in range(5000, 5004):
        table = random_table(seed, rows=160)
        guarded = GUARDS[kind](seed, table)
        try:
            found = recode(table, 3, [guarded.guard])
        except Infeasible:
            continue
        check(table, found, 3)
        assert guarded.is_kept(found.labels)
        divided += int(found.labels.max() > 0)
    assert divided


@pytest.mark.parametrize("kind", GUARDS)
def test_guarantees_hold_in_the_classes_that_are_left(recode, kind):
    for seed in range(5000, 5003):
        table = random_table(seed, rows=120)
        guard = GUARDS[kind](seed, table).guard
        try:
            found = recode(table, 3, [guard], suppress=0.1, cells=0.05)
        except Infeasible:
            continue
        check(table, found, 3)
        kept = np.flatnonzero(found.labels >= 0)
        assert guard.classes(kept, found.labels[kept], int(found.labels.max()) + 1).all()


def test_the_order_of_rows_does_not_matter(recode):
    for seed in range(6):
        table, given = hierarchical_table(seed, rows=100)
        order = np.random.default_rng(seed).permutation(table.combinations)
        shuffled = Table(tuple(replace(a, codes=a.codes[order]) for a in table.attributes), table.counts[order])
        found, again = (recode(t, 3, suppress=0.05, hierarchies=given) for t in (table, shuffled))
        assert np.array_equal(again.labels, found.labels[order])
        assert all(np.array_equal(again.low[name], found.low[name]) for name in found.low)


def test_nothing_is_lost_with_k_one(recode):
    table, given = hierarchical_table(1)
    sharp = Table(tuple(replace(a, upper=a.lower) if a.name == "number" else a for a in table.attributes), table.counts)
    found = recode(sharp, 1, hierarchies=given)
    assert (found.loss, found.suppressed, found.labels.max() + 1) == (0.0, 0, table.combinations)


def test_what_cannot_be(recode):
    table, given = hierarchical_table(1)
    with pytest.raises(Infeasible, match="anonymity"):
        recode(table, table.records + 1, suppress=0.5)
    with pytest.raises(Infeasible, match="distinct 9-diversity"):
        recode(table, 2, [Distinct(random_sensitive(1, table), 9)], suppress=0.1)
    with pytest.raises(ValueError, match="share"):
        recode(table, 2, suppress=1.0)
    with pytest.raises(ValueError, match="one leaf per code"):
        recode(table, 2, hierarchies={"flat": given["given"]})


def test_constant_and_empty_columns(recode):
    nothing = Attribute.nominal("nothing", np.full(4, -1), 1)
    same = Attribute.ordered_by("same", np.zeros(4, dtype=int), np.array([0.0, 1.0]))
    some = Attribute.nominal("some", np.array([0, 0, -1, -1]), 1)
    table = Table((nothing, same, some), np.array([2, 1, 1, 2]))
    found = recode(table, 3)
    check(table, found, 3)
    assert found.labels.tolist() == [0, 0, 1, 1] or found.labels.tolist() == [1, 1, 0, 0]


ODD_ONE = Table(
    (
        Attribute.nominal("place", np.array([0, 0, 1, 1, 2]), 3),
        Attribute.nominal("sex", np.array([0, 1, 0, 1, 0]), 2),
    ),
    np.array([40, 40, 10, 9, 1]),
)


def test_an_odd_record_is_left_out():
    found = full_domain(ODD_ONE, 5, suppress=0.01)
    check(ODD_ONE, found, 5)
    assert (found.suppressed, found.loss, found.labels.tolist()) == (1, 0.01, [0, 1, 2, 3, -1])


@pytest.mark.parametrize("recoder", [full_domain, full_subtree])
def test_cells_save_an_odd_record(recoder):
    """Its place, and that of ten who look like it otherwise, become `*`: eleven cells of two hundred."""
    found = recoder(ODD_ONE, 5, cells=0.06)
    check(ODD_ONE, found, 5)
    assert (found.suppressed, found.starred, found.loss) == (0, 11, pytest.approx(11 * 0.5 / 100))
    assert recoder(ODD_ONE, 5, cells=0.05).loss > found.loss  # ten cells are not enough


def test_a_method_that_divides_records_wants_records():
    table, _ = hierarchical_table(1)
    with pytest.raises(ValueError, match="divides records"):
        local(table, 3, method="snake")


@pytest.mark.parametrize("method", ["mondrian-relaxed", "snake", "top-down", "bottom-up"])
def test_classes_of_any_method_are_published_by_nodes(method):
    for seed in range(3):
        table, given = hierarchical_table(seed, rows=120)
        each = np.repeat(np.arange(table.combinations), table.counts)
        records = Table(tuple(replace(a, codes=a.codes[each]) for a in table.attributes), np.ones_like(each))
        found = local(records, 4, method=method, suppress=0.03, hierarchies=given)
        check(records, found, 4)
        assert found.labels.max() > 3


@pytest.mark.parametrize("recode", [full_domain, local])
def test_leaving_out_never_costs(recode):
    for seed in range(5):
        table, given = hierarchical_table(seed, rows=150)
        whole = recode(table, 4, hierarchies=given).loss
        assert recode(table, 4, suppress=0.1, hierarchies=given).loss <= whole + 1e-12
