"""Published versions in another folder: whole and verified, the pointer last, and nothing else of the site."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from querygate.core.errors import ConfigError
from querygate.core.files.file_digest import FileDigest, beside
from querygate.custody.use_cases.publish_version import publish_to
from querygate.custody.use_cases.sync_versions import sync_versions
from querygate.site.open_gate import OpenSite
from querygate_adapters.store.duckdb_store import DuckDBStore
from tests.api.small_site import POLICY, make_small_site

FILES = ["clinic/v00001.duckdb", "clinic/v00001.duckdb.sha256"]


@pytest.fixture
def opened(tmp_path: Path) -> OpenSite:
    return make_small_site(tmp_path).opened


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_versions_and_the_pointer_and_nothing_else(opened: OpenSite, tmp_path: Path) -> None:
    target = tmp_path / "gate" / "store"
    [done] = sync_versions(opened, target, user="carl")
    assert (done.dataset, done.copied, done.removed, done.served) == ("clinic", 1, 0, 1)
    assert names(target) == ["clinic/current", *FILES]
    assert DuckDBStore(target).current("clinic").catalog.version == 1
    assert [one.copied for one in sync_versions(opened, target, user="carl")] == [0]
    publish_to(opened, POLICY.parsed(), str(tmp_path / "clinic.csv"), user="local")
    assert [(one.copied, one.served) for one in sync_versions(opened, target, user="carl")] == [(1, 2)]


def test_what_was_changed_is_repaired_there_and_not_copied_from_here(opened: OpenSite, tmp_path: Path) -> None:
    target = tmp_path / "store"
    sync_versions(opened, target, user="carl")
    file = target / "clinic" / "v00001.duckdb"
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    (target / "clinic" / ".copied-v00001.duckdb").write_bytes(b"half")
    assert [one.copied for one in sync_versions(opened, target, user="carl")] == [1]
    assert file.read_bytes() == whole
    assert names(target) == ["clinic/current", *FILES]
    file.unlink()
    (opened.site.store / "clinic" / "v00001.duckdb").write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(ConfigError) as refused:
        sync_versions(opened, target, user="carl")
    assert refused.value.code == "QG804"
    assert names(target) == ["clinic/current", "clinic/v00001.duckdb.sha256"]


def test_what_is_gone_here_goes_there_and_the_own_store_is_no_target(opened: OpenSite, tmp_path: Path) -> None:
    target = tmp_path / "store"
    sync_versions(opened, target, user="carl")
    (target / "clinic" / "v00009.duckdb").write_bytes(b"old")
    (opened.site.store / "clinic" / "withdrawn").write_text("")
    [done] = sync_versions(opened, target, user="carl")
    assert (done.removed, done.served) == (1, None)
    (opened.site.store / "clinic" / "withdrawn").unlink()
    assert [one.served for one in sync_versions(opened, target, user="carl")] == [1]
    (tmp_path / "file").write_text("")
    for other in (opened.site.store, opened.site.folder, tmp_path / "file" / "store", Path("/proc/nowhere")):
        with pytest.raises(ConfigError) as refused:
            sync_versions(opened, other, user="carl")
        assert refused.value.code == "QG804"


@pytest.mark.parametrize(
    "change",
    [
        lambda file: file.write_bytes(file.read_bytes()[:-1] + bytes([file.read_bytes()[-1] ^ 1])),
        lambda file: file.write_bytes(file.read_bytes()[:-4096]),
        lambda file: beside(file).write_bytes(b"\xff\x00"),
        lambda file: beside(file).write_text(FileDigest("0" * 64, file.stat().st_size).text(file.name)),
        lambda file: beside(file).write_text(""),
    ],
    ids=["a bit", "cut off", "no text", "another digest", "empty"],
)
def test_a_gate_without_the_log_serves_no_file_that_is_not_the_one_beside_its_digest(
    opened: OpenSite, tmp_path: Path, change: Callable[[Path], object]
) -> None:
    target = tmp_path / "store"
    sync_versions(opened, target, user="carl")
    file = target / "clinic" / "v00001.duckdb"
    checked = subprocess.run(
        ["sha256sum", "--check", beside(file).name], cwd=file.parent, capture_output=True, text=True
    )
    assert (checked.returncode, checked.stdout) == (0, "v00001.duckdb: OK\n")
    change(file)
    with pytest.raises(ConfigError) as refused:
        DuckDBStore(target).current("clinic")
    assert refused.value.code == "QG804"
    assert "not the one that was verified" in refused.value.detail
    sync_versions(opened, target, user="carl")
    assert DuckDBStore(target).current("clinic").catalog.version == 1
    beside(file).unlink()  # as of a store that was copied by other means
    assert DuckDBStore(target).current("clinic").catalog.version == 1
