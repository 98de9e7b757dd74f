"""The truth is inside every range that class moments made sharper, and no range is wider for them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from querygate.core.errors import Refusal
from querygate.core.ports import Limits
from querygate.core.types import Request
from querygate.gate.ranges import compute_groups
from querygate.sql import understand
from tests.property.moment_cases import moment_case, moment_query
from tests.property.random_cases import RESEARCHER, Case, violations

QUERIES = 24


@pytest.mark.parametrize("seed", range(5))
def test_the_truth_is_inside(seed: int, tmp_path: Path) -> None:
    case = moment_case(seed, tmp_path)
    if case is None:
        pytest.skip("no partition keeps these guards")
    rng = random.Random(seed)
    answered = 0
    wrong: list[str] = []
    for _ in range(QUERIES):
        sql = moment_query(rng, case)
        try:
            wrong += violations(case, sql)
        except Refusal as refusal:
            if refusal.code != "QG215":
                raise
            continue
        answered += 1
        wrong += wider(case, sql)
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
            if b.low < a.low - slack or b.high > a.high + slack or (b.may_be_null and not a.may_be_null):
                found.append(f"{b} is wider than {a}: {sql}")
    return found


def test_moments_are_told_and_used(tmp_path: Path) -> None:
    """Over some tables at least: otherwise the containment above would show nothing."""
    sharper = 0
    for seed in range(8):
        case = moment_case(seed, tmp_path / str(seed))
        if case is None:
            continue
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
