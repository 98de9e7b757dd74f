"""The truth is inside every range that class moments made sharper, and no range is wider for them."""

from __future__ import annotations

import random

import pytest

from querygate.bounds import moment_columns
from querygate.bounds.class_sums import SUMMED
from querygate.core.errors import Refusal
from querygate.core.ports import Limits
from querygate.core.types import Request
from querygate.gate.answer import answer
from querygate.gate.answer_rows import compute_groups
from querygate.sql import understand
from querygate.stats.knowledge.class_statistics import CLASS_STATISTICS
from tests.policies import make_policy, quasi, sensitive
from tests.property.moment_cases import PAIRS, moment_case, moment_query
from tests.property.random_cases import RESEARCHER, Case, publish_case, random_condition, violations
from tests.property.truth import define
from tests.seeds import cases as some_of

QUERIES = some_of(110)
SEEDS = 8


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[Case | None]:
    """Random tables; None where no partition keeps the guards."""
    return [moment_case(seed, tmp_path_factory.mktemp("case")) for seed in range(SEEDS)]


@pytest.mark.parametrize("seed", range(5))
def test_the_truth_is_inside(seed: int, cases: list[Case | None]) -> None:
    case = cases[seed]
    if case is None:
        pytest.skip("no partition keeps these guards")
    rng = random.Random(seed)
    answered = 0
    wrong: list[str] = []
    for _ in range(QUERIES):
        sql = moment_query(rng, case)
        try:
            wrong += [*violations(case, sql), *wider(case, sql)]
        except Refusal as refusal:
            if refusal.code != "QG215":
                raise
            continue
        answered += 1
    assert wrong == []
    assert answered > QUERIES / 2


def wider(case: Case, sql: str) -> list[str]:
    """Ranges that are wider with moments than they are from the same cells without them."""
    release = case.opened.store.current("t")
    plan = understand(sql, release.catalog, case.opened.gate.native)
    block = release.project(plan.columns, Limits())
    plain = compute_groups(plan, block, lambda: None)
    told = compute_groups(plan, release.project(plan.columns, Limits(), ("x", "y")), lambda: None)
    known = {group.keys: group for group in plain}
    found = []
    for after in told:
        before = known[after.keys]
        assert before.count.low <= after.count.low <= after.count.high <= before.count.high
        assert after.certain or not before.certain
        for a, b in zip(before.ranges, after.ranges, strict=True):
            if a.low is None or (b.low is None and a.may_be_null):
                continue
            slack = 1e-6 * max(abs(a.low), abs(a.high))  # more cells, and so other roundings and other ends of searches
            if any(name in sql for name in PAIRS):  # proofs of two columns go up in steps, from where cells lead them
                slack = max(slack, 0.01 * (a.high - a.low))
            if b.low < a.low - slack or b.high > a.high + slack or (b.may_be_null and not a.may_be_null):
                found.append(f"{b} is wider than {a}: {sql}")
    return found


def test_moments_are_told_and_used(cases: list[Case | None]) -> None:
    """Over some tables at least: otherwise the containment above would show nothing."""
    sharper = 0
    for case in filter(None, cases):
        sql = "SELECT AVG(x) AS s, VAR_POP(x) AS v FROM t"
        release = case.opened.store.current("t")
        plan = understand(sql, release.catalog, case.opened.gate.native)
        plain, told = (
            compute_groups(plan, release.project(plan.columns, Limits(), names), lambda: None)[0]
            for names in ((), ("x",))
        )
        widths = [[r.high - r.low for r in group.ranges] for group in (plain, told) if group.ranges[0].low is not None]
        sharper += len(widths) == 2 and widths[1][0] < 0.8 * widths[0][0]
        assert Request(RESEARCHER, "t", sql).dataset == release.catalog.dataset
    assert sharper >= 3


def test_a_difference_is_no_wider_than_that_of_its_means(cases: list[Case | None]) -> None:
    """MEAN_DIFF knows of each group what AVG of it does: clipped values, and class sums."""
    compared = narrow = 0
    for seed, case in enumerate(cases):
        if case is None:
            continue
        rng = random.Random(seed)
        for condition in ("age < 30", "sex = 'F'", "x > 0", random_condition(rng, case, 1)):
            sides = [f"AVG(x) FILTER (WHERE {side})" for side in (condition, f"NOT ({condition})")]
            sql = f"SELECT MEAN_DIFF(x, {condition}) AS d, {sides[0]} AS a, {sides[1]} AS b, COUNT(*) AS n FROM t"
            given = answer(Request(RESEARCHER, "t", sql), case.opened.gate)
            for group in given.groups:
                d, a, b = group.ranges[:3]
                if d.low is None or a.low is None or b.low is None:
                    continue
                compared += 1
                narrow += d.high - d.low < 0.5 * (max(a.high, b.high) - min(a.low, b.low))
                assert a.low - b.high <= d.low <= d.high <= a.high - b.low, sql
    assert compared > 20
    assert narrow > 2


@pytest.fixture(scope="module")
def hulls(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """Two numbers of which only the hull of each class is told, and its mean: without the mean little is known."""
    rng = random.Random(4)
    ages = [rng.randint(0, 90) for _ in range(300)]
    columns = {
        "age": ages,
        "x": [100 + age + rng.randint(-20, 20) for age in ages],
        "y": [300 - age + rng.randint(-20, 20) for age in ages],
    }
    tables = {"age": quasi("integer", (0, 100), grid=1, cuts=[20, 40, 60])}
    tables |= {name: sensitive("integer", [0, 500], carry="hull", guard=10) for name in ("x", "y")}
    policy = make_policy("t", tables, k=10, anonymise={"class_moments": "rounded", "method": "mondrian"}).parsed()
    case = publish_case(policy, columns, tmp_path_factory.mktemp("hulls"))
    assert case is not None
    define(case.truth)
    return case


@pytest.mark.parametrize(
    "asked",
    ["MEAN_DIFF(x, age < 40)", "WELCH_T(x, age < 40)", "CI_LOW(x)", "CV(x)", "CORR(x, y)", "REGR_SLOPE(x, y)",
     "REGR_INTERCEPT(x, y)", "COVAR_SAMP(x, y)", "STDDEV_SAMP(x)", "MAX(x)", "SUM(x) / SUM(y)"],
)  # fmt: skip
def test_every_statistic_that_can_use_class_sums_does(asked: str, hulls: Case) -> None:
    case, sql = hulls, f"SELECT {asked} AS s FROM t"
    release = case.opened.store.current("t")
    plan = understand(sql, release.catalog, case.opened.gate.native)
    plain, told = (
        compute_groups(plan, release.project(plan.columns, Limits(), names), lambda: None)[0].ranges[0]
        for names in ((), ("x", "y"))
    )
    assert told.high - told.low < 0.9 * (plain.high - plain.low)
    assert moment_columns(plan, release.catalog) >= {"x"}
    assert violations(case, sql) == []


def test_the_store_is_asked_for_what_the_statistics_use() -> None:
    assert set(CLASS_STATISTICS) == SUMMED
