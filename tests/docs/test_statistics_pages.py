"""The reference of statistics explains every registered one, and its table is what the registry says."""

from __future__ import annotations

import doctest
import importlib.util
from types import ModuleType

from querygate import stats
from querygate.core.registry import Registry
from tests.places import ROOT

REFERENCE = ROOT / "docs" / "reference"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_statistics", REFERENCE / "make_statistics.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make = load()
NAMES = [member.name for member in make.members()]
TEXT = make.PAGE.read_text(encoding="utf-8")


def test_every_registry_is_covered() -> None:
    registries = [getattr(stats, name) for name in stats.__all__ if isinstance(getattr(stats, name), Registry)]
    assert len(registries) >= 5
    assert sorted(NAMES) == sorted(name for registry in registries for name in registry)


def test_there_is_a_section_for_every_statistic_and_for_nothing_else() -> None:
    assert sorted(make.sections(TEXT)) == sorted(NAMES)


def test_the_table_is_up_to_date() -> None:
    assert make.page() == TEXT, "run python docs/reference/make_statistics.py"


def test_examples_are_true() -> None:
    tried = doctest.testfile(str(make.PAGE), module_relative=False)
    assert tried.failed == 0
    assert tried.attempted > 4
