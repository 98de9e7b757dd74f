"""What all answers together leave open, squares and two values, and signs that isolate nobody."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from querygate.methods.audit import VARIANCE, Base, Domain, Inference, QueryTotal, find, notices
from querygate.methods.audit.feasible_totals import Allowance
from querygate.methods.audit.power_sums import two_values

AGES = np.arange(40)
ONES = {"sbp": np.ones(len(AGES), dtype=np.int64)}
PUBLIC = {"sbp": Domain(Fraction(80), Fraction(200), whole=True, public=True)}


def total(query: str, low: int, high: int, least: float, most: float) -> QueryTotal:
    ends = Fraction(least), Fraction(most)
    return QueryTotal(
        query,
        "r1",
        "sbp",
        (low <= AGES) & (high >= AGES),
        "",
        *ends,
        str(most) if least == most else f"[{least}, {most}]",
    )


def test_answers_together_leave_less_than_the_combination_alone() -> None:
    """The shortest proof has two wide ranges; two exact halves of the smaller set leave ten for the one who is more."""
    two = [total("q1", 0, 9, 1000, 1300), total("q2", 0, 10, 1300, 1310)]
    ((alone,), _) = find(two, ONES, 2, PUBLIC)
    ((better,), _) = find([*two, total("q3", 0, 4, 600, 600), total("q4", 5, 9, 600, 600)], ONES, 2, PUBLIC)
    assert (alone.inferred[0].low, alone.inferred[0].high) == (80, 200)
    assert (better.inferred[0].low, better.inferred[0].high) == (100, 110)
    assert (set(better.queries), better.severity) == ({"q1", "q2"}, "exposed")


def test_a_total_near_its_end_exposes_though_nothing_is_isolated() -> None:
    found, _ = find([total("q1", 0, 9, 0, 805), total("q2", 9, 20, 0, 2400)], ONES, 2, PUBLIC)
    assert [(f.kind, f.severity, f.places.tolist().index(True)) for f in found] == [("bounds", "exposed", 9)]
    (inferred,) = found[0].inferred
    assert (inferred.low, inferred.high) == (80, 85)


def test_there_are_only_so_many_programmes() -> None:
    allowance = Allowance(groups=2, work=100)
    assert [allowance.take(40) for _ in range(3)] == [True, True, False]
    assert Allowance(work=10).take(11) is False


def test_a_programme_that_had_no_time_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("querygate.methods.audit.feasible_totals.LONGEST_S", 0.0)
    found, left = find([total("q1", 0, 9, 0, 805), total("q2", 9, 20, 0, 2400)], ONES, 2, PUBLIC)
    assert found == []
    assert ["not examined" in one.reason for _, one in left] == [True] * len(left) != []


def squares(query: str, low: int, high: int, value: int | Fraction) -> QueryTotal:
    members = (low <= AGES) & (high >= AGES)
    number, spread, said = int(members.sum()), Fraction(value), f"({value})"
    return QueryTotal(
        query, "r1", "sbp^2", members, VARIANCE, spread, spread, said, "sbp^2", (((1,), members),), number, "sbp"
    )


def test_a_variance_beside_a_sum_is_a_total_of_squares() -> None:
    """Ten people of 100 each; with an eleventh of 122, 2 more on average: the squares about the mean are 440."""
    asked = [
        total("q1", 0, 9, 1000, 1000),
        squares("v1", 0, 9, 0),
        total("q2", 0, 10, 1122, 1122),
        squares("v2", 0, 10, 440),
    ]
    weights = {**ONES, "sbp^2": ONES["sbp"]}
    ((finding,), _) = find(asked, weights, 2)
    assert {one.measure: one.low for one in finding.inferred} == {"sbp": 122, "sbp^2": 122**2}
    assert set(finding.queries) == {"q1", "q2", "v1", "v2"}


def test_a_variance_of_few_by_itself_exposes() -> None:
    ((finding,), _) = find([squares("v1", 0, 1, 50)], {"sbp^2": ONES["sbp"]}, 3)
    assert (finding.kind, finding.severity, finding.records) == ("narrow", "exposed", 2)


@pytest.mark.parametrize(("one", "other"), [(110, 165), (120, 120), (Fraction(1, 2), Fraction(7, 3))])
def test_two_power_sums_tell_two_people(one: Fraction, other: Fraction) -> None:
    total_, squared = Fraction(one + other), Fraction(one**2 + other**2)
    found = two_values(Inference("sbp", total_, total_, ""), Inference("sbp^2", squared, squared, ""))
    assert found is not None
    assert [value.low for value in found] == sorted([one, other])


def test_a_group_of_two_is_disclosed_by_its_moments() -> None:
    asked = [total("q1", 0, 1, 275, 275), squares("v1", 0, 1, Fraction(55**2, 2))]
    ((finding,), _) = find(asked, {**ONES, "sbp^2": ONES["sbp"]}, 3)
    assert finding.severity == "disclosed"
    assert [one.low for one in finding.inferred if "of two" in one.measure] == [110, 165]


def test_repeats_groups_and_dominance_are_notices() -> None:
    members = AGES < 10
    counted = QueryTotal(
        "q9", "r2", "dx = 'hiv'", members, low=Fraction(0), high=Fraction(0), said="0", base="(secrets)"
    )
    object.__setattr__(counted, "parts", (((0, 1), members),))
    object.__setattr__(counted, "counted", True)
    asked = [total(f"q{i}", 0, 9, 1000, 1000) for i in range(5)]
    whole = np.where(AGES == 3, 1000.0, 1.0)
    found = notices(
        [*asked, counted],
        {**ONES, "dx = 'hiv'": ONES["sbp"], "(secrets)": ONES["sbp"]},
        5,
        {"sbp": (whole, whole, np.zeros(len(AGES)))},
    )
    assert [(one.kind, one.severity, one.records) for one in found] == [
        ("averaging", "notice", 10),
        ("group", "notice", 10),
        ("dominance", "notice", 10),
    ]
    assert found[1].note == "None of the selected records have: dx = 'hiv'."


def test_measures_that_do_not_combine_stay_apart() -> None:
    one = QueryTotal("q1", "r1", "a", AGES < 10)
    other = QueryTotal("q2", "r1", "b", AGES < 11)
    found, left = find([one, other], {"a": ONES["sbp"], "b": ONES["sbp"]}, 3, bases={"a": Base({"a": (1,)}, 1)})
    assert (found, left) == ([], [])
