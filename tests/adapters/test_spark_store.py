"""A store for Spark: that a copy is whole or not there at all, what is served, and what is said of damaged files."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from querygate.core.errors import ConfigError, NotPermitted
from querygate.custody.publish.republication_guard import VersionHandling
from querygate.custody.use_cases.copy_store import StoreCopy, copy_store
from querygate.custody.use_cases.withdraw_dataset import withdraw_dataset
from querygate.site.open_gate import OpenSite
from querygate.site.settings import Settings
from querygate_adapters.store.spark_session import is_alive
from querygate_adapters.store.spark_store import SparkRelease, SparkStore, version_folder
from querygate_adapters.vault.spark import spark_writer
from tests.adapters.test_postgres_store import NEW, OLD, POLICY, SQL
from tests.spark import MARKS, begin, session
from tests.unit.custody.publish.publications import ask, new_site, put

pytestmark = MARKS


@pytest.fixture
def opened(tmp_path: Path) -> OpenSite:
    begin()
    made = new_site(tmp_path)
    put(made, POLICY, OLD)
    return made


def test_versions_come_over_and_the_pointer_follows(opened: OpenSite, tmp_path: Path) -> None:
    to = f"spark:{tmp_path}/for spark"
    store = SparkStore(to)
    assert store.datasets() == ()
    assert copy_store(opened, to, user="tester") == (StoreCopy("t", (1,), 1),)
    served = replace(opened, gate=replace(opened.gate, store=store))
    assert ask(served, SQL) == ask(opened, SQL)
    put(opened, POLICY, NEW, handling=VersionHandling("retire"))
    assert copy_store(opened, to, user="tester") == (StoreCopy("t", (2,), 2),)

    assert (store.datasets(), store.versions("t"), store.current("t").catalog.version) == (("t",), (2,), 2)
    assert ask(served, SQL) == ask(opened, SQL)
    withdraw_dataset(opened, "t", user="carl")
    assert copy_store(opened, to, user="tester") == (StoreCopy("t", (), None),)
    with pytest.raises(NotPermitted) as refused:
        store.current("t")
    assert (refused.value.code, store.datasets()) == ("QG312", ())


def test_a_dataset_that_is_not_there(opened: OpenSite, tmp_path: Path) -> None:
    store = SparkStore(f"spark:{tmp_path}")
    for attempt in (lambda: store.current("none"), lambda: store.current("x'; --"), lambda: store.versions("../t")):
        with pytest.raises(NotPermitted) as refused:
            attempt()
        assert refused.value.code == "QG303"


def test_a_copy_that_differs_is_not_kept(opened: OpenSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(SparkRelease):
        """What was written has one record more."""

        def project(self, *given, **more):  # type: ignore[no-untyped-def]
            block = super().project(*given, **more)
            return replace(block, n=block.n + 1)

    monkeypatch.setattr(spark_writer, "SparkRelease", Wrong)
    with pytest.raises(ConfigError, match="differ from what was written"):
        copy_store(opened, f"spark:{tmp_path}/s", user="tester")
    assert sorted(path.name for path in (tmp_path / "s" / "t").iterdir()) == ["lock"]


def test_damage_is_told_without_what_is_in_the_files(opened: OpenSite, tmp_path: Path) -> None:
    copy_store(opened, f"spark:{tmp_path}/s", user="tester")
    cells = version_folder(tmp_path / "s" / "t", 1) / "cells.parquet"
    cells.write_bytes(b"SECRET" * 1000)
    for attempt in range(2):
        store = SparkStore(f"spark:{tmp_path}/s")
        with pytest.raises(ConfigError) as told:
            ask(replace(opened, gate=replace(opened.gate, store=store)), SQL.replace("AVG(age)", f"{attempt}"))
        assert told.value.code == "QG804"
        assert "SECRET" not in str(told.value)
        (cells.parent / "value_text.parquet").unlink(missing_ok=True)


def test_a_child_does_not_use_the_application_of_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    found = session()
    assert is_alive(found)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert not is_alive(found)


def test_a_location_is_a_folder_for_all() -> None:
    with pytest.raises(ConfigError) as told:
        SparkStore("spark:store")
    assert told.value.code == "QG805"
    assert Settings({"store": "spark:/srv/querygate"}).shown("store") == "spark:/srv/querygate"
