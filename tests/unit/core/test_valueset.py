"""Sets of values against plain Python sets over a universe that shows every difference there can be."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from querygate.core.valueset import Kind, ValueSet, kind_of
from tests.seeds import cases

Pair = tuple[ValueSet, frozenset[Any]]

VALUES: dict[Kind, list[Any]] = {
    "integer": [-2, 0, 1, 2, 5],
    "number": [-1.5, -5e-324, -0.0, 0.0, 5e-324, 0.1, math.nextafter(0.1, 1), 1e308],
    "text": ["", "a", "a ", "aa", "b", "é"],
}


def universe(kind: Kind) -> list[Any]:
    """The values, and at least one other on each side of every cut that they can make."""
    if kind == "integer":
        return list(range(-4, 8))
    if kind == "text":
        return sorted({text + more for text in VALUES["text"] for more in ("", "\0")})
    around = [math.nextafter(v, to) for v in VALUES["number"] for to in (-math.inf, math.inf)]
    return sorted({*VALUES["number"], *around})


@functools.cache
def sets(kind: Kind) -> st.SearchStrategy[Pair]:
    """A value set made by the product's own operations, and the same set of the universe made by Python's."""
    everything: frozenset[Any] = frozenset(universe(kind))
    value = st.sampled_from(VALUES[kind])

    def filtered(made: ValueSet, keeps: Callable[[Any], bool]) -> Pair:
        return made, frozenset(filter(keeps, everything))

    leaves = st.one_of(
        st.sampled_from([(ValueSet.everything(), everything), (ValueSet.nothing(), frozenset())]),
        value.map(lambda v: filtered(ValueSet.at_most(kind, v), lambda u: u <= v)),
        value.map(lambda v: filtered(ValueSet.below(v), lambda u: u < v)),
        st.tuples(value, value).map(
            lambda ends: filtered(ValueSet.between(kind, *ends), lambda u: ends[0] <= u <= ends[1])
        ),
        st.lists(value, max_size=5).map(lambda few: filtered(ValueSet.points(kind, few), lambda u: u in few)),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            inner.map(lambda a: (~a[0], everything - a[1])),
            st.tuples(inner, inner).map(lambda ab: (ab[0][0] & ab[1][0], ab[0][1] & ab[1][1])),
            st.tuples(inner, inner).map(lambda ab: (ab[0][0] | ab[1][0], ab[0][1] | ab[1][1])),
        ),
        max_leaves=8,
    )


ONE = st.one_of([st.tuples(st.just(kind), sets(kind)) for kind in VALUES])
TWO = st.one_of([st.tuples(sets(kind), sets(kind)) for kind in VALUES])
THREE = st.one_of([st.tuples(sets(kind), sets(kind), sets(kind)) for kind in VALUES])
CLOSED = st.one_of([st.tuples(st.just(kind), sets(kind)) for kind in ("integer", "number")])


@settings(max_examples=cases(150))
@given(ONE)
def test_it_holds_what_the_python_set_holds(case: tuple[Kind, Pair]) -> None:
    kind, (made, model) = case

    assert {value for value in universe(kind) if value in made} == model
    assert made.is_empty == (not model)
    assert made.is_everything == (model == frozenset(universe(kind)))


@settings(max_examples=cases(150))
@given(TWO)
def test_sets_are_equal_exactly_when_they_mean_the_same(case: tuple[Pair, Pair]) -> None:
    (a, a_model), (b, b_model) = case

    assert (a == b) == (a_model == b_model)
    assert (repr(a) == repr(b)) == (a_model == b_model)  # what the canonical form of a statement is made of


@settings(max_examples=cases(100))
@given(THREE)
def test_the_laws_of_the_algebra_hold_on_the_normal_form(case: tuple[Pair, Pair, Pair]) -> None:
    a, b, c = (pair[0] for pair in case)

    assert ~~a == a
    assert (a & b, a | b) == (b & a, b | a)
    assert (a & b) & c == a & (b & c)
    assert (a | b) | c == a | (b | c)
    assert a & (b | c) == (a & b) | (a & c)
    assert ~(a & b) == ~a | ~b
    assert a | (a & b) == a
    assert (a & ~a).is_empty
    assert (a | ~a).is_everything


@settings(max_examples=cases(150))
@given(CLOSED)
def test_the_pieces_are_the_set_in_rising_order_and_as_long_as_can_be(case: tuple[Kind, Pair]) -> None:
    kind, (made, model) = case
    pieces = [
        (-math.inf if low is None else low, math.inf if high is None else high) for low, high in made.intervals(kind)
    ]

    assert {u for u in universe(kind) if any(low <= u <= high for low, high in pieces)} == model
    assert all(low <= high for low, high in pieces)
    for (_, high), (low, _) in pairwise(pieces):
        step = high + 1 if kind == "integer" else math.nextafter(high, math.inf)
        assert step < low


@pytest.mark.parametrize(
    ("kind", "few", "pieces"),
    [
        ("integer", [3, 1, 2, 2], ((1, 3),)),
        ("integer", [1, 3], ((1, 1), (3, 3))),
        ("number", [0.1, math.nextafter(0.1, 1)], ((0.1, math.nextafter(0.1, 1)),)),
        ("number", [0.0, 1.0], ((0.0, 0.0), (1.0, 1.0))),
        ("integer", [], ()),
    ],
)
def test_points_that_are_neighbours_are_one_piece(kind: Kind, few: list[Any], pieces: tuple[Any, ...]) -> None:
    assert ValueSet.points(kind, few).intervals(kind) == pieces


def test_a_range_and_its_points_are_the_same_set() -> None:
    assert ValueSet.between("integer", 13, 19) == ValueSet.points("integer", range(13, 20))
    assert ValueSet.between("integer", 19, 13).is_empty


def test_nothing_lies_before_the_empty_text() -> None:
    assert ValueSet.below("").is_empty
    assert (~ValueSet.below("")).is_everything
    assert ValueSet.points("text", [""]) == ValueSet.at_most("text", "")


def test_zero_has_one_sign() -> None:
    assert repr(ValueSet.below(-0.0)) == repr(ValueSet.below(0.0))
    assert repr(ValueSet.points("number", [-0.0])) == repr(ValueSet.points("number", [0.0]))
    assert repr(ValueSet.at_most("number", -5e-324)) == repr(ValueSet.below(0.0))


def test_text_has_no_closed_pieces() -> None:
    with pytest.raises(ValueError, match="text"):
        ValueSet.at_most("text", "b").intervals("text")


def test_every_column_type_has_its_axis() -> None:
    axes = {name: kind_of(name) for name in ("integer", "date", "number", "category", "boolean")}

    assert axes == {"integer": "integer", "date": "integer", "number": "number", "category": "text", "boolean": "text"}
