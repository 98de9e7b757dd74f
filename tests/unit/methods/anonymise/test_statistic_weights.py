"""Weights from statistics, and boxes directed by them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from querygate.methods.anonymise import (
    ANONYMISERS,
    Attribute,
    Table,
    directed,
    directed_by_record,
    loss_by_attribute,
    mondrian,
    partition_check,
    record_weights,
    statistic_weights,
)
from querygate.methods.anonymise.clusters import neighbour_boxes
from querygate.methods.anonymise.clusters.neighbour_boxes import directed_boxes
from tests.unit.methods.anonymise.tables import by_record, random_table

RNG = np.random.default_rng(7)
X = RNG.normal(50, 15, 500)
Y = 0.5 * X + RNG.normal(0, 10, 500)
SPANS = {"x": 100.0, "y": 200.0}

STATISTICS = {
    "mean": lambda x, y: x.mean(),
    "var": lambda x, y: x.var(),
    "sd": lambda x, y: x.std(),
    "cov": lambda x, y: np.mean(x * y) - x.mean() * y.mean(),
    "corr": lambda x, y: np.corrcoef(x, y)[0, 1],
}


@pytest.mark.parametrize("kind", ["cov", "corr"])
def test_weights_follow_the_gradient(kind):
    """Against differences: move one record at a time, and see how far the statistic goes."""
    step = 1e-3
    gradients = {"x": [], "y": []}
    for i in range(0, 500, 5):
        moved = np.arange(500) == i
        here = STATISTICS[kind](X, Y)
        gradients["x"].append(abs(STATISTICS[kind](X + step * moved, Y) - here))
        gradients["y"].append(abs(STATISTICS[kind](X, Y + step * moved) - here))
    pull = {name: np.mean(g) * SPANS[name] for name, g in gradients.items()}
    weights = statistic_weights([(kind, ("x", "y"))], {"x": X, "y": Y}, SPANS)
    assert weights["x"] / weights["y"] == pytest.approx(pull["x"] / pull["y"], rel=0.1)
    assert max(weights.values()) == 1.0


def test_each_statistic_counts_the_same():
    weights = statistic_weights([("mean", ("x",)), ("var", ("x",)), ("sd", ("y",))], {"x": X, "y": Y}, SPANS)
    assert weights == {"x": 1.0, "y": 0.5}
    assert statistic_weights([("count", ()), ("median", ("x",))], {"x": X}, SPANS) == {"x": 1.0}
    assert statistic_weights([], {}, {}) == {}


def test_missing_values_and_constant_columns_do_no_harm():
    x = np.where(np.arange(500) % 3 == 0, np.nan, X)
    weights = statistic_weights([("cov", ("x", "y"))], {"x": x, "y": Y}, SPANS)
    assert weights["y"] > weights["x"] > 0
    flat = statistic_weights([("var", ("x",))], {"x": np.ones(4)}, SPANS)
    assert flat == {"x": 1.0}
    assert statistic_weights([("mean", ("x",))], {"x": np.full(4, np.nan)}, SPANS) == {}


def people(number: int = 3000) -> Table:
    rng = np.random.default_rng(2)
    age = np.clip(rng.normal(50, 18, number), 0, 119).astype(int)
    bmi = np.clip(rng.normal(17, 6, number), 0, 49).astype(int)
    attributes = (
        Attribute.ordered_by("age", age, np.arange(121.0)),
        Attribute.ordered_by("bmi", bmi, np.arange(51.0)),
        Attribute.nominal("sex", rng.integers(0, 2, number), 2),
    )
    return Table(attributes, np.ones(number, dtype=int))


@pytest.mark.parametrize("run", [directed_boxes, mondrian])
def test_direction_makes_the_named_column_narrow(run):
    table = people()
    plain = loss_by_attribute(table, run(table, 10))
    to_age = loss_by_attribute(table, run(directed(table, {"age": 1.0}), 10))
    to_bmi = loss_by_attribute(table, run(directed(table, {"bmi": 1.0}), 10))
    assert to_age[0] < plain[0] / 1.5
    assert to_bmi[1] < plain[1] / 1.5
    assert to_age[1] > plain[1]


def test_boxes_have_k_records_and_few_more():
    labels = directed_boxes(people(), 10)
    sizes = np.bincount(labels)
    assert sizes.min() >= 10
    assert np.median(sizes) == 10


def test_equal_records_are_one_box():
    age = Attribute.ordered_by("age", np.repeat([3, 40, 41], [50, 4, 4]), np.arange(65.0))
    labels = directed_boxes(Table((age,), np.ones(58, dtype=int)), 5)
    assert np.bincount(labels).tolist() == [50, 8]


def test_categories_are_far_apart():
    rng = np.random.default_rng(1)
    sex = Attribute.nominal("sex", rng.integers(0, 2, 300), 2)
    age = Attribute.ordered_by("age", rng.integers(0, 64, 300), np.arange(65.0))
    labels = directed_boxes(Table((sex, age), np.ones(300, dtype=int)), 5)
    mixed = [np.unique(sex.codes[labels == c]).size > 1 for c in range(labels.max() + 1)]
    assert np.mean(mixed) < 0.05


def test_rows_that_stand_for_several_records_are_refused():
    with pytest.raises(ValueError, match="one row for each"):
        directed_boxes(Table((Attribute.nominal("sex", np.array([0]), 2),), np.array([5])), 2)


def test_strict_mondrian_makes_the_same_classes_of_records():
    """So methods that part equal records and those that do not can be compared on one table."""
    for seed in range(30):
        table = random_table(seed, rows=150)
        each = np.repeat(np.arange(table.combinations), table.counts)
        assert np.array_equal(mondrian(by_record(table), 4), mondrian(table, 4)[each])


def test_public_cuts_are_kept():
    table = people()
    cut = replace(table, attributes=(replace(table.attributes[0], cuts=(40, 60)), *table.attributes[1:]))
    labels = directed_boxes(directed(cut, {"bmi": 1.0}), 10)
    region = np.searchsorted([40, 60], table.attributes[0].codes, side="right")
    assert all(np.unique(region[labels == c]).size == 1 for c in range(labels.max() + 1))
    assert partition_check.smallest_class(labels) >= 10


# -- the gradient at every record ------------------------------------------------------------------------------------


def test_weights_of_records_are_gradients_and_their_mean_is_the_weight() -> None:
    rng = np.random.default_rng(4)
    values = {"age": rng.uniform(0, 100, 400), "sbp": rng.uniform(60, 200, 400)}
    spans = {"age": 100.0, "sbp": 200.0}
    for kind, columns in (("mean", ("age",)), ("var", ("sbp",)), ("cov", ("age", "sbp")), ("corr", ("age", "sbp"))):
        each = record_weights([(kind, columns)], values, spans)
        mean = statistic_weights([(kind, columns)], values, spans)
        for name in columns:
            assert np.mean(each[name]) == pytest.approx(mean[name], rel=0.02)  # but for what is lifted to the floor
    off = np.abs(values["sbp"] - values["sbp"].mean())
    steep = record_weights([("cov", ("age", "sbp"))], values, spans)["age"]
    assert (np.diff(steep[np.argsort(off)]) >= 0).all()


def test_a_record_without_the_columns_has_the_mean_and_nobody_has_none() -> None:
    values = {"age": np.array([np.nan, 0.0, 50, 100])}
    assert record_weights([("var", ("age",))], values, {"age": 100.0})["age"].tolist() == [1.0, 1.5, 0.05, 1.5]
    nothing = {"age": np.full(3, np.nan)}
    assert record_weights([("var", ("age",))], nothing, {"age": 100.0}) == {}
    constant = record_weights([("var", ("age",))], {"age": np.full(3, 7.0)}, {"age": 100.0})
    assert constant["age"].tolist() == [1.0, 1.0, 1.0]


def test_boxes_are_narrow_where_the_statistic_is_steep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a variance at the ends of the ages, where the other number may be as wide as it likes."""
    rng = np.random.default_rng(1)
    age, other = rng.integers(0, 100, 900), rng.integers(0, 100, 900)
    edges = np.arange(101.0)
    table = Table(
        (Attribute.ordered_by("age", age, edges), Attribute.ordered_by("other", other, edges)), np.ones(900, dtype=int)
    )
    steep = {"age": np.abs(age - 50) / 25, "other": np.full(900, 1.0)}
    labels = ANONYMISERS.get("boxes-by-point")(directed_by_record(table, steep), 5)
    assert np.bincount(labels).min() >= 5
    width = np.array([np.ptp(age[labels == c]) for c in range(labels.max() + 1)])
    middle = np.array([abs(age[labels == c].mean() - 50) for c in range(labels.max() + 1)])
    assert width[middle > 30].mean() < 0.6 * width[middle < 15].mean()
    monkeypatch.setattr(neighbour_boxes, "MOST_PULLED", 100)
    many = ANONYMISERS.get("boxes-by-point")(directed_by_record(table, steep), 5)
    assert np.bincount(many).min() >= 5
    ends = [np.ptp(age[many == c]) for c in range(many.max() + 1) if abs(age[many == c].mean() - 50) > 30]
    assert np.mean(ends) > 1.5 * width[middle > 30].mean()  # the mean weight does not know of the ends
    monkeypatch.undo()
    order = rng.permutation(900)
    mixed = Table(tuple(replace(a, codes=a.codes[order]) for a in table.attributes), table.counts)
    again = ANONYMISERS.get("boxes-by-point")(
        directed_by_record(mixed, {name: pull[order] for name, pull in steep.items()}), 5
    )
    assert sorted(np.bincount(again).tolist()) == sorted(np.bincount(labels).tolist())
