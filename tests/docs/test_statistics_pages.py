"""Every registered statistic has a page that explains it, and what pages say of the registry is what it says."""

from __future__ import annotations

import doctest
import importlib.util
from types import ModuleType

import pytest

from querygate import stats
from querygate.core.registry import Registry
from tests.places import ROOT

FOLDER = ROOT / "docs" / "reference" / "statistics"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("statistics_pages", FOLDER / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make = load()
MEMBERS = {member.name: member for member in make.members()}


@pytest.mark.parametrize("name", list(MEMBERS))
def test_every_statistic_has_a_page(name: str) -> None:
    page = FOLDER / f"{name}.md"
    assert page.exists(), f"write {page.relative_to(ROOT)}"
    text = page.read_text(encoding="utf-8")
    assert text.startswith(make.head(MEMBERS[name])), "run python docs/reference/statistics/make.py"
    parts = text.split("\n## ")
    assert [f"## {part.splitlines()[0]}" for part in parts[1:]] == list(make.SECTIONS)
    assert all(part.partition("\n")[2].strip() for part in parts[1:])


@pytest.mark.parametrize("name", list(MEMBERS))
def test_examples_on_pages_are_true(name: str) -> None:
    assert doctest.testfile(str(FOLDER / f"{name}.md"), module_relative=False).failed == 0


def test_every_registry_is_covered_and_every_statistic_can_be_called() -> None:
    registries = [getattr(stats, name) for name in stats.__all__ if isinstance(getattr(stats, name), Registry)]
    assert len(registries) >= 5
    assert set(MEMBERS) == {name for registry in registries for name in registry}
    assert all(make._call(member).startswith("stats.") for member in MEMBERS.values())


def test_every_page_has_a_statistic() -> None:
    assert {page.stem for page in FOLDER.glob("*.md")} == {*MEMBERS, "index"}


def test_the_index_is_up_to_date() -> None:
    assert (FOLDER / "index.md").read_text(encoding="utf-8") == make.index(MEMBERS.values())
    assert all(make.sharpness(name) for name in MEMBERS)
