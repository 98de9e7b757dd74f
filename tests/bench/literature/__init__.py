"""The headline figures of the literature beside ours, one module for each paper or method."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any


def run() -> list[dict[str, Any]]:
    """The rows of every module here."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return [line for name in names for line in importlib.import_module(f"{__name__}.{name}").run()]
