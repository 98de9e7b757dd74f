"""The verifier of views: it passes what was published, and refuses every change of it by the promise that it breaks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from querygate.core.errors import ConfigError
from tests.unit.custody.verify.view_stores import SURVEY, ViewStore, publish_views, survey

RECORDS = 240
PEOPLE = survey(RECORDS)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ViewStore:
    return publish_views(tmp_path_factory.mktemp("views"), SURVEY.but(columns={"age": {"cuts": [40]}}), PEOPLE)


def test_what_was_published_is_measured(store: ViewStore) -> None:
    found = store.verify()
    assert found.views is not None
    assert found.k >= 5
    assert found.views.least_cut >= 5
    assert found.views.frames == 2
    assert all(found.views.shown[name] + found.views.withheld[name] == RECORDS for name in ("sbp", "bmi", "ill"))
    assert found.views.shown["sbp"] > 0
    assert found.hull["sbp"] >= 10
    assert found.l["ill"] >= 2
    assert 0 < found.width["age"] < 39


def counted(store: ViewStore, margin: int, where: str = "true") -> tuple[int, int]:
    """Two classes of a margin, in one frame cell."""
    sql = (
        f"SELECT a.class, b.class FROM cells a JOIN cells b ON a.frame = b.frame AND a.class < b.class "
        f"WHERE a.margin = {margin} AND b.margin = {margin} AND {where} ORDER BY 1, 2"
    )
    found: tuple[int, int] = store.one(sql)
    return found


def refused(store: ViewStore, *changes: str, **more: Any) -> str:
    with pytest.raises(ConfigError) as error:
        store.verify(*changes, **more)
    assert error.value.code == "QG803"
    return str(error.value.detail)


def test_a_count_that_was_changed(store: ViewStore) -> None:
    one, other = counted(store, 0)
    more = f"UPDATE cells SET n = n + 1, class_n = class_n + 1 WHERE class = {one}"
    less = f"UPDATE cells SET n = n - 1, class_n = class_n - 1 WHERE class = {other}"
    assert "records in each class" in refused(store, more, less)
    assert "class sizes" in refused(store, f"UPDATE cells SET class_n = class_n + 1 WHERE class = {one}")


def test_a_record_that_was_moved_to_another_bin(store: ViewStore) -> None:
    (label,) = store.one("SELECT class FROM cells WHERE margin = 1 AND n > 1 GROUP BY 1 HAVING count(*) > 2")
    low, high = store.one(f"SELECT min(rowid), max(rowid) FROM cells WHERE class = {label} AND n > 1")
    assert low != high
    changes = [f"UPDATE cells SET n = n + {by} WHERE rowid = {row}" for row, by in ((low, 1), (high, -1))]
    assert "records by sbp" in refused(store, *changes)


def test_a_class_that_was_split(store: ViewStore) -> None:
    """Its halves tell the truth, and have fewer than k people."""
    i = store.column("age")
    label, middle = store.one(
        f"SELECT class, c{i}_lo + (c{i}_hi - c{i}_lo) // 2 FROM cells "
        f"WHERE margin = 0 AND c{i}_hi > c{i}_lo AND n < 10 ORDER BY 1"
    )
    half = members_below(store, label, middle)
    changes = [
        f"INSERT INTO cells SELECT * REPLACE (9999999 AS class, {middle + 1} AS c{i}_lo, n - {half} AS n, "
        f"n - {half} AS class_n) FROM cells WHERE class = {label}",
        f"UPDATE cells SET c{i}_hi = {middle}, n = {half}, class_n = {half} WHERE class = {label}",
    ]
    assert "k = 5 people" in refused(store, *changes)


def members_below(store: ViewStore, label: int, middle: int) -> int:
    """People of a class of the first view up to an age."""
    i, sex, race = (store.column(name) for name in ("age", "sex", "race"))
    low, high, sexes, races = store.one(
        f"SELECT c{i}_lo, c{i}_hi, c{sex}_set, c{race}_set FROM cells WHERE class = {label}"
    )
    told = [values(store, sex, sexes), values(store, race, races)]
    rows = zip(PEOPLE["age"], PEOPLE["sex"], PEOPLE["race"], strict=True)
    return sum(low <= age <= min(middle, high) and s in told[0] and r in told[1] for age, s, r in rows)


def values(store: ViewStore, column: int, set_id: int) -> set[str | None]:
    (found,) = store.one(
        "SELECT list(t.text) FROM set_value s LEFT JOIN value_text t ON t.column_id = s.column_id AND "
        f"t.value_id = s.value_id WHERE s.column_id = {column} AND s.set_id = {set_id}"
    )
    return set(found)


def first_sum(store: ViewStore, name: str) -> str:
    i = store.column(name)
    return f"column_id = {i} AND class = (SELECT min(class) FROM class_moment WHERE column_id = {i})"


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("sbp", "sum_hi = sum_lo + (sum_hi - sum_lo) / 2"),
        ("sbp", "sum_lo = sum_lo + 1"),
        ("bmi", "sum_hi = sum_lo + 4"),
    ],
)
def test_a_sum_told_in_another_cell(store: ViewStore, name: str, change: str) -> None:
    changed = f"UPDATE class_moment SET {change} WHERE {first_sum(store, name)}"
    assert f"sums of {name} in their cells" in refused(store, changed)


@pytest.mark.parametrize(
    ("change", "promise"),
    [
        ("DELETE FROM class_moment WHERE {one}", "sums of sbp are published"),
        ("UPDATE class_moment SET n = n + 1 WHERE {one}", "sums of sbp are published"),
        ("INSERT INTO class_moment SELECT * FROM class_moment WHERE {one}", "sums of sbp are published"),
        ("UPDATE class_moment SET var_lo = 0 WHERE {one}", "no variances"),
    ],
)
def test_sums_that_are_missing_or_too_many(store: ViewStore, change: str, promise: str) -> None:
    assert promise in refused(store, change.format(one=first_sum(store, "sbp")))


def test_value_sets_that_were_swapped(store: ViewStore) -> None:
    i = store.column("ill")
    by_text = (
        f"SELECT set_id FROM set_value JOIN value_text USING (column_id, value_id) WHERE column_id = {i} AND alone"
    )
    yes, no = (store.one(f"{by_text} AND text = '{text}'")[0] for text in ("yes", "no"))
    swapped = f"UPDATE cells SET c{i}_set = CASE c{i}_set WHEN {yes} THEN {no} WHEN {no} THEN {yes} ELSE c{i}_set END"
    assert "records by ill" in refused(store, swapped)
    race = store.column("race")
    one, other = counted(store, 0, f"a.c{race}_set <> b.c{race}_set")
    pair = [store.one(f"SELECT c{race}_set FROM cells WHERE class = {label}")[0] for label in (one, other)]
    changes = [
        f"UPDATE cells SET c{race}_set = {new} WHERE class = {label}"
        for label, new in zip((one, other), pair[::-1], strict=True)
    ]
    assert "of margin 0" in refused(store, *changes)


def test_a_margin_that_was_removed(store: ViewStore) -> None:
    assert "every margin is written" in refused(store, "DELETE FROM cells WHERE margin = 2")
    gone = refused(store, "DELETE FROM cells WHERE margin = 7", catalog=lambda c: replace(c, margins=c.margins[:7]))
    assert "all units" in gone
    assert "every margin is written" in refused(store, "UPDATE cells SET margin = NULL WHERE margin = 3 AND frame = 0")


def test_a_frame_cell_that_was_merged_in_one_margin(store: ViewStore) -> None:
    assert "one class of margin 1" in refused(store, "UPDATE cells SET frame = 0 WHERE frame = 1 AND margin = 1")
    assert "one frame cell" in refused(store, "UPDATE cells SET frame = 0 WHERE frame = 1 AND margin = 4")


def test_a_margin_that_tells_more_than_its_columns(store: ViewStore) -> None:
    i, age = store.column("ill"), store.column("school")
    assert "says nothing about the columns" in refused(
        store, f"UPDATE cells SET c{i}_set = 0 WHERE margin = 0 AND frame = 0"
    )
    assert "says nothing about the columns" in refused(
        store, f"UPDATE cells SET c{age}_set = 0 WHERE margin = 1 AND frame = 0"
    )
    assert "says nothing about the columns" in refused(
        store, "ALTER TABLE cells ADD COLUMN who VARCHAR", "UPDATE cells SET who = 'x'"
    )


def test_a_class_of_two_margins(store: ViewStore) -> None:
    one, other = (f"(SELECT min(class) FROM cells WHERE margin = {margin})" for margin in (0, 4))
    assert "a class is in one margin" in refused(store, f"UPDATE cells SET class = {other} WHERE class = {one}")


def test_edges_that_are_not_public(store: ViewStore) -> None:
    i = store.column("bmi")
    wider = f"UPDATE cells SET c{i}_hi = c{i}_hi + 0.25 WHERE margin = 2"
    assert "the edges of bmi are public" in refused(store, wider)


def test_missing_values_that_are_not_told_apart(store: ViewStore) -> None:
    i = store.column("sbp")
    assert "missing values of sbp" in refused(
        store, f"UPDATE cells SET c{i}_null = 1 WHERE margin = 1 AND c{i}_null = 0"
    )
    assert "missing values of sbp" in refused(
        store, f"UPDATE cells SET c{i}_null = 0 WHERE margin = 1 AND c{i}_null = 2"
    )
