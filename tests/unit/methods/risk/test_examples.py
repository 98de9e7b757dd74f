"""The examples in the modules and on the page say what happens."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

from querygate.methods import risk
from tests.places import ROOT

PAGE = ROOT / "docs" / "explanation" / "extract-risk.md"


@pytest.mark.parametrize("name", ["", *(f".{module.name}" for module in pkgutil.iter_modules(risk.__path__))])
def test_examples_of_a_module(name: str) -> None:
    assert doctest.testmod(importlib.import_module(f"querygate.methods.risk{name}")).failed == 0


def test_examples_of_the_page() -> None:
    tried = doctest.testfile(str(PAGE), module_relative=False)
    assert tried.failed == 0
    assert tried.attempted > 5


def test_everything_public_is_there() -> None:
    assert all(hasattr(risk, name) for name in risk.__all__)
