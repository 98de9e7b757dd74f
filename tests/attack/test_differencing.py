"""The differencing attack: two averages over groups that differ by one person.

On exact answers it gives everybody's value. Through the gate, all pairs of age ranges together leave each value open
at least as wide as the guard of the policy.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations_with_replacement, product
from pathlib import Path

import pytest

from querygate import demo
from querygate.custody.policy import load_policy
from querygate.custody.use_cases.publish_version import publish_to
from querygate.site.layout import init_site
from querygate.site.open_gate import OpenSite, open_gate
from tests.unit.custody.publish.publications import ask

HERE = Path(demo.__file__).parent
POLICY = load_policy(HERE / "clinic.toml")
WIDTH = max(POLICY.column("systolic").guard, POLICY.column("systolic").bins)
RANGES = list(combinations_with_replacement(range(39, 53), 2))

Ages = tuple[int, int]
Ends = tuple[float, float]
Answers = Mapping[Ages, Mapping[str, Ends]]
with_everybody = pytest.mark.parametrize("age", [40, 41, 42, 43, 44, 45, 46, 47, 48, 50, 51])


@pytest.fixture(scope="module")
def systolic() -> dict[int, int]:
    """The secret, by age: the ages are all different, and everybody knows them."""
    with (HERE / "clinic.csv").open(encoding="utf-8", newline="") as stream:
        return {int(row["age"]): int(row["systolic"]) for row in csv.DictReader(stream)}


@pytest.fixture(scope="module")
def exact(systolic: dict[int, int]) -> Answers:
    """What a system without a gate says: each answer is a range of one point."""
    answers = {}
    for ages in RANGES:
        values = [value for age, value in systolic.items() if ages[0] <= age <= ages[1]]
        if values:
            mean = sum(values) / len(values)
            answers[ages] = {"AVG": (mean, mean), "SUM": (sum(values), sum(values))}
    return answers


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    opened = open_gate(init_site(tmp_path_factory.mktemp("clinic") / "site"))
    publish_to(opened, POLICY, str(HERE / "clinic.csv"), user="tester")
    return opened


@pytest.fixture(scope="module")
def ranges(clinic: OpenSite) -> Answers:
    """What the gate says."""
    answers = {}
    for low, high in RANGES:
        sql = f"SELECT AVG(systolic) AS a, SUM(systolic) AS s FROM clinic WHERE age BETWEEN {low} AND {high}"
        (row,) = ask(clinic, sql, "clinic")
        if row["a"]["low"] is not None:
            answers[low, high] = {
                "AVG": (row["a"]["low"], row["a"]["high"]),
                "SUM": (row["s"]["low"], row["s"]["high"]),
            }
    return answers


def pairs_around(age: int, known: Mapping[int, int]) -> Iterator[tuple[Ages, Ages, int]]:
    """All pairs of ranges whose people differ by the one of this age, and the number of people in the larger."""
    people: Callable[[Ages], frozenset[int]] = lambda ages: frozenset(a for a in known if ages[0] <= a <= ages[1])  # noqa: E731
    by_range = {ages: people(ages) for ages in RANGES}
    for outer, inner in product(RANGES, RANGES):
        if by_range[outer] - by_range[inner] == {age} and by_range[inner] < by_range[outer] and by_range[inner]:
            yield outer, inner, len(by_range[outer])


def located(age: int, answers: Answers, known: Mapping[int, int]) -> tuple[Ends, int]:
    """Where the value must lie by every pair of answers together, within the public domain, and how many pairs."""
    column = POLICY.column("systolic")
    low, high, pairs = float(column.low), float(column.high), 0
    for outer, inner, n in pairs_around(age, known):
        if outer in answers and inner in answers:
            pairs += 1
            (a, b), (c, d) = answers[outer]["AVG"], answers[inner]["AVG"]
            low, high = max(low, n * a - (n - 1) * d), min(high, n * b - (n - 1) * c)
            (a, b), (c, d) = answers[outer]["SUM"], answers[inner]["SUM"]
            low, high = max(low, a - d), min(high, b - c)
    return (low, high), pairs


@with_everybody
def test_without_the_gate_the_attack_finds_everybody(exact: Answers, systolic: dict[int, int], age: int) -> None:
    (low, high), pairs = located(age, exact, systolic)

    assert pairs > 10
    assert low == pytest.approx(systolic[age])
    assert high == pytest.approx(systolic[age])


def test_the_two_averages_of_the_example(exact: Answers, systolic: dict[int, int]) -> None:
    ten, eleven = exact[40, 50]["AVG"][0], exact[40, 51]["AVG"][0]

    assert (ten, eleven) == (110, 115)
    assert 11 * eleven - 10 * ten == 165 == systolic[51]


@with_everybody
def test_through_the_gate_every_pair_together_leaves_the_value_open(
    ranges: Answers, systolic: dict[int, int], age: int
) -> None:
    (low, high), pairs = located(age, ranges, systolic)

    assert pairs > 10
    assert low <= systolic[age] <= high
    assert high - low >= WIDTH


def test_the_true_averages_are_inside_all_the_same(ranges: Answers, exact: Answers) -> None:
    for ages, answer in exact.items():
        for statistic, (value, _) in answer.items():
            low, high = ranges[ages][statistic]
            assert low <= value <= high, (ages, statistic)
