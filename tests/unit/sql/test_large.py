"""Statements whose meaning doubles with each word, or that ask the database about millions of values, end soon."""

from __future__ import annotations

import pytest

from querygate.core.errors import Refusal
from querygate.sql import understand
from querygate.sql.clauses.group_keys import MOST_SETS
from querygate.sql.work_limit import EACH, MOST, WorkLimit
from tests.sql.study import CATALOG, NATIVE

T = CATALOG.dataset


def listed(form: str, number: int, between: str = ", ") -> str:
    return between.join(form.format(i) for i in range(number))


def refused(sql: str) -> str:
    with pytest.raises(Refusal) as caught:
        understand(sql, CATALOG, NATIVE)
    return caught.value.code


@pytest.mark.parametrize("kind", ["CUBE", "ROLLUP", "GROUPING SETS"])
def test_grouping_sets_are_counted_before_they_are_made(kind: str) -> None:
    """2^400 of them for CUBE."""
    assert refused(f"SELECT COUNT(*) FROM {T} GROUP BY {kind} ({listed('city', 400)})") == "QG212"


def test_as_many_sets_as_are_allowed_are_made() -> None:
    cube = "CUBE (sex, smoker, UPPER(sex), LOWER(sex), LENGTH(sex), LEFT(sex, 1))"
    assert len(understand(f"SELECT COUNT(*) FROM {T} GROUP BY {cube}", CATALOG, NATIVE).sets) == MOST_SETS
    assert refused(f"SELECT COUNT(*) FROM {T} GROUP BY {cube}, ROLLUP (RIGHT(sex, 1))") == "QG212"


def test_named_queries_are_not_copied_with_all_before_them() -> None:
    """A copy of each with copies of those before it would be 2^150 queries."""
    first, last = f"t0 AS (SELECT age AS x FROM {T})", "SELECT AVG(x) FROM t150"
    plain = "".join(f", t{i + 1} AS (SELECT x FROM t{i})" for i in range(150))
    plan = understand(f"WITH {first}{plain} {last}", CATALOG, NATIVE)
    assert plan.hash == understand(f"SELECT AVG(age) FROM {T}", CATALOG, NATIVE).hash
    doubled = "".join(f", t{i + 1} AS (SELECT x + x AS x FROM t{i})" for i in range(150))
    assert refused(f"WITH {first}{doubled} {last}") == "QG102"


def test_functions_are_looked_up_for_so_many_values() -> None:
    dates = listed("EXTRACT(DAY FROM born) = {0}", 28, " OR ")
    assert understand(f"SELECT COUNT(*) FROM {T} WHERE {dates}", CATALOG, NATIVE).measures
    many = listed("EXTRACT(DOY FROM born) = {0}", 200, " OR ")
    assert refused(f"SELECT COUNT(*) FROM {T} WHERE {many}") == "QG102"


def test_the_bound_counts_questions_and_values() -> None:
    asked = WorkLimit(NATIVE)
    assert asked.tabulate("x + 1", "integer", [1, None]).results == (2, None)
    assert asked.work.values == 2 + EACH
    assert hash(asked) == hash(WorkLimit(NATIVE))
    assert asked == WorkLimit(NATIVE)
    asked.work.values = MOST - EACH - 2
    assert asked.tabulate("x + 1", "integer", [1, 2]).results == (2, 3)
    with pytest.raises(Refusal, match="too many functions"):
        asked.tabulate("x + 1", "integer", [1])


def test_a_long_having_is_read_or_refused_soon() -> None:
    """Each step used to copy all that was left: at 500 terms this took half a gigabyte."""
    short = listed("AVG(sbp) > {0}", 30, " OR ")
    plan = understand(f"SELECT sex, COUNT(*) FROM {T} GROUP BY sex HAVING {short}", CATALOG, NATIVE)
    one = understand(f"SELECT sex, COUNT(*) FROM {T} GROUP BY sex HAVING AVG(sbp) > 0", CATALOG, NATIVE)
    assert plan.hash == one.hash
    long = listed("AVG(sbp) > {0}", 600, " OR ")
    assert refused(f"SELECT sex, COUNT(*) FROM {T} GROUP BY sex HAVING {long}") == "QG103"
