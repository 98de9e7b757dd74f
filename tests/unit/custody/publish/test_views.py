"""A publication of views: what is written is true of every record, whatever the records are."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path
from typing import Any

import pytest

from querygate.core.errors import ConfigError
from querygate.custody.publish.publish import Report
from querygate.site.open_gate import OpenSite
from tests.policies import IDENTIFIER, PolicyText, declaring, diverse, make_policy, quasi, sensitive
from tests.unit.custody.publish.publications import Miswriter, new_site, put, shelf_of, staged_files
from tests.unit.custody.publish.view_stores import ViewStore

Rows = dict[str, list[Any]]

POLICY = make_policy(
    "t",
    {
        "age": quasi("integer", (0, 100), grid=1, cuts=[30, 60]),
        "sex": quasi("category"),
        "town": quasi("category"),
        "job": quasi("category"),
        "sbp": sensitive("integer", (40, 300), guard=10),
        "bmi": sensitive("number", (10, 80), guard=2),
        "ill": sensitive("category"),
    },
    k=4,
    views={"mode": "auto"},
)


def people(number: int, seed: int = 1) -> Rows:
    """Records with missing values in every column, ties, rare values and odd texts."""
    rng = random.Random(seed)
    towns = ["Ä-Dorf", "Ä-Dorf", "B\n,;\"'", "", "００７", None]
    return {
        "age": [None if rng.random() < 0.05 else rng.choice([0, 20, 20, 35, 40, 60, 61, 100]) for _ in range(number)],
        "sex": [rng.choice(["F", "M", "M", None]) for _ in range(number)],
        "town": [rng.choice(towns) for _ in range(number)],
        "job": [rng.choice(["x", "y"]) for _ in range(number)],
        "sbp": [rng.choice([None, 40, 300, 120, 121, 139]) for _ in range(number)],
        "bmi": [None if rng.random() < 0.1 else rng.uniform(10, 80) + rng.random() * 1e-9 for _ in range(number)],
        "ill": [rng.choice(["flu", "flu", "flu", "gout", "rare" if i == 7 else "flu", None]) for i in range(number)],
    }


def published(folder: Path, rows: Rows, policy: PolicyText = POLICY) -> tuple[ViewStore, Report]:
    opened = new_site(folder)
    report = put(opened, declaring(policy, rows), rows)
    return ViewStore(opened), report


def check(store: ViewStore, k: int = 4) -> None:
    assert list(store.wrong()) == []
    assert min(cell["class_n"] for cell in store.cells) >= k


def test_every_margin_is_true_of_every_record(tmp_path: Path) -> None:
    store, report = published(tmp_path, people(160))
    check(store)
    margins = store.catalog.margins
    assert [margin.quasi for margin in margins if not margin.sensitive] == [
        ("age", "sex", "town"),
        ("age", "sex", "job"),
        ("town", "job", "age"),
    ]
    assert [margin.sensitive for margin in margins] == [(), ("sbp",), ("bmi",), ("ill",)] * 3
    assert len({cell["class"] for cell in store.cells}) == report.classes
    assert report.views is not None
    assert report.views.least_cut >= 4
    assert [margin.classes for margin in report.views.margins] == [len(store.members(i)) for i in range(12)]
    assert staged_files(store.opened) == []


def test_the_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    rows = people(120)
    order = list(range(120))
    random.Random(5).shuffle(order)
    one, _ = published(tmp_path / "one", rows)
    other, _ = published(tmp_path / "other", {name: [values[i] for i in order] for name, values in rows.items()})
    for table in ("cells", "class_moment", "set_value", "value_text"):
        assert one.table(table) == other.table(table)


def test_records_are_read_some_frame_cells_at_a_time_with_the_same_outcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, _ = published(tmp_path / "one", people(120))
    monkeypatch.setattr("querygate.custody.publish.view_division.AT_ONCE", 1)
    other, _ = published(tmp_path / "other", people(120))
    assert one.table("cells") == other.table("cells")
    assert one.table("class_moment") == other.table("class_moment")


def whole_of(store: ViewStore, name: str) -> bool:
    """Is nothing but the domain told of a column?"""
    (column,) = [column for column in store.catalog.columns if column.name == name]
    for place, margin in enumerate(store.catalog.margins):
        for cell in store.cells if name in margin.sensitive else ():
            if cell["margin"] == place and column.is_numeric:
                ends = cell[f"c{column.index}_lo"], cell[f"c{column.index}_hi"]
                if ends != (column.low, column.high):
                    return False
            elif cell["margin"] == place:
                values: set[str | None] = {*column.values, *([None] if column.nullable else [])}
                if store.sets[column.index, cell[f"c{column.index}_set"]] != values:
                    return False
    return True


@pytest.mark.parametrize("value", ["flu", None])
def test_of_a_column_with_one_value_nothing_is_told(tmp_path: Path, value: str | None) -> None:
    rows = people(60) | {"ill": [value] * 60, "sbp": [None if value is None else 120] * 60}
    store, report = published(tmp_path, rows, POLICY.but(columns={"ill": {"values": ["flu", "gout"]}}))
    check(store)
    assert whole_of(store, "ill")
    assert whole_of(store, "sbp")
    assert report.views is not None
    assert [m.withheld for m in report.views.margins if m.sensitive in (("ill",), ("sbp",))] == [1.0] * 6
    assert store.table("class_moment") == [one for one in store.table("class_moment") if one["column_id"] == 5]


@pytest.mark.parametrize("same", [(None, None, None), (40, "F", "")])
def test_quasi_identifiers_may_be_missing_everywhere_or_the_same(tmp_path: Path, same: tuple[Any, ...]) -> None:
    rows = people(60) | {name: [value] * 60 for name, value in zip(("age", "sex", "town"), same, strict=True)}
    store, _ = published(tmp_path, rows)
    check(store)


def test_exactly_k_people_are_one_class_and_fewer_are_refused(tmp_path: Path) -> None:
    store, report = published(tmp_path / "k", people(4))
    check(store)
    assert report.views is not None
    assert {margin.classes for margin in report.views.margins} == {1}
    with pytest.raises(ConfigError, match="fewer than k = 4") as refused:
        published(tmp_path / "fewer", people(3))
    assert refused.value.code == "QG803"


def test_no_rows_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        published(tmp_path, {name: values[:0] for name, values in people(4).items()})
    assert refused.value.code in ("QG802", "QG803")


@pytest.mark.parametrize(
    "views",
    [
        {"spanning": [["age", "sex", "town", "job"]]},
        {"spanning": [["sex", "town"], ["age", "job"]], "frame": []},
        {"spanning": [["age", "sex", "town"], ["age", "job"]], "frame": ["age", "sex"]},
        {"extra": [["town", "job"]]},
        {"linked": [["sbp", "ill"]]},
        {"linked": [["sbp", "bmi", "ill"]], "values": 3},
    ],
)
def test_views_as_the_custodian_wants_them(tmp_path: Path, views: dict[str, Any]) -> None:
    store, _ = published(tmp_path, people(90), POLICY.but(views=views | {"mode": None}))
    check(store)


def test_nobody_s_value_of_any_linked_column_is_certain(tmp_path: Path) -> None:
    """Two rare diseases together have enough joint values where one of them has none."""
    rng = random.Random(5)
    rows = people(400) | {name: [rng.random() < share for _ in range(400)] for name, share in (("a", 0.4), ("b", 0.02))}
    columns = {name: sensitive("boolean") for name in ("a", "b")}
    store, _ = published(tmp_path, rows, POLICY.but(columns=columns, views={"linked": [["a", "b"]]}))
    check(store)
    margins = {place for place, margin in enumerate(store.catalog.margins) if set(margin.sensitive) == {"a", "b"}}
    held: dict[tuple[int, int], set[Any]] = {}
    for cell in store.cells:
        for column in store.catalog.columns:
            if cell["margin"] in margins and column.name in ("a", "b"):
                values = store.sets[column.index, cell[f"c{column.index}_set"]]
                held.setdefault((cell["class"], column.index), set()).update(values)
    assert held
    assert min(map(len, held.values())) == 2


def test_dates_timestamps_groups_and_cells(tmp_path: Path) -> None:
    rng = random.Random(3)
    days = [dt.date(2000, 1, 1) + dt.timedelta(days=rng.randrange(3000)) for _ in range(80)]
    policy = make_policy(
        "t",
        {
            "seen": quasi("date", ("1999-01-01", "2012-01-01")),
            "town": quasi("category", groups=[["a", "b"], ["c"], ["d", "e"]]),
            "score": quasi("integer", (0, 9), edges=[3, 5]),
            "first": sensitive("date", ("1999-01-01", "2012-01-01")),
            "at": sensitive("timestamp", ("2000-01-01T00:00:00", "2000-01-02T00:00:00")),
            "dead": sensitive("boolean"),
        },
        k=3,
        views={},
    )
    rows = {
        "seen": [None if rng.random() < 0.1 else day for day in days],
        "town": [rng.choice("abcde") for _ in days],
        "score": [rng.randrange(10) for _ in days],
        "first": [None if rng.random() < 0.1 else day for day in reversed(days)],
        "at": [dt.datetime(2000, 1, 1) + dt.timedelta(microseconds=rng.randrange(86_400_000_000)) for _ in days],
        "dead": [rng.random() < 0.4 for _ in days],
    }
    store, _ = published(tmp_path, rows, policy)
    check(store, 3)
    assert {column.moments for column in store.catalog.columns} == {"none"}  # sums of moments mean nothing
    town = store.catalog.columns[1]
    whole = [{"a", "b"}, {"c"}, {"d", "e"}]
    used = {frozenset(v) for (index, _), v in store.sets.items() if index == town.index}
    assert all(not group & values or group <= values for values in used for group in whole)


def test_numbers_of_any_size_are_inside_the_sums_that_are_told(tmp_path: Path) -> None:
    rng = random.Random(2)
    ends = {"a": (-1e12, 1e12, 1e9), "b": (0.0, 1e-6, 1e-8), "c": (-3.0, 3.0, 0.3), "d": (0.0, 1e300, 1e299)}
    columns = {name: sensitive("number", (low, high), guard=guard) for name, (low, high, guard) in ends.items()}
    columns["whole"] = sensitive("integer", (-(2**50), 2**50), guard=2**44)
    rows: Rows = {
        name: [rng.choice([low, high, rng.uniform(low, high), low / 3, high / 7]) for _ in range(60)]
        for name, (low, high, _) in ends.items()
    }
    rows["whole"] = [rng.randrange(-(2**50), 2**50) for _ in range(60)]
    store, _ = published(tmp_path, people(60) | rows, POLICY.but(columns=columns))
    check(store)
    assert {column.name for column in store.catalog.columns if column.moments == "rounded"} == {"sbp", "bmi", *rows}


def test_what_rounding_down_loses_is_in_the_sum_that_is_told(tmp_path: Path) -> None:
    """Values just below the next unit, in two bins, whose whole units add up to the last of a sum cell."""
    unit, step = 2.0**-10, 3 * 2 * 2**10  # of a guard of 2
    units = [20 * 1024] * 4 + [40 * 1024] * 4
    for place in range(4, 8):  # up to the end of the bin
        units[place] += min((step - 1 - sum(units)) % step, 2047)
    values = [(whole + 0.999) * unit for whole in units]
    alike = {name: [column[0]] * 8 for name, column in people(1).items()}
    store, report = published(tmp_path, alike | {"bmi": values})
    check(store)
    assert report.views is not None
    assert [margin.withheld for margin in report.views.margins if margin.sensitive == ("bmi",)] == [0, 0, 0]
    one, *_ = [row for row in store.table("class_moment") if row["column_id"] == 5]
    assert one["sum_hi"] == (sum(units) + 8) * unit > sum(values) > sum(units) * unit


def test_every_class_of_a_column_keeps_its_diversity(tmp_path: Path) -> None:
    kinds = [
        {"kind": "distinct", "l": 2},
        {"kind": "entropy", "l": 1.2},
        {"kind": "recursive", "c": 4.0, "l": 2},
        {"kind": "t-closeness", "t": 0.5},
        {"kind": "alpha", "alpha": 0.9},
        {"kind": "p-sensitive", "p": 2},
    ]
    numbers = [{"kind": "ke", "e": 15, "distinct": 2}, {"kind": "em", "epsilon": 1, "m": 1.2}]
    policy = POLICY.but(columns={"ill": {"diversity": kinds}, "sbp": {"diversity": numbers}})
    store, report = published(tmp_path, people(120), policy)
    check(store)
    assert report.views is not None
    told = {column.name: column.index for column in store.catalog.columns}
    for place, margin in enumerate(store.catalog.margins):
        if margin.sensitive != ("ill",):
            continue
        sets = {cell["class"]: cell[f"c{told['ill']}_set"] for cell in store.cells if cell["margin"] == place}
        members = store.members(place)
        open_ones = [label for label in members if len(store.sets[told["ill"], sets[label]]) == 1]
        assert open_ones  # something is told
        for label in open_ones:
            values = [row["ill"] for row in members[label]]
            assert len(set(values)) >= 2
            assert max(map(values.count, values)) <= 0.9 * len(values)


def test_values_of_people_with_several_rows_are_refused(tmp_path: Path) -> None:
    """Whoever has most of a class's rows would have its commonest value for certain."""
    rng = random.Random(4)
    rows = people(200) | {"mrn": [f"0{min(rng.randrange(60), rng.randrange(60)):03d}" for _ in range(200)]}
    policy = POLICY.but(person="mrn", columns={"mrn": IDENTIFIER, "ill": diverse("distinct", l=2)})
    with pytest.raises(ConfigError) as refused:
        published(tmp_path / "values", rows, policy)
    assert refused.value.code == "QG803"
    assert "one row per person" in refused.value.remedy
    quasi_alone = {"age": quasi("integer", (0, 100), grid=1, cuts=[30, 60]), "sex": quasi("category")}
    counts = make_policy("t", {"mrn": IDENTIFIER, **quasi_alone}, k=4, person="mrn", views={})
    store, report = published(tmp_path / "counts", {name: rows[name] for name in ("mrn", "age", "sex")}, counts)
    check(store)
    assert report.persons < report.rows
    for place in range(len(store.catalog.margins)):
        assert all(len({row["mrn"] for row in members}) >= 4 for members in store.members(place).values())


