"""Values that are missing: every statistic, whoever has none. All findings are proved, and none is untrue."""

from __future__ import annotations

from functools import cache
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from querygate.custody.audit.audit import Audit, AuditOptions, LogStatement, audit
from querygate_adapters.vault.raw_records import DuckDBRecords
from tests.attack.audited_truth import Held, failures, untrue
from tests.attack.random_logs import KNOWN, SECRET, STATISTICS
from tests.engine import scratch

AGES = [44, 45, 45, 46, 46, 47, *([60, 61] * 10)]
MISSING: dict[str, set[int]] = {  # records without a value
    "one of a place": {1},
    "all of a place": {0},
    "a place and one of another": {0, 3},
    "everybody": set(range(len(AGES))),
}
SETS = ("age BETWEEN 40 AND 46", "age >= 45", "TRUE")


@cache
def people(missing: str) -> tuple[DuckDBRecords, duckdb.DuckDBPyConnection]:
    number = range(len(AGES))
    held: dict[str, tuple[list[Any], pa.DataType]] = {
        "age": (AGES, pa.int32()),
        "sex": (["F" if i % 3 else "M" for i in number], pa.string()),
        "day": ([None] * len(AGES), pa.date32()),
        "sbp": ([None if i in MISSING[missing] else 110 + i * i for i in number], pa.int16()),
        "dose": ([None if i % 4 == 1 else i / 8 for i in number], pa.float64()),
        "same": ([7] * len(AGES), pa.int64()),
        "dx": ([("flu", "hiv", None)[i % 3] for i in number], pa.string()),
    }
    table = pa.table({name: pa.array(values, kind) for name, (values, kind) in held.items()})
    database = scratch()
    database.register("people", table)
    return DuckDBRecords(Held(table), memory_mb=512), database


def audited(missing: str, *asked: str, k: int = 5) -> Audit:
    records, database = people(missing)
    entries = [
        LogStatement(f"q{i}", "ann", sql, answer=[list(row) for row in database.execute(sql).fetchall()])
        for i, sql in enumerate(asked)
    ]
    return audit(entries, records, AuditOptions(k, SECRET, KNOWN))


@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("statistic", STATISTICS)
def test_every_statistic_with_every_kind_of_missing(statistic: str, missing: str) -> None:
    asked = [f"SELECT {statistic.format(x='sbp')} FROM people WHERE {where}" for where in SETS]
    found = audited(missing, *asked)
    assert failures(found) == []
    assert list(untrue(found, people(missing)[0])) == []


def test_one_missing_value_among_fewer_than_k_is_found_and_told() -> None:
    found = audited("a place and one of another", "SELECT AVG(sbp) FROM people WHERE age BETWEEN 44 AND 46")
    ((finding, where),) = found.findings
    assert (finding.kind, finding.records, found.unproved) == ("narrow", 3, ())
    assert where == "age IN (45, 46) AND sbp IS NOT NULL"


def test_measures_of_which_different_people_have_none_are_groups_of_their_own() -> None:
    found = audited("one of a place", "SELECT SUM(sbp), SUM(dose), COUNT(*) FROM people WHERE age <= 45")
    by_records = {finding.records: {one.measure for one in finding.inferred} for finding, _ in found.findings}
    assert by_records == {2: {"sbp", "dose"}, 3: {"(presence)"}}


def test_a_maximum_over_people_without_a_value_is_nobodys() -> None:
    asked = [f"SELECT MAX(sbp) FROM people WHERE {where}" for where in ("age = 44", "age BETWEEN 44 AND 45")]
    found = audited("all of a place", *asked)
    assert [(finding.records, finding.inferred[0].low) for finding, _ in found.findings] == [(2, 114)]


def test_the_larger_of_two_maxima_is_of_whoever_only_its_set_has() -> None:
    """The set of more people has the smaller maximum: theirs may be shared, the larger one is not."""
    asked = [f"SELECT MAX(sbp) FROM people WHERE {where}" for where in ("age IN (44, 45, 46)", "age IN (45, 46, 47)")]
    found = audited("one of a place", *asked)
    told = [one.low for finding, _ in found.findings if len(finding.queries) == 2 for one in finding.inferred]
    assert told == [135]


def test_a_multiple_of_a_total_is_told_as_the_total() -> None:
    sql = "SELECT 99 * SUM(sbp) - 37 * SUM(sbp) FILTER (WHERE age = 44) FROM people WHERE age = 44"
    ((finding, _),) = audited("all of a place", sql.replace("44", "47")).findings
    assert [(one.measure, one.low) for one in finding.inferred] == [("sbp", 135)]


def test_a_mean_with_zeros_by_groups_of_a_secret_is_over_the_group() -> None:
    sql = "SELECT dx, AVG(CASE WHEN dx = 'flu' THEN sbp ELSE 0 END) FROM people WHERE age < 50 GROUP BY dx"
    found = audited("one of a place", sql)
    assert found.findings
    assert list(untrue(found, people("one of a place")[0])) == []
