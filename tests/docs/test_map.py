"""The map of modules is what the modules say, and every module says something."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def _maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_map", REFERENCE / "make_map.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_map_is_up_to_date() -> None:
    assert _maker().page() == (REFERENCE / "map.md").read_text(), "run python docs/reference/make_map.py"


def test_every_module_says_what_it_holds() -> None:
    make = _maker()
    assert not [path for _, modules in make.rooms() for path in modules if not make.told(path)]
