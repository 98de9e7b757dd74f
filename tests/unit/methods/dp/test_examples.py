"""The examples in the modules are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

from querygate.methods import dp

MODULES = [
    "querygate.methods.dp",
    *(f"querygate.methods.dp.{module.name}" for module in pkgutil.iter_modules(dp.__path__)),
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
