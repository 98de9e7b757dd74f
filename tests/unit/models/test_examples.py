"""The examples in the modules are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

from querygate import models

MODULES = ["querygate.models", *(f"querygate.models.{module.name}" for module in pkgutil.iter_modules(models.__path__))]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
