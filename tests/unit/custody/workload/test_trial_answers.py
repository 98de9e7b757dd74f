"""Questions to a version on trial: every group that holds somebody has a range, and the truth is in it."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from querygate.custody.use_cases.trial_version import TrialVersion, published_on_trial
from querygate.custody.workload.trial_answers import ranges_of
from querygate_adapters.sources.open_source import open_source
from tests.policies import PolicyText, make_policy, quasi, sensitive

ROWS = 150
POLICY = make_policy(
    "visits",
    {
        "seen": quasi("date", ("2020-01-01", "2024-12-31"), grid=30, cuts=["2021-01-01", "2023-01-01"]),
        "ward": quasi("category", values=["A", "b'b", "Ü"]),
        "first": quasi("boolean"),
        "sbp": sensitive("integer", (60, 220), bins=10, guard=10),
        "ill": sensitive("category", values=["no", "yes"]),
        "never": sensitive("integer", (0, 9), bins=1, guard=1),
    },
    k=4,
    views={"mode": "auto"},
)


def record(number: int, rng: random.Random) -> list[object]:
    ward = rng.choice(["A", "A", "b'b", "Ü", ""])
    seen = f"202{rng.randrange(5)}-0{rng.randrange(1, 10)}-1{number % 10}"
    return [
        seen,
        ward,
        rng.choice(["true", "false", ""]),
        rng.choice([120, 120, 95, 180, ""]),
        rng.choice(["no", "yes"]),
        "",
    ]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path, rng = tmp_path_factory.mktemp("visits") / "visits.csv", random.Random(3)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list(POLICY.tables["columns"]), *(record(i, rng) for i in range(ROWS))])
    return path


@pytest.fixture(scope="module", params=[POLICY, POLICY.but(views=None)], ids=["views", "classes"])
def trial(source: Path, request: pytest.FixtureRequest) -> Iterator[TrialVersion]:
    text: PolicyText = request.param
    with published_on_trial(text.parsed(), open_source(str(source))) as trial:
        yield trial


def test_the_truth_of_every_group_is_in_its_range(trial: TrialVersion) -> None:
    asked = [q for q in trial.questions(18) if q.kind != "odds ratio"]  # which the database does not have
    assert {q.ends for q in asked} == {"none", "aligned", "free"}
    for question in asked:
        ranges = ranges_of(question, trial.release, trial.native)
        if ranges is None:
            assert question.kind == "correlation"
            continue
        sizes = trial.rows.by_group("visits", question.records)
        for keys, truth in trial.rows.by_group("visits", question.sql).items():
            if sizes[keys] and truth is not None:
                found = ranges[keys]
                assert found.low is not None
                assert found.high is not None
                assert found.low - 1e-9 <= truth <= found.high + 1e-9, question.sql


def test_a_figure_for_every_group_with_somebody_in_it(trial: TrialVersion) -> None:
    asked = trial.questions(18)
    held = {q: sum(bool(size) for size in trial.rows.by_group("visits", q.records).values()) for q in asked}
    figures = trial.figures(asked)
    assert len(figures) == sum(held.values()) > 18
    assert not any("never" in figure.question.columns for figure in figures)
    everybody = next(f for f in trial.figures(trial.questions(10**6)[:1]))
    assert everybody.kind == "count"
    assert everybody.is_usable
