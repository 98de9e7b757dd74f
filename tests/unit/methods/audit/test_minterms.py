"""Totals over places and minterms: what follows is what fractions say, and every proof holds."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from querygate.core.types import Bools
from querygate.methods.audit import Base, QueryTotal, signs_left
from querygate.methods.audit.finding_check import verify
from querygate.methods.audit.minterms import MOST_MINTERMS, make_base, name_minterms, patterns
from querygate.methods.audit.severity import make_findings
from querygate.methods.audit.small_groups import examine
from tests.each import each
from tests.seeds import seeds
from tests.unit.methods.audit.exact import in_row_space

BASE = make_base("x", {"x": (1, 1, 1), "x where a": (0, 1, 1)}, ["none", "a alone", "a and b"], sizes_known=False)
PATTERNS = [(1, 1, 1), (0, 1, 1), (1, 0, 0), (0, 0, 1)]


def some_totals(seed: int, places: int) -> list[QueryTotal]:
    """Sums over random places; in each place one of the patterns that conditions make."""
    random = np.random.default_rng(seed)
    totals = []
    for i in range(int(random.integers(2, 9))):
        chosen = random.choice([-1, -1, 0, 1, 2, 3], places) if random.random() < 0.4 else None
        one, members = PATTERNS[random.integers(4)], random.random(places) < 0.5
        parts = (
            [(one, members)]
            if chosen is None
            else [(PATTERNS[p], np.asarray(chosen == p)) for p in range(4) if (chosen == p).any()]
        )
        inside = np.logical_or.reduce([m for _, m in parts]) if parts else np.zeros(places, dtype=np.bool_)
        totals.append(QueryTotal(f"q{i}", "u", "x by place", inside, base="x", parts=tuple(parts)))
    return [total for total in totals if total.members.any()]


def rows_of(totals: list[QueryTotal]) -> list[list[int]]:
    rows = []
    for total in totals:
        row = np.zeros((len(total.members), 3), dtype=int)
        for pattern, members in total.parts:
            row[members] = pattern
        rows.append(row.reshape(-1).tolist())
    return rows


@each("seed", seeds(60))
def test_single_places_are_found_exactly_where_fractions_say(seed: int) -> None:
    places = 4
    totals = some_totals(seed, places)
    weights = {"x": np.ones(places, dtype=np.int64)}
    isolated, _, left = examine(totals, weights, 2, {"x": BASE})
    assert left == []
    found = {(one.measure, int(np.flatnonzero(one.places)[0])) for one in isolated}
    for name, pattern in BASE.measures.items():
        for place in range(places):
            target = np.zeros((places, 3), dtype=int)
            target[place] = pattern
            follows = in_row_space(rows_of(totals), target.reshape(-1).tolist())
            asked = list(BASE.measures).index(name) < BASE.asked
            assert ((name, place) in found) == follows if asked else (name, place) not in found or follows
    for finding in make_findings(isolated, {}, "u"):
        verify(finding, weights, 2, {"x": BASE})
        for measure, _, _ in finding.coefficients:
            assert set(signs_left(finding, measure)) == set(np.flatnonzero(finding.places).tolist())


def test_what_nobody_asked_for_is_told_where_it_is_news() -> None:
    """Of everybody and of those with a: that of those without follows, and is not told again."""
    both: Bools = np.array([True, True])
    one: Bools = np.array([False, True])
    totals = [
        QueryTotal("q1", "u", "x", both, base="x", parts=(((1, 1, 1), both),)),
        QueryTotal("q2", "u", "x", both, base="x", parts=(((0, 1, 1), one), ((1, 1, 1), ~one))),
    ]
    isolated, _, _ = examine(totals, {"x": np.array([9, 1])}, 2, {"x": BASE})
    assert [(i.measure, i.places.tolist()) for i in isolated] == [("x where none", [False, True])]


def test_patterns_are_few_or_none_and_begin_where_nothing_holds() -> None:
    random = np.random.default_rng(0)
    few = patterns([random.random(100) < 0.5 for _ in range(3)])
    assert few is not None
    assert (few.shape, few[0].tolist()) == ((8, 3), [False, False, False])
    assert patterns([random.random(1_000) < 0.5 for _ in range(8)]) is None
    steps = patterns([np.arange(1_000) > i for i in range(MOST_MINTERMS - 1)])
    assert steps is not None
    assert len(steps) == MOST_MINTERMS


def test_a_condition_that_holds_for_nobody_could() -> None:
    found = patterns([np.zeros(5, dtype=np.bool_)])
    assert found is not None
    assert found.tolist() == [[False], [True]]


def test_where_sizes_are_known_a_rest_is_a_complement() -> None:
    names = name_minterms(np.array([[False], [True]]), ["dx = 'hiv'"])
    base = make_base("", {"dx = 'hiv'": (0, 1)}, names, sizes_known=True)
    assert base.measures == {"dx = 'hiv'": (0, 1)}
    assert base.name((0, -1)) == ("dx = 'hiv'", -1)


def test_a_pattern_without_a_name_is_told_by_its_minterms() -> None:
    assert BASE.name((1, 1, 0)) == ("x where none + x where a alone", 1)
    assert Base({"x": (1, 1)}, 1, ("", "")).name((0, 1)) == ("", 1)


def test_beyond_the_cap_pairs_are_still_found_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    places = np.arange(12)
    totals = [QueryTotal(f"q{i}", "u", "x", places <= i) for i in range(4, 8)]
    monkeypatch.setattr(import_module("querygate.methods.audit.small_groups"), "MOST_ROWS", 3)
    isolated, _, left = examine(totals, {"x": np.ones(12, dtype=np.int64)}, 2)
    assert [int(np.flatnonzero(one.places)[0]) for one in isolated] == [5, 6, 7]
    assert ["larger combinations were not" in one.reason for one in left] == [True]