def test_sums_are_told_no_closer_than_bins_where_few_contribute_and_never_at_an_edge(tmp_path: Path) -> None:
    """Otherwise a sum at the edge of what bins allow would tell the values of all who are in it."""
    rng = random.Random(6)
    rows = people(300)
    rows["sbp"] = [rng.choice([None, None, None, 65, 85, 49]) for _ in range(300)]
    store, _ = published(
        tmp_path, rows, POLICY.but(columns={"sbp": sensitive("integer", (40, 300), guard=10, bins=10)})
    )
    check(store)
    column = next(column for column in store.catalog.columns if column.name == "sbp")
    bins: dict[int, list[tuple[int, int, int]]] = {}
    for cell in store.cells:
        if cell[f"c{column.index}_lo"] is not None and "sbp" in store.catalog.margins[cell["margin"]].columns:
            bins.setdefault(cell["class"], []).append(
                (cell["n"], cell[f"c{column.index}_lo"], cell[f"c{column.index}_hi"])
            )
    told = [row for row in store.table("class_moment") if row["column_id"] == column.index]
    assert told
    for row in told:
        held = bins[row["class"]]
        low, high = sum(n * lo for n, lo, _ in held), sum(n * hi for n, _, hi in held)
        if sum(n for n, _, _ in held) < 4:
            assert (row["sum_lo"], row["sum_hi"]) == (low, high)
        assert low <= row["sum_lo"] <= row["sum_hi"] <= high
        assert row["sum_hi"] - row["sum_lo"] + 1 >= min(30, high - low + 1)


