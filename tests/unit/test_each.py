"""Many cases in one test are all tried, and each that fails is told."""

from __future__ import annotations

import inspect

import pytest

from tests.each import each


def test_every_case_is_tried_and_every_failure_is_told() -> None:
    seen = []

    @each("a, b", [(1, 1), (1, 2), (2, 2), (2, 3)])
    def same(a: int, b: int, fixture: str) -> None:
        seen.append((a, b, fixture))
        assert a == b

    assert list(inspect.signature(same).parameters) == ["fixture"]
    with pytest.raises(ExceptionGroup, match=r"2 of 4 cases of a, b: \(1, 2\), \(2, 3\)") as failed:
        same(fixture="x")
    assert seen == [(1, 1, "x"), (1, 2, "x"), (2, 2, "x"), (2, 3, "x")]
    assert [error.__notes__ for error in failed.value.exceptions] == [["a, b = (1, 2)"], ["a, b = (2, 3)"]]


@pytest.mark.parametrize("more", [0, 1])
@each("n", range(3))
@each("m", [4, 5])
def test_it_goes_with_others(n: int, m: int, more: int) -> None:
    assert n + more < m


def test_nothing_to_try_is_a_mistake() -> None:
    with pytest.raises(AssertionError, match="no case"):
        each("n", [])
