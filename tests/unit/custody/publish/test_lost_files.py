"""A version whose file was lost: its number, its raw rows and the comparison with it stay until it is retired."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from querygate.control.log.archive_rotation import rotate
from querygate.control.log.signature import load_key
from querygate.core.errors import ConfigError
from querygate.custody.publish.publish import Report
from querygate.custody.use_cases.delete_person import delete_from
from querygate.custody.use_cases.publish_version import publish_to, retire_version, serve_version
from querygate.custody.use_cases.withdraw_dataset import erase_rows
from querygate.site.open_gate import OpenSite
from tests.policies import REGISTER
from tests.unit.custody.publish.publications import copy_site, ends, new_site, write_parquet

POLICY = REGISTER.but(k=4)
PEOPLE: dict[str, list[Any]] = {
    "mrn": [f"m{i}" for i in range(60)],
    "age": [18 + 7 * i % 70 for i in range(60)],
    "zip": [37 * i % 1000 for i in range(60)],
    "ward": [f"w{i % 5}" for i in range(60)],
}
ONE_CHANGED = PEOPLE | {"ward": [*PEOPLE["ward"][:-1], "w0"]}


def publish(opened: OpenSite, columns: dict[str, list[Any]], **more: Any) -> Report:
    source = str(write_parquet(opened.site.folder.parent / "source.parquet", columns))
    return publish_to(opened, POLICY.parsed(), source, user="carl", **more)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    opened = new_site(tmp_path_factory.mktemp("published"))
    publish(opened, PEOPLE)
    return opened


@pytest.fixture
def opened(published: OpenSite, tmp_path: Path) -> OpenSite:
    return copy_site(published, tmp_path)


def lose_file(opened: OpenSite) -> None:
    (opened.site.store / "t" / "v00001.duckdb").unlink()


def lose_folder(opened: OpenSite) -> None:
    shutil.rmtree(opened.site.store / "t")


def lose_rows(opened: OpenSite) -> None:
    shutil.rmtree(opened.site.vault / "t")


def lose_everything(opened: OpenSite) -> None:
    lose_folder(opened)
    lose_rows(opened)


def refusal(attempt: Callable[[], object], code: str) -> ConfigError:
    with pytest.raises(ConfigError) as found:
        attempt()
    assert found.value.code == code
    return found.value


def digest(opened: OpenSite) -> str:
    return hashlib.sha256((opened.site.vault / "t" / "v00001.duckdb").read_bytes()).hexdigest()


either = pytest.mark.parametrize("lose", [lose_file, lose_folder])


@either
def test_a_lost_version_is_compared_with_from_its_raw_rows(opened: OpenSite, lose: Callable[[OpenSite], None]) -> None:
    rows = digest(opened)
    lose(opened)
    assert "version 1" in refusal(lambda: publish(opened, ONE_CHANGED), "QG803").remedy
    report = publish(opened, PEOPLE)
    assert report.version == 2
    assert report.versions is not None
    assert list(report.versions.by_version) == [1]
    assert digest(opened) == rows


@either
def test_a_lost_version_is_retired_as_the_refusal_says(opened: OpenSite, lose: Callable[[OpenSite], None]) -> None:
    rows = digest(opened)
    lose(opened)
    retire_version(opened, "t", 1, user="carl")
    assert "retired" in refusal(lambda: retire_version(opened, "t", 1, user="carl"), "QG804").detail
    assert opened.store.datasets() == ()
    assert publish(opened, ONE_CHANGED).version == 2
    assert digest(opened) == rows
    assert ends(opened, "COUNT(*)") == (60, 60)
    assert [e["body"] for e in opened.log.events() if e["kind"] == "version.retire"] == [{"version": 1, "by": None}]
    erase_rows(opened, "t", [1], user="carl")


@either
def test_a_lost_version_gives_way_where_that_is_asked(opened: OpenSite, lose: Callable[[OpenSite], None]) -> None:
    lose(opened)
    report = publish(opened, ONE_CHANGED, on_overlap="retire")
    assert report.version == 2
    assert report.versions is not None
    assert report.versions.retired == (1,)


def test_a_version_of_which_only_the_log_knows_is_refused_until_it_is_retired(opened: OpenSite) -> None:
    lose_everything(opened)
    error = refusal(lambda: publish(opened, ONE_CHANGED), "QG803")
    assert "querygate retire t 1" in error.remedy
    retire_version(opened, "t", 1, user="carl")
    assert publish(opened, ONE_CHANGED).version == 2
    lose_everything(opened)
    retire_version(opened, "t", 2, user="carl")
    assert publish(opened, PEOPLE).version == 3  # what the log has as retired stays retired, and its number taken


def test_an_archive_of_the_log_tells_of_versions_and_one_that_is_lost_stops_nobody(opened: OpenSite) -> None:
    [archive] = rotate(opened.log, load_key(opened.site.folder), timedelta(0), user="carl")
    lose_everything(opened)
    refusal(lambda: publish(opened, ONE_CHANGED), "QG803")
    retire_version(opened, "t", 1, user="carl")
    assert publish(opened, ONE_CHANGED).version == 2
    opened.log.archives.path(archive).unlink()
    assert publish(opened, ONE_CHANGED).version == 3


def test_a_lost_version_that_is_served_gives_way_to_one_that_is_there(opened: OpenSite) -> None:
    publish(opened, PEOPLE)
    serve_version(opened, "t", 1, user="carl")
    lose_file(opened)
    refusal(lambda: retire_version(opened, "t", 1, user="carl"), "QG804")
    serve_version(opened, "t", 2, user="carl")
    assert "lost" in refusal(lambda: serve_version(opened, "t", 1, user="carl"), "QG804").detail
    retire_version(opened, "t", 1, user="carl")
    assert opened.store.current("t").catalog.version == 2


def test_another_version_is_retired_while_the_served_one_is_lost(opened: OpenSite) -> None:
    publish(opened, PEOPLE)
    (opened.site.store / "t" / "v00002.duckdb").unlink()
    retire_version(opened, "t", 1, user="carl")
    assert opened.store.versions("t") == ()
    retire_version(opened, "t", 2, user="carl")
    assert publish(opened, ONE_CHANGED).version == 3


@either
def test_a_person_is_deleted_from_a_lost_version(opened: OpenSite, lose: Callable[[OpenSite], None]) -> None:
    lose(opened)
    assert delete_from(opened, POLICY.parsed(), "m17", user="carl").retired == (1,)


@pytest.mark.parametrize("version", [2, 7])
def test_what_never_was_cannot_be_retired(opened: OpenSite, version: int) -> None:
    lose_file(opened)
    assert "does not exist" in refusal(lambda: retire_version(opened, "t", version, user="carl"), "QG804").detail
