"""The examples in the modules are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

from querygate.methods import model_fit

MODULES = [
    "querygate.methods.model_fit",
    *(f"querygate.methods.model_fit.{module.name}" for module in pkgutil.iter_modules(model_fit.__path__)),
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
