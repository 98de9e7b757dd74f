"""One registry for every seam: a name is taken once, and who asks for a wrong one learns the right ones."""

from __future__ import annotations

import pytest

from querygate.core.registry import Registry


@pytest.fixture
def colours() -> Registry[int]:
    made: Registry[int] = Registry("colour")
    made.register("red", 1)
    made.register("blue", 2)
    return made


def test_members_are_found_by_name_in_order_of_registration(colours: Registry[int]) -> None:
    assert colours.get("blue") == 2
    assert colours.names() == tuple(colours) == ("red", "blue")
    assert "red" in colours
    assert "green" not in colours


def test_register_returns_its_member(colours: Registry[int]) -> None:
    assert colours.register("green", 3) == 3


def test_a_name_is_taken_once(colours: Registry[int]) -> None:
    with pytest.raises(ValueError, match="colour 'red' is already registered"):
        colours.register("red", 7)
    assert colours.get("red") == 1


def test_an_unknown_name_lists_what_there_is(colours: Registry[int]) -> None:
    with pytest.raises(KeyError, match="no colour 'green'; registered: red, blue"):
        colours.get("green")
