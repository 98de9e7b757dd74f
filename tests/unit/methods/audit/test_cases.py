"""Findings grouped into cases: what belongs together, how grave it is, and what speaks for intent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from querygate.methods.audit import Finding, QueryTotal, find
from querygate.methods.audit.cases import finding_id, make_cases

AGES = np.arange(40)
ONES = {"sbp": np.ones(len(AGES), dtype=np.int64)}


@dataclass(frozen=True)
class Asked:
    id: str
    user: str
    sql: str = ""
    time: str = ""


def total(query: str, low: int, high: int, user: str = "r1", answer: int | None = None) -> QueryTotal:
    known = None if answer is None else Fraction(answer)
    return QueryTotal(query, user, "sbp", (low <= AGES) & (high >= AGES), "", known, known, str(answer or ""))


def found(*totals: QueryTotal, k: int = 3, **more: Any) -> list[Finding]:
    return find(totals, ONES, k, **more)[0]


def finding(places: Sequence[int], queries: Sequence[str], user: str = "r1", **more: Any) -> Finding:
    mask = np.isin(AGES, places)
    given: dict[str, Any] = {"kind": "differencing", "severity": "attempt", "coefficients": (), "view": user, **more}
    return Finding(queries=tuple(queries), users=(user,), records=len(places), places=mask, **given)


def test_a_sliding_window_is_one_case() -> None:
    totals = [total(f"q{i:02}", i, 39) for i in range(20)]
    findings = found(*totals)
    assert len(findings) > 15

    (case,) = make_cases(findings, [Asked(t.query, "r1") for t in totals], totals, ONES, 3)

    assert sorted(case.findings) == list(range(len(findings)))
    assert case.queries == tuple(f"q{i:02}" for i in range(20))
    assert case.records == 19  # places 0 to 18, each once, in however many findings
    assert (case.users, case.view, case.severity) == (("r1",), "r1", "attempt")


def test_other_queries_about_other_people_are_another_case() -> None:
    findings = [finding([1], ["q1", "q2"]), finding([2], ["q3", "q4"]), finding([3], ["q2", "q5"])]
    cases = make_cases(findings, [Asked(f"q{i}", "r1") for i in range(1, 6)])
    assert sorted(case.findings for case in cases) == [(0, 2), (1,)]


def test_one_place_found_in_two_ways_is_one_case() -> None:
    findings = [finding([1], ["q1", "q2"]), finding([1, 2], ["q3", "q4"])]
    (case,) = make_cases(findings, [], weights=ONES)
    assert (case.records, case.findings) == (2, (0, 1))


def test_what_one_did_alone_is_not_laid_to_a_crowd() -> None:
    totals = [total("q1", 0, 9, "ann"), total("q2", 0, 10, "ann"), total("q3", 0, 11, "bob"), total("q4", 0, 12, "bob")]
    findings = found(*totals, k=2)
    cases = make_cases(findings, [Asked(t.query, t.user) for t in totals], totals, ONES, 2)
    assert {(case.view, case.users) for case in cases} >= {("ann", ("ann",)), ("bob", ("bob",))}
    (together,) = [case for case in cases if case.view == "everybody"]
    assert (set(together.users), together.kinds) == ({"ann", "bob"}, ("collusion",))


def test_the_gravest_comes_first_and_names_the_case() -> None:
    findings = [
        finding([1], ["q1"], severity="attempt"),
        finding([1, 2], ["q1", "q2"], severity="disclosed"),
        finding([9], ["q9"], severity="exposed"),
        finding([7, 8], ["q8"], severity="exposed"),
        finding([], ["q1"], severity="notice", kind="averaging"),
    ]
    cases = make_cases(findings, [])
    assert [case.severity for case in cases] == ["disclosed", "exposed", "exposed", "notice"]
    assert cases[0].findings == (1, 0)
    assert [case.records for case in cases[1:3]] == [2, 1]  # more people are graver
    assert cases[3].findings == (4,)  # a notice does not join what isolates somebody


def test_ids_are_those_of_the_content() -> None:
    one, other = finding([1], ["q1", "q2"]), finding([1], ["q1", "q3"])
    assert finding_id(one) == finding_id(finding([1], ["q2", "q1"], severity="disclosed"))
    assert finding_id(one) != finding_id(other)
    first = make_cases([one, finding([9], ["q9"])], [])
    second = make_cases([finding([9], ["q9"]), one], [])
    assert {case.id for case in first} == {case.id for case in second}
    assert make_cases([one, other], [])[0].id not in {case.id for case in first}


def test_times_are_compared_as_moments() -> None:
    asked = [Asked("q1", "r1", time="2026-03-02T10:00:00+01:00"), Asked("q2", "r1", time="2026-03-02T09:30:00Z")]
    (case,) = make_cases([finding([1], ["q1", "q2"])], asked)
    assert (case.first, case.last) == (asked[0].time, asked[1].time)
    (untimed,) = make_cases([finding([1], ["q1", "q2"])], [Asked("q1", "r1", time="soon"), Asked("q2", "r1")])
    assert "asked within" not in " ".join(untimed.signs)


def test_signs_of_intent() -> None:
    totals = [total("q1", 0, 9), total("q2", 0, 10), total("q3", 0, 10), total("q4", 10, 10)]
    asked = [
        Asked("q1", "r1", "age <= 9", "2026-03-02T09:00:00Z"),
        Asked("q2", "r1", "age <= 10", "2026-03-02T09:00:40Z"),
        Asked("q3", "r1", "NOT age > 10", "2026-03-02T09:01:00Z"),
        Asked("q4", "r1", "age = 10", "2026-03-02T09:01:30Z"),
    ]
    findings = [finding([10], ["q1", "q2"], totals=tuple(totals[:2])), finding([10], ["q4"], totals=(totals[3],))]
    (case,) = make_cases(findings, asked, totals, ONES, 3)
    assert case.signs == (
        "a single user",
        "1 rewording of an earlier query",
        "asked within 40 seconds",
        "1 query selects fewer than 3 records",
    )


def test_asking_the_same_again_is_no_rewording() -> None:
    totals = [total("q1", 0, 9), total("q2", 0, 10), total("q3", 0, 10)]
    asked = [Asked("q1", "r1", "a"), Asked("q2", "r1", "b"), Asked("q3", "r1", " B ")]
    (case,) = make_cases([finding([10], ["q1", "q2"], totals=tuple(totals[:2]))], asked, totals, ONES, 1)
    assert case.signs == ("a single user",)


def test_nothing_found_is_no_case() -> None:
    assert make_cases([], [Asked("q1", "r1")]) == []
