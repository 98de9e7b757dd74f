"""Columns of every role and type, with what data can do to them: missing altogether, extreme, oddly named."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from querygate.core.errors import ConfigError
from tests.policies import AGE, Column, PolicyText, make_column, make_policy, public, quasi, sensitive
from tests.unit.custody.publish.publications import ask, ends, new_site, put, raw_rows

AGES = [20, 21, 22, 40, 41, 42]
DOMAINS = {"integer": (0, 9), "number": (0.0, 9.0), "date": ("1900-01-01", "2000-01-01")}
ARROW = {
    "integer": pa.int64(),
    "number": pa.float64(),
    "date": pa.date32(),
    "category": pa.string(),
    "boolean": pa.bool_(),
}


def policy_of(**columns: Column) -> PolicyText:
    return make_policy("t", {"age": AGE, **columns}, k=2)


# -- nothing but missing values ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "more", "edges"),
    [
        ("quasi-identifier", {}, "grid"),
        ("quasi-identifier", {}, "tight"),
        ("sensitive", {"guard": 0}, "grid"),
        ("sensitive", {"carry": "hull", "guard": 0}, "grid"),
        ("public", {}, "grid"),
    ],
    ids=["quasi-identifier", "tight", "bins", "hull", "public"],
)
def test_columns_of_missing_values(tmp_path: Path, role: str, more: Column, edges: str) -> None:
    """All types of a role in one table: five columns without a single value."""
    opened = new_site(tmp_path)
    roles = {kind: make_column(role, kind, DOMAINS.get(kind)) | (more if kind in DOMAINS else {}) for kind in ARROW}
    columns = {kind: pa.nulls(len(AGES), arrow) for kind, arrow in ARROW.items()}
    put(opened, policy_of(**roles).but(anonymise={"edges": edges}), {"age": AGES, **columns})

    for kind in ARROW:
        assert ends(opened, f"COUNT({kind})") == (0, 0)
        assert ends(opened, "COUNT(*)", f"{kind} IS NULL") == (6, 6)
    (row,) = ask(opened, "SELECT AVG(integer) AS a, MAX(date) AS b, SUM(number) AS c FROM t")
    assert all(row[name]["low"] is None and row[name]["may_be_null"] for name in "abc")
    assert [row["category"] for row in ask(opened, "SELECT category, COUNT(*) FROM t GROUP BY category")] == [None]
    assert ends(opened, "COUNT(*)", "age < 30") == (3, 3)


# -- public columns ------------------------------------------------------------------------------------------------


def test_public_columns_are_answered_exactly(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    put(
        opened,
        policy_of(
            ward=public("category", values=["a", "b", "c"]),
            dose=public("number"),
            seen=public("date"),
            alive=public("boolean"),
        ),
        {
            "age": AGES,
            "ward": ["a", "a", "b", "b", None, "c"],
            "dose": [0.1, 0.2, None, -0.0, 0.0, 1e300],
            "seen": [dt.date(1969, 12, 31), dt.date(1, 1, 1), dt.date(9999, 12, 31), None, dt.date(1970, 1, 1), None],
            "alive": [True, False, None, True, True, True],
        },
    )

    assert ends(opened, "COUNT(*)", "ward = 'a'") == (2, 2)
    assert ends(opened, "COUNT(*)", "dose = 0") == (2, 2)
    assert ends(opened, "MAX(dose)") == (1e300, 1e300)
    assert ends(opened, "MIN(dose)", "dose > 0") == (0.1, 0.1)
    assert ends(opened, "MIN(seen)") == ("0001-01-01", "0001-01-01")
    assert ends(opened, "MAX(seen)") == ("9999-12-31", "9999-12-31")
    assert ends(opened, "COUNT(*)", "seen < '1970-01-01'") == (2, 2)
    assert ends(opened, "COUNT(*)", "alive") == (4, 4)


# -- extremes ------------------------------------------------------------------------------------------------------

LARGEST = 2**63 - 1
BIG = 2**61
BEYOND = 10**20 - 1


@pytest.mark.parametrize("role", ["quasi-identifier", "sensitive", "public"])
def test_whole_numbers_of_64_bits(tmp_path: Path, role: str) -> None:
    opened = new_site(tmp_path)
    x = make_column(role, "integer", None if role == "public" else (-LARGEST, LARGEST))
    values = [-LARGEST, -LARGEST, -1, 0, LARGEST, LARGEST]
    put(opened, policy_of(x=x | ({"guard": 0} if role == "sensitive" else {})), {"age": AGES, "x": values})

    assert raw_rows(opened, ["age", "x"]) == list(zip(AGES, values, strict=True))
    low, high = ends(opened, "SUM(x)")
    assert low <= sum(values) <= high
    assert ends(opened, "COUNT(*)", f"x <= {LARGEST}") == (6, 6)
    assert ends(opened, "MAX(x)")[1] == LARGEST
    assert ends(opened, "MIN(x)")[0] == -LARGEST


@pytest.mark.parametrize("carry", ["hull", "bins"])
def test_large_numbers_are_coded_without_rounding(tmp_path: Path, carry: str) -> None:
    """Above 2**53 a double cannot tell neighbours apart; a hull or a bin made of doubles would miss its members."""
    opened = new_site(tmp_path)
    x = sensitive("integer", (BIG - 100, BIG + 100), grid=1, carry=carry, guard=0)
    values = [BIG + 1, BIG + 1, BIG + 3, BIG + 3, BIG + 5, None]
    put(opened, policy_of(x=x | ({"bins": 1} if carry == "bins" else {})), {"age": AGES, "x": values})

    for truth, statistic in ((BIG + 1, "MIN(x)"), (BIG + 5, "MAX(x)"), (5 * BIG + 13, "SUM(x)"), (5, "COUNT(x)")):
        low, high = ends(opened, statistic)
        assert low <= truth <= high


def test_constants_beyond_64_bits_cost_no_digit(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    put(opened, policy_of(x=public("integer")), {"age": AGES, "x": [BIG + 1] * 3 + [BIG + 5] * 3})

    for where in (
        f"x < {BEYOND}",
        f"x > {-BEYOND}",
        f"x <> {BEYOND}",
        f"x <= {2**63}",
        f"x BETWEEN {-(2**63)} AND {2**63 - 1}",
        f"x IN ({BEYOND}, {BIG + 1}, {BIG + 5})",
    ):
        assert ends(opened, "MIN(x)", where) == (BIG + 1, BIG + 1), where
        assert ends(opened, "MAX(x)", where) == (BIG + 5, BIG + 5), where
        assert ends(opened, "SUM(x)", where) == (6 * BIG + 18, 6 * BIG + 18), where


@pytest.mark.parametrize(
    ("role", "value"),
    [("quasi-identifier", float("inf")), ("sensitive", float("-inf")), ("public", float("inf"))],
)
def test_infinite_numbers_are_refused(tmp_path: Path, role: str, value: float) -> None:
    opened = new_site(tmp_path)
    x = make_column(role, "number", None if role == "public" else (0, 100))
    with pytest.raises(ConfigError) as refused:
        put(opened, policy_of(x=x), {"age": AGES, "x": [1.0, 2.0, 3.0, 4.0, 5.0, value]})

    assert refused.value.code == "QG802"
    assert opened.store.datasets() == ()


def test_nan_counts_as_missing_in_every_role(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    policy = policy_of(q=quasi("number", (0, 100)), s=sensitive("number", (0, 100), guard=0), p=public("number"))
    values = np.array([1.0, np.nan, 3.0, np.nan, 5.0, 6.0])
    put(opened, policy, {"age": AGES, "q": values, "s": values, "p": values})

    for name in "qsp":
        assert ends(opened, "COUNT(*)", f"{name} IS NULL")[0] <= 2 <= ends(opened, "COUNT(*)", f"{name} IS NULL")[1]
    assert ends(opened, "COUNT(p)") == (4, 4)
    assert ends(opened, "SUM(p)") == (15.0, 15.0)
    assert raw_rows(opened, ["age", "p"])[1] == (21, None)


# -- dates before 1970 ---------------------------------------------------------------------------------------------


def test_dates_before_1970(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    century = ("1900-01-01", "1999-12-31")
    columns = {"born": quasi("date", century, grid=1), "ill": sensitive("date", century, bins=365, guard=10)}
    born = [dt.date(1920, 2, 29), dt.date(1920, 3, 1), dt.date(1969, 12, 31), dt.date(1970, 1, 1)]
    ill = [dt.date(1950, 1, 1), dt.date(1990, 1, 1), dt.date(1949, 6, 1), dt.date(1991, 12, 31)]
    put(opened, make_policy("t", columns, k=2), {"born": born, "ill": ill})

    assert ends(opened, "COUNT(*)", "born < '1950-01-01'") == (2, 2)
    assert ends(opened, "MIN(born)") == ("1920-02-29", "1920-03-01")
    low, high = ends(opened, "MAX(ill)", "born > '1950-01-01'")
    assert low <= "1991-12-31" <= high


# -- sizes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [0, 1, 4])
def test_fewer_rows_than_k_are_not_published(tmp_path: Path, rows: int) -> None:
    opened = new_site(tmp_path)
    with pytest.raises(ConfigError) as refused:
        put(opened, policy_of().but(k=5), {"age": pa.array(AGES[:rows], pa.int64())})

    assert refused.value.code == "QG803"
    assert str(rows) in refused.value.detail
    assert opened.store.datasets() == ()


def test_exactly_k_rows_make_one_class(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    report = put(opened, policy_of().but(k=6), {"age": AGES})

    assert (report.classes, report.measured.k, report.measured.largest) == (1, 6, 6)
    assert ends(opened, "COUNT(*)", "age < 30") == (0, 6)


def test_a_class_of_equal_records_has_a_box_of_one_point(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    report = put(opened, policy_of(), {"age": [20, 20, 40, 40]})

    assert report.classes == 2
    assert ends(opened, "AVG(age)", "age < 30") == (20, 20)


def test_a_column_the_source_does_not_have(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    with pytest.raises(ConfigError) as refused:
        put(opened, policy_of(weight=public("number")), {"age": AGES, "Weight": [1.0] * 6})

    assert refused.value.code == "QG801"
    assert "weight" in refused.value.detail
    assert "Weight" in refused.value.remedy


# -- names ---------------------------------------------------------------------------------------------------------

NAMES = ["class", "row_id", "ROW_ID_", "place", "n", "rowid", "cells", "c0_lo", "value_id", "given", "select", "x0"]
NAMES += ["state"]
ROLES = (
    public("integer"),
    sensitive("integer", (0, 100), bins=50, guard=0),
    sensitive("category"),
    quasi("integer", (0, 100)),
)


@pytest.mark.parametrize("names", [NAMES, [name.upper() for name in NAMES]], ids=["lower", "upper"])
def test_a_column_may_be_called_what_the_vault_calls_its_own(tmp_path: Path, names: list[str]) -> None:
    """Each name in three roles would be three publications: the names take turns instead."""
    opened = new_site(tmp_path)
    columns = {name: list("aabbcc") if i % 4 == 2 else [1, 2, 3, 90, 91, 92] for i, name in enumerate(names)}
    policy = policy_of(**{name: ROLES[i % 4] for i, name in enumerate(names)})
    put(opened, policy, {"age": AGES, **columns})

    rows = raw_rows(opened, ["age", *names])
    assert [row[1:] for row in rows] == list(zip(*(columns[name] for name in names), strict=True))
    for i, name in enumerate(names):
        where = f"\"{name}\" = 'a'" if i % 4 == 2 else f'"{name}" < 50'
        truth = 2 if i % 4 == 2 else 3
        low, high = ends(opened, "COUNT(*)", where)
        assert low <= truth <= high, name
