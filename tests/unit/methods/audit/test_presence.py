"""How many people a group has is told by the answers, or not at all: what the auditor knows of it tells nobody."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from querygate.methods.audit import PRESENCE, Domain, QueryTotal
from querygate.methods.audit.severity import infer, severity_of
from querygate.methods.audit.small_groups import IsolatedGroup
from tests.each import each

DOMAINS = {PRESENCE: Domain(Fraction(1), Fraction(1), whole=True, public=True)}


def total(query: str, low: int, high: int) -> QueryTotal:
    members = np.ones(3, dtype=bool)
    return QueryTotal(query, "ada", PRESENCE, members, low=Fraction(low), high=Fraction(high), said=f"[{low}, {high}]")


@each(
    "first, second, expected",
    [((120, 120), (103, 120), (0, 17)), ((120, 120), (113, 113), (7, 7)), ((100, 130), (103, 120), (0, 27))],
)
def test_a_difference_of_counts_is_as_wide_as_its_answers(
    first: tuple[int, int], second: tuple[int, int], expected: tuple[int, int]
) -> None:
    parts = ((total("q1", *first), Fraction(1)), (total("q2", *second), Fraction(-1)))
    group = IsolatedGroup(PRESENCE, np.array([True, False, False]), 7, parts)
    found = infer(group, DOMAINS)
    assert (found.low, found.high) == expected
    assert severity_of([found], 7, DOMAINS) == ("exposed" if found.low == found.high else "attempt")
