"""Headline figures of the literature beside ours: `make bench ONLY=literature`.

A file of this folder is a topic. Its `rows()` gives lines of the table, each made by `figure`: what was measured here,
what was published, and whether it was reproduced or why not. New files are found by themselves.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from tests.report import row


def figure(name: str, value: float, unit: str, published: str, *, met: bool | None = None) -> dict[str, Any]:
    """One line: `published` is the figure of the paper and its data; `met` says whether it holds here, None: not
    comparable.
    """
    return row(name, value, unit, f"published: {published}", met=met)


def run() -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    for name in sorted(module.name for module in pkgutil.iter_modules(__path__)):
        print(f"  {name} ...", flush=True)
        lines += importlib.import_module(f"{__name__}.{name}").rows()
    return lines
