"""Statements that fail, or become infinite, by the secret of one person; and those that cannot."""

from __future__ import annotations

import pytest

from querygate.sql.logged.logged_failures import may_fail
from querygate.sql.logged.logged_statement import take_apart

TELLING = (
    "SUM(sbp * 1e308)",
    "SUM(sbp * 1e200 * 1e200)",
    "SUM(-sbp * 1e307)",
    "SUM((sbp + 1) * 1e307)",
    "SUM(sbp * 9000000000000000000)",
    "SUM(sbp + 9223372036854775000)",
    "SUM(sbp / 1e-308)",
    "SUM(sbp * sbp * sbp)",
    "SUM(sbp * power(10, 300))",
    "SUM(1e308 * 10 + sbp)",
    "SUM(sbp * 1e99999999)",
    "SUM(CASE WHEN sbp > 165 THEN 1e308 * 10 ELSE 0 END)",
    "SUM(CASE WHEN sbp > 165 THEN 1e308 ELSE 0 END * 10)",
    "SUM(IF(sbp > 165, 9223372036854775807, 0) + 1)",
    "COUNT(*) FILTER (WHERE sbp * 1e307 > 0)",
    "SUM(1e308) FILTER (WHERE sbp > 165)",
)
HARMLESS = (
    "SUM(sbp * 2)",
    "AVG(sbp * 100 / 7)",
    "SUM(sbp * sbp)",
    "SUM(POWER(sbp, 2))",
    "SUM(sbp * 0.453592)",
    "SUM(sbp * 0.0)",
    "SUM(sbp) * 1e40",
    "AVG(sbp) * 1000000",
    "SUM(age * 1e308)",
    "COUNT(*) FILTER (WHERE sbp < 1e308)",
    "SUM(CASE WHEN sbp > 165 THEN 1000000000000 ELSE 0 END)",
)


@pytest.mark.parametrize("asked", TELLING)
def test_a_value_that_may_become_infinite_is_a_way_to_tell_it(asked: str) -> None:
    found = may_fail(f"SELECT {asked} FROM t WHERE age = 51", ["sbp"], "duckdb")
    assert found is not None
    assert (found.known, "infinite" in found.what) == ("(age = 51)", True)


@pytest.mark.parametrize("asked", HARMLESS)
def test_ordinary_arithmetic_is_not(asked: str) -> None:
    assert may_fail(f"SELECT {asked} FROM t WHERE age = 51", ["sbp"], "duckdb") is None


@pytest.mark.parametrize("number", ["1e999999999", "1e-999999999"])
def test_a_number_that_nobody_could_write_out_is_not_written_out(number: str) -> None:
    (found,) = take_apart(f"SELECT SUM(sbp * {number}), SUM(sbp) * {number} FROM t", ["sbp"], ["sbp"])
    assert len(found.added) == 2
