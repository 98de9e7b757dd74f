"""The examples in the modules and on the page say what happens."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

from querygate import instance

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "same-disease.md"


@pytest.mark.parametrize("name", ["", *(f".{module.name}" for module in pkgutil.iter_modules(instance.__path__))])
def test_examples_of_a_module(name: str) -> None:
    assert doctest.testmod(importlib.import_module(f"querygate.instance{name}")).failed == 0


def test_examples_of_the_page() -> None:
    tried = doctest.testfile(str(PAGE), module_relative=False)
    assert tried.failed == 0
    assert tried.attempted > 5


def test_everything_public_is_there() -> None:
    assert all(hasattr(instance, name) for name in instance.__all__)
