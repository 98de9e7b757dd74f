"""From values to codes: each value lies in the interval of its code, and cuts begin one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import Profile
from querygate.custody.columns.value_codes import NumberCodes, bin_codes, check_values, exact_codes, grid_codes
from querygate.custody.policy import ColumnPolicy


def profile(values: list[Any], kind: Any = None) -> Profile:
    return Profile(np.array(values, dtype=kind), np.arange(1, len(values) + 1, dtype=np.int64), 0)


def check_lands(codes: NumberCodes, values: Any) -> None:
    places = codes.of(values)

    assert (codes.low[places] <= values).all()
    assert (values <= codes.high[places]).all()
    assert (codes.low <= codes.high).all()
    assert (codes.high[:-1] < codes.low[1:]).all()  # so no value has two codes


@given(st.integers(-50, 50), st.integers(1, 90), st.integers(1, 9), st.lists(st.integers(-49, 139), max_size=3))
def test_every_whole_number_of_the_domain_has_its_code(low: int, width: int, grid: int, points: list[int]) -> None:
    high = low + width
    cuts = tuple(sorted({point for point in points if low < point < high}))
    column = ColumnPolicy("x", "quasi-identifier", "integer", low=low, high=high, grid=grid, cuts=cuts)
    codes = grid_codes(column)

    check_lands(codes, np.arange(low, high + 1))
    assert (codes.low[0], codes.high[-1]) == (low, high)
    assert (codes.low[1:] == codes.high[:-1] + 1).all()
    assert codes.low.dtype == codes.high.dtype == np.int64
    assert [codes.low[c] for c in codes.cuts(cuts)] == list(cuts)


@given(st.floats(-1e6, 1e6), st.floats(0.5, 1e6), st.floats(0, 1))
def test_every_number_of_the_domain_has_its_code(low: float, width: float, share: float) -> None:
    column = ColumnPolicy("x", "sensitive", "number", low=low, high=low + width, bins=width / 7)
    codes = bin_codes(column)
    edges = np.concatenate([codes.low, codes.high])
    around = np.concatenate(
        [edges, np.nextafter(edges, -math.inf), np.nextafter(edges, math.inf), [low + share * width]]
    )

    check_lands(codes, np.clip(around, column.low, column.high))
    assert (codes.low[0], codes.high[-1]) == (column.low, column.high)
    assert (codes.low[1:] == np.nextafter(codes.high[:-1], math.inf)).all()  # no double between two bins


@pytest.mark.parametrize(
    ("kind", "values"), [("integer", [-3, 0, 7]), ("number", [-0.5, 0.1, 2.0]), ("date", [0, 18321])]
)
def test_tight_codes_are_the_values(kind: Any, values: list[Any]) -> None:
    codes = exact_codes(ColumnPolicy("x", "public", kind), profile(values))

    assert codes.low.tolist() == codes.high.tolist() == values
    assert codes.of(np.array(values)).tolist() == list(range(len(values)))
    check_lands(codes, np.array(values))


@pytest.mark.parametrize(
    ("points", "cuts"), [((), ()), ((20,), (2,)), ((15,), (2,)), ((0, 5), (1,)), ((99,), ()), ((20, 18, 30), (2, 3))]
)
def test_a_cut_is_the_first_code_at_or_after_it_with_something_on_both_sides(
    points: tuple[int, ...], cuts: tuple[int, ...]
) -> None:
    codes = NumberCodes(np.array([0, 10, 20, 30]), np.array([9, 19, 29, 39]))

    assert codes.cuts(points) == cuts


# -- what may be in the data -------------------------------------------------------------------------------------

AGE = ColumnPolicy("age", "quasi-identifier", "integer", low=0, high=120)
SEX = ColumnPolicy("sex", "quasi-identifier", "category", values=("F", "M"))
FREE = ColumnPolicy("city", "quasi-identifier", "category")


@pytest.mark.parametrize(
    ("column", "found"),
    [
        (AGE, profile([0, 60, 120])),
        (AGE, profile([], np.int64)),
        (SEX, profile(["F"], object)),
        (SEX, profile([], object)),
    ],
)
def test_values_that_the_policy_declares_pass(column: ColumnPolicy, found: Profile) -> None:
    assert check_values(column, found) is None


def test_a_column_that_declares_nothing_takes_everything() -> None:
    assert check_values(FREE, profile(["Graz", "Wien"], object)) is None


@pytest.mark.parametrize(
    ("column", "found", "detail"),
    [
        (AGE, profile([-1, 0, 121, 999]), "Column age: 8 values lie outside its domain."),
        (SEX, profile(["F", "secret", "X"], object), "Column sex: 5 values are not among its declared values."),
    ],
)
def test_others_are_counted_and_never_quoted(column: ColumnPolicy, found: Profile, detail: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_values(column, found)

    assert caught.value.code == "QG802"
    assert caught.value.detail == detail
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("values", "named"), [([0, 999], True), ([-9, -1, 60, 999], True), ([121, 122, 123, 124], False)]
)
def test_few_different_values_outside_may_be_codes(values: list[int], named: bool) -> None:
    with pytest.raises(ConfigError) as caught:
        check_values(AGE, profile(values))
    assert ("`absent`" in caught.value.remedy) == named
    assert not any(str(value) in caught.value.remedy for value in values if value > 99)
