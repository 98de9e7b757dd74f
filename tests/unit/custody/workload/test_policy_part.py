"""The part of a policy that questions need: they are answered as by the whole."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from querygate.custody.policy import Policy
from querygate.custody.use_cases.trial_version import TrialVersion, published_on_trial
from querygate.custody.workload.policy_part import changed_columns, part_about
from querygate.custody.workload.usable_share import sampling_error
from querygate.custody.workload.workload_sample import asked_columns
from querygate_adapters.sources.open_source import open_source
from tests.policies import PolicyText, make_policy, quasi, sensitive

TEXT = make_policy(
    "visits",
    {
        "age": quasi("integer", (0, 99), grid=1, cuts=[30, 60]),
        "ward": quasi("category", values=["A", "Ü"]),
        "sbp": sensitive("integer", (60, 220), bins=10, guard=20),
        "dbp": sensitive("integer", (40, 140), bins=10, guard=20),
        "ill": sensitive("boolean"),
        "rare": sensitive("category", values=["x", "y", "z"]),
        "never": sensitive("number", (0.0, 9.0), bins=1.0, guard=1.0),
    },
    k=4,
    views={"mode": "auto", "linked": [["sbp", "dbp"]]},
)
POLICY = TEXT.parsed()


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path, rng = tmp_path_factory.mktemp("part") / "visits.csv", random.Random(8)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list(TEXT.tables["columns"])] + [
            [rng.choice([rng.randrange(100), ""]), rng.choice(["A", "A", "Ü", ""]), rng.choice([120, 95, 180, ""]),
             rng.choice([60, 80, 90]), rng.choice(["true", "false", ""]), "x" if i % 40 else "y", ""]
            for i in range(160)
        ])  # fmt: skip
    return path


@pytest.fixture(scope="module")
def whole(source: Path) -> Iterator[TrialVersion]:
    with published_on_trial(POLICY, open_source(str(source))) as published:
        yield published


@pytest.mark.parametrize("columns", [("ill",), ("sbp", "rare"), ("dbp", "never"), ()])
def test_figures_of_a_part_are_those_of_the_whole(source: Path, whole: TrialVersion, columns: tuple[str, ...]) -> None:
    part = part_about(POLICY, columns)
    with published_on_trial(part, open_source(str(source))) as some:
        asked = some.questions(60)
        found = some.figures(asked)
    assert whole.figures(asked) == found
    assert len(found) > 20


def test_linked_columns_stay_together_and_classes_whole() -> None:
    assert [column.name for column in part_about(POLICY, ["dbp"]).named("sensitive")] == ["sbp", "dbp"]
    classes = replace(POLICY, views=None)
    assert part_about(classes, ["dbp"]) == classes


def but(**changes: object) -> Policy:
    text: PolicyText = TEXT.but(**changes)
    return text.parsed()


def without(name: str) -> Policy:
    columns = tuple(replace(c, role="withheld") if c.name == name else c for c in POLICY.columns)
    return replace(POLICY, columns=columns)


def test_what_a_change_can_touch() -> None:
    table = TEXT.tables["columns"]
    assert changed_columns(POLICY, POLICY) == frozenset()
    assert changed_columns(POLICY, but(columns={"never": table["never"] | {"guard": 2.0}})) == {"never"}
    assert changed_columns(POLICY, but(columns={"dbp": table["dbp"] | {"guard": 30}})) == {"sbp", "dbp"}
    assert changed_columns(POLICY, but(k=5)) is None
    assert changed_columns(POLICY, without("ward")) is None
    assert changed_columns(POLICY, without("ill")) is None
    assert changed_columns(POLICY, replace(POLICY, views=None)) is None
    assert changed_columns(replace(POLICY, views=None), POLICY) is None


def test_numbers_and_categories_are_asked_about_by_turns() -> None:
    assert asked_columns(POLICY, 3) == {"sbp", "ill", "dbp"}
    assert asked_columns(POLICY, 99) == {"sbp", "dbp", "ill", "rare", "never"}
    assert asked_columns(part_about(POLICY, ()), 3) == frozenset()


def test_questions_and_not_figures_are_drawn(source: Path) -> None:
    """Figures of one question count together: a question more is worth more than a figure more."""
    with published_on_trial(part_about(POLICY, ["ill"]), open_source(str(source))) as some:
        figures = some.figures(some.questions(30))
    assert sampling_error(figures[:1]) is None
    assert sampling_error([]) is None
    found, twice = sampling_error(figures), sampling_error([*figures, *figures])
    assert found is not None
    assert twice == pytest.approx(found, abs=1e-3)
    assert 0 < found < 0.5
