"""Ranges that take long meet the deadline: what a search has when its time is up holds, and the answer says so."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from querygate.core.errors import Refusal
from querygate.core.limits.deadline import Deadline
from querygate.core.limits.pace import is_time_up, paced, take_share
from querygate.core.types import Cells, Range, Request
from querygate.gate.answer import answer
from querygate.gate.steps.protect import HURRIED
from querygate.stats import PAIR_STATISTICS, STATISTICS, PairCells
from tests.policies import make_policy, quasi, sensitive
from tests.property.random_cases import RESEARCHER, Case, publish_case, violations
from tests.unit.gate.hurried_gate import in_ten_seconds

PARAMETERS: dict[str, tuple[float, ...]] = {
    "mean_ci_low": (0.95,),
    "mean_ci_high": (0.95,),
    "quantile_cont": (0.3,),
    "quantile_disc": (0.3,),
    "exceedance": (9,),
}


def ticking(step_s: float) -> Deadline:
    """Ten seconds of a clock that goes on by a step with each look at it."""
    ticks = itertools.count()
    return Deadline(lambda: next(ticks) * step_s, 10.0)


def random_cells(rng: np.random.Generator) -> tuple[Cells, Cells]:
    """Two columns of the same records: constants, ties and empty cells among them."""
    size = int(rng.integers(1, 9))
    least = rng.integers(0, 3, size)
    most = least + rng.integers(0, 3, size)
    most[0] = max(most[0], 1)
    made = []
    for integer in (True, False):
        low = rng.integers(1, 20, size) if integer else rng.normal(50, 9, size)
        made.append(Cells(low, low + rng.integers(0, 9, size) * (rng.random() < 0.8), least, most, integer=integer))
    return made[0], made[1]


def holds(cut: Range, full: Range) -> bool:
    """Is the range of a search that was cut short no narrower? Up to what both add for roundings."""
    if full.low is None or cut.low is None:
        return full.low is None or cut.may_be_null
    room = 1e-9 * sum(abs(end) for end in (full.low, full.high) if math.isfinite(end))
    return cut.low <= full.low + room and full.high <= cut.high + room and (cut.may_be_null or not full.may_be_null)


def ranges(x: Cells, y: Cells) -> dict[tuple[str, bool], Range]:
    """Every statistic of both columns, and of the pair."""
    pairs = PairCells(x.low, x.high, y.low, y.high, x.least, x.most)
    found = {
        (name, column.integer): STATISTICS.get(name).range(column, *PARAMETERS.get(name, ()))
        for column in (x, y)
        for name in STATISTICS.names()
    }
    return found | {(name, True): PAIR_STATISTICS.get(name).range(pairs) for name in PAIR_STATISTICS.names()}


@pytest.fixture(scope="module")
def in_full() -> list[tuple[Cells, Cells, dict[tuple[str, bool], Range]]]:
    rng = np.random.default_rng(3)
    cases = [random_cells(rng) for _ in range(5)]
    return [(x, y, ranges(x, y)) for x, y in cases]


@pytest.mark.parametrize("step_s", [0.01, 0.5, 20.0])
def test_a_range_that_was_cut_short_holds(
    step_s: float, in_full: list[tuple[Cells, Cells, dict[tuple[str, bool], Range]]]
) -> None:
    for x, y, full in in_full:
        with paced(ticking(step_s)):
            cut = ranges(x, y)
        for name, one in cut.items():
            other = full[name]
            reached = replace(other, low=other.attained_low, high=other.attained_high)
            known = other.attained_low is not None and other.attained_high is not None
            assert holds(one, reached if known else other), (name, one, other)


def test_each_range_has_its_share() -> None:
    """Of 7 of 10 seconds, and four times as much while others are left to lend it."""
    now = [0.0]
    with paced(Deadline(lambda: now[0], 10.0)) as pace:
        take_share(28)
        now[0] = 0.9
        assert not is_time_up()
        now[0] = 1.1
        assert is_time_up()
        take_share(1)
        now[0] = 6.9
        assert not is_time_up()
        now[0] = 7.1
        assert is_time_up()
        assert pace.is_cut
    assert not is_time_up()


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    rng = random.Random(1)
    ages = [rng.randint(18, 90) for _ in range(300)]
    columns = {
        "age": ages,
        "sbp": [None if rng.random() < 0.05 else 90 + age + rng.randint(0, 20) for age in ages],
        "bmi": [round(rng.gauss(27, 5), 1) for _ in ages],
    }
    tables = {
        "age": quasi("integer", (0, 100), grid=1),
        "sbp": sensitive("integer", (40, 300)),
        "bmi": sensitive("number", (5, 70)),
    }
    made = publish_case(make_policy("t", tables, k=5).parsed(), columns, Path(tmp_path_factory.mktemp("pace")) / "t")
    assert made is not None
    return made


SQL = "SELECT FLOOR(age / 10) AS d, CORR(sbp, bmi) AS c, STDDEV_SAMP(bmi) AS s, SKEWNESS(sbp) AS w FROM t GROUP BY d"


def test_an_answer_in_a_hurry_says_so_and_holds_the_truth(case: Case) -> None:
    ticks = itertools.count()
    hurried = in_ten_seconds(case.opened.gate, lambda: next(ticks) * 0.004)

    assert violations(replace(case, opened=replace(case.opened, gate=hurried)), SQL) == []
    assert HURRIED in answer(Request(RESEARCHER, "t", SQL), hurried).notes


def test_an_answer_in_time_says_nothing(case: Case) -> None:
    still = in_ten_seconds(case.opened.gate, lambda: 0.0)

    assert HURRIED not in answer(Request(RESEARCHER, "t", SQL), still).notes


def test_a_rate_whose_divisor_may_be_zero_comes_with_a_statement_that_works(case: Case) -> None:
    rate = "SELECT 1000.0 * COUNT(*) FILTER (WHERE sbp > 120) / COUNT(*) FILTER (WHERE bmi > 45) AS rate FROM t"
    with pytest.raises(Refusal) as caught:
        answer(Request(RESEARCHER, "t", rate), case.opened.gate)

    assert caught.value.code == "QG215"
    assert caught.value.suggestion is not None
    assert "NULLIF" in caught.value.suggestion
    assert violations(case, caught.value.suggestion) == []