def test_dates_keep_their_guard_though_no_sums_are_told(tmp_path: Path) -> None:
    rng = random.Random(7)
    days = [dt.date(2000, 1, 1) + dt.timedelta(days=rng.randrange(20)) for _ in range(90)]
    policy = POLICY.but(columns={"seen": sensitive("date", ("2000-01-01", "2000-12-31"), guard=40, bins=10)})
    store, _ = published(tmp_path, people(90) | {"seen": days}, policy)
    check(store)
    column = next(column for column in store.catalog.columns if column.name == "seen")
    margins = {place for place, margin in enumerate(store.catalog.margins) if margin.sensitive == ("seen",)}
    ends = {(c[f"c{column.index}_lo"], c[f"c{column.index}_hi"]) for c in store.cells if c["margin"] in margins}
    assert ends == {(column.low, column.high)}  # all dates are within twenty days, so nothing is told


def test_every_value_that_a_class_is_told_to_have_could_be_that_of_k_people(tmp_path: Path) -> None:
    rng = random.Random(8)
    rows = people(200)
    rows["town"] = [rng.choice(["A"] * 20 + ["B"] * 15 + [f"village {i}" for i in range(5)]) for _ in range(200)]
    store, _ = published(tmp_path, rows)
    check(store)
    frames = {
        frame: len([row for row in store.rows if row["frame"] == frame]) for frame in {c["frame"] for c in store.cells}
    }
    for cell in store.cells:
        if cell["class_n"] == frames[cell["frame"]]:
            continue  # the whole frame cell has whom it has
        for column in store.catalog.columns:
            if column.name not in store.catalog.margins[cell["margin"]].quasi:
                continue
            stem = f"c{column.index}"
            if column.is_numeric:
                told = (cell[f"{stem}_lo"] != cell[f"{stem}_hi"]) + 1 + (cell.get(f"{stem}_null") == 1)
            else:
                told = len(store.sets[column.index, cell[f"{stem}_set"]])
            assert cell["class_n"] - told + 1 >= 4


def test_views_that_would_have_to_be_coarsened_are_refused_where_the_policy_says_so(tmp_path: Path) -> None:
    refusing = POLICY.but(views={"on_uncertified": "refuse"})
    with pytest.raises(ConfigError) as refused:
        published(tmp_path, people(160), refusing)
    assert refused.value.code == "QG803"
    assert "classes joined" in refused.value.detail
    assert 'on_uncertified = "coarsen"' in refused.value.remedy
    opened = new_site(tmp_path / "again")
    assert list(opened.store.datasets()) == []


def _lose_a_cell(catalog: Any, tables: Any, codes: Any) -> tuple[Any, Any, Any]:
    return catalog, {**tables, "cells": tables["cells"].slice(1)}, codes


def test_a_cell_that_is_lost_on_the_way_stops_the_publication(tmp_path: Path) -> None:
    opened: OpenSite = new_site(tmp_path)
    with pytest.raises(ConfigError) as refused:
        put(opened, declaring(POLICY, people(60)), people(60), shelf=Miswriter(shelf_of(opened), _lose_a_cell))
    assert refused.value.code == "QG803"
    assert list(opened.store.datasets()) == []
