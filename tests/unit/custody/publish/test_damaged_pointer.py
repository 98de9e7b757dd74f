"""A file `current` that names no version: questions are refused with what to do, and the custodian's commands work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from querygate.cli.withdraw import explain_withdrawal
from querygate.core.errors import ConfigError
from querygate.custody.use_cases.publish_version import publish_to, retire_version, serve_version
from querygate.custody.use_cases.withdraw_dataset import withdraw_dataset
from querygate.site.health import store_health
from querygate.site.layout import open_site
from querygate.site.open_gate import OpenSite, open_gate
from tests.policies import REGISTER
from tests.unit.custody.publish.publications import copy_site, ends, new_site, write_parquet

PEOPLE: dict[str, list[Any]] = {
    "mrn": [f"m{i}" for i in range(60)],
    "age": [18 + 7 * i % 70 for i in range(60)],
    "zip": [37 * i % 1000 for i in range(60)],
    "ward": [f"w{i % 5}" for i in range(60)],
}
DAMAGES = (b"", b"x/../1", b"\xff\x00")


def publish(opened: OpenSite) -> int:
    source = str(write_parquet(opened.site.folder.parent / "source.parquet", PEOPLE))
    return publish_to(opened, REGISTER.but(k=4).parsed(), source, user="carl").version


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    opened = new_site(tmp_path_factory.mktemp("published"))
    publish(opened)
    return opened


@pytest.fixture(params=DAMAGES, ids=repr)
def opened(published: OpenSite, tmp_path: Path, request: pytest.FixtureRequest) -> OpenSite:
    """A site whose pointer was damaged while nobody had it open."""
    site = copy_site(published, tmp_path).site
    (site.store / "t" / "current").write_bytes(request.param)
    return open_gate(open_site(site.folder))


def test_a_question_is_refused_and_doctor_says_why(opened: OpenSite) -> None:
    with pytest.raises(ConfigError) as refused:
        opened.store.current("t")
    (told,) = store_health(opened)

    assert refused.value.code == "QG804"
    assert "t/current" in refused.value.detail
    assert "querygate rollback" in refused.value.remedy
    assert (told.name, told.ok, told.detail) == ("dataset t", False, refused.value.detail)


def test_the_dataset_can_be_withdrawn(opened: OpenSite) -> None:
    found = withdraw_dataset(opened, "t", user="carl")

    assert (found.version, found.versions) == (None, (1,))
    assert "querygate rollback t VERSION --reinstate" in explain_withdrawal(found)
    assert opened.store.datasets() == ()
    with pytest.raises(ConfigError, match="was withdrawn already"):
        withdraw_dataset(opened, "t", user="carl")


def test_a_version_can_be_served_again(opened: OpenSite) -> None:
    assert serve_version(opened, "t", 1, user="carl") is None
    assert ends(opened, "COUNT(*)") == (60, 60)


def test_a_new_version_takes_its_place(opened: OpenSite) -> None:
    assert publish(opened) == 2
    assert ends(opened, "COUNT(*)") == (60, 60)
    retire_version(opened, "t", 1, user="carl")
