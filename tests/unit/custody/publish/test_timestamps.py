"""Timestamps as intervals: what DuckDB finds on the raw rows lies in the ranges, whatever is asked."""

from __future__ import annotations

import datetime as dt

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from querygate.core.errors import ConfigError, UnsupportedSQL
from tests.policies import AGE, make_policy, quasi
from tests.unit.custody.publish.publications import ask, new_site, put, raw_rows, write_parquet

BARE = make_policy("t", {"age": AGE, "seen": quasi("timestamp", (dt.datetime(1969, 6, 1), dt.date(1979, 1, 1)))})
QUASI = BARE.but(columns={"seen": {"grid": "1h", "cuts": [dt.date(1971, 1, 1), "1972-01-01 12:00"]}})
SENSITIVE = BARE.but(columns={"seen": {"role": "sensitive", "grid": "1d", "bins": "90d", "guard": "30d"}})


def made(seed=0, rows=400):
    chance = np.random.default_rng(seed)
    seen = np.datetime64("1970-01-01T00:00:00", "us") + chance.integers(0, 3 * 365 * 86_400, rows) * 1_000_000
    seen[:8] = [np.datetime64("1969-12-31T23:59:59.999999"), *[np.datetime64("1971-06-01T00:00:00")] * 7]
    return {"age": chance.integers(0, 100, rows), "seen": pa.array(seen, mask=chance.random(rows) < 0.05)}


@pytest.fixture(scope="module", params=["quasi-identifier", "sensitive"])
def study(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("moments")
    opened = new_site(folder)
    report = put(opened, QUASI if request.param == "quasi-identifier" else SENSITIVE, made())
    assert report.measured.k >= 5
    return opened, folder / "source.parquet"


CONDITIONS = (
    "TRUE",
    "seen >= TIMESTAMP '1971-01-01 00:00:00'",
    "seen < '1971-06-01'",
    "seen <= DATE '1971-06-01'",
    "seen = '1971-06-01 00:00:00'",
    "seen <> TIMESTAMP '1971-06-01 00:00:00.000000'",
    "seen BETWEEN '1970-03-01T10:30' AND TIMESTAMP '1972-02-28 23:59:59.999999'",
    "seen < '1970-01-01'",
    "seen IS NULL",
    "seen IN ('1971-06-01', '1971-06-02')",
    "year(seen) = 1971 AND age < 50",
    "extract(month FROM seen) IN (1, 2, 12)",
    "date_trunc('quarter', seen) = DATE '1971-04-01'",
    "CAST(seen AS DATE) <= DATE '1971-05-31'",
    "hour(seen) < 12",
    "dayofweek(seen) = 0 OR seen > '1972-06-30'",
)
FIGURES = "COUNT(*) AS a, COUNT(seen) AS b, MIN(seen) AS c, MAX(seen) AS d, COUNT(DISTINCT seen) AS e"


def moment(text):
    return dt.datetime.fromisoformat(text) if isinstance(text, str) else text


def holds(cell, truth):
    if truth is None:
        return cell["may_be_null"]
    return cell["low"] is not None and moment(cell["low"]) <= truth <= moment(cell["high"])


@pytest.mark.parametrize("where", CONDITIONS)
def test_the_truth_lies_in_the_ranges(study, where):
    opened, source = study
    (row,) = ask(opened, f"SELECT {FIGURES} FROM t WHERE {where}")
    truth = duckdb.sql(f"SELECT {FIGURES} FROM read_parquet('{source}') WHERE {where}").fetchall()[0]
    assert [holds(row[name], value) for name, value in zip("abcde", truth, strict=True)] == [True] * 5


@pytest.mark.parametrize(
    "by",
    ["year(seen)", "date_trunc('month', seen)", "extract(quarter FROM seen)", "CAST(seen AS DATE) < DATE '1971-01-01'"],
)
def test_groups_by_the_calendar(study, by):
    opened, source = study
    found = {str(row["g"]): row["n"] for row in ask(opened, f"SELECT {by} AS g, COUNT(*) AS n FROM t GROUP BY g")}
    truth = duckdb.sql(f"SELECT {by} AS g, COUNT(*) FROM read_parquet('{source}') GROUP BY g").fetchall()
    assert len(truth) > 1
    for group, n in truth:
        assert found[str(group)]["low"] <= n <= found[str(group)]["high"]


def test_ends_are_written_in_iso_form(study):
    opened, _ = study
    (row,) = ask(opened, "SELECT MAX(m) AS x FROM (SELECT age, MAX(seen) AS m FROM t GROUP BY age) s")
    assert dt.datetime(1972, 1, 1) < moment(row["x"]["high"]) < dt.datetime(1979, 1, 2)


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT AVG(seen) FROM t", "QG209"),
        ("SELECT seen, COUNT(*) FROM t GROUP BY seen", "QG210"),
        ("SELECT COUNT(*) FROM t WHERE seen > 5", "QG209"),
        ("SELECT COUNT(*) FROM t WHERE seen > 'yesterday'", "QG209"),
        ("SELECT MIN(seen + INTERVAL 1 DAY) FROM t", "QG207"),
        ("SELECT COUNT(*) FROM t WHERE epoch(seen) > 5", "QG207"),
    ],
)
def test_what_cannot_be_bounded_is_refused_with_a_way_out(study, sql, code):
    with pytest.raises(UnsupportedSQL) as refused:
        ask(study[0], sql)
    assert refused.value.code == code
    assert refused.value.suggestion is None or ask(study[0], refused.value.suggestion)


ZONE = dt.timezone(dt.timedelta(hours=2))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (dt.datetime(1970, 1, 1, 12, tzinfo=ZONE), dt.datetime(1970, 1, 1, 10)),
        ("1970-01-01 10:00:00.25", dt.datetime(1970, 1, 1, 10, 0, 0, 250_000)),
        (dt.date(1970, 1, 2), dt.datetime(1970, 1, 2)),
    ],
)
def test_moments_with_zones_texts_and_days_are_read(tmp_path, written, read):
    opened = new_site(tmp_path)
    put(opened, QUASI, {"age": [40] * 10, "seen": pa.array([written] * 10)})
    assert {row[0] for row in raw_rows(opened, ["seen"])} == {read}


def test_what_is_no_moment_is_counted_and_not_quoted(tmp_path):
    source = write_parquet(tmp_path / "x.parquet", {"age": [40] * 10, "seen": ["1970-01-01 10:00"] * 9 + ["noonish"]})
    with pytest.raises(ConfigError, match="1 value cannot be read as timestamp") as refused:
        put(new_site(tmp_path), QUASI, source)
    assert "noonish" not in refused.value.detail


@pytest.mark.parametrize(
    ("key", "value"), [("grid", "soon"), ("grid", 0), ("grid", "99999d"), ("cuts", [5]), ("grid", "1s")]
)
def test_a_policy_that_is_wrong_about_time(key, value):
    with pytest.raises(ConfigError, match=f"columns.seen.{key}"):
        BARE.but(columns={"seen": {key: value}}).parsed()


def test_silence_means_a_usual_step():
    assert BARE.parsed().column("seen").grid == 90 * 86_400_000_000
