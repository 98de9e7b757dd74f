"""Every example in the engine is true."""

from __future__ import annotations

import doctest
import importlib

import pytest

MODULES = ["numerics", "largest_mean", "variance.welford"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_are_true(name: str) -> None:
    found = doctest.testmod(importlib.import_module(f"querygate.stats.{name}"))
    assert found.attempted > 0
    assert found.failed == 0
