"""Rows in a folder of Parquet: a pointer and its folder come and go together, whatever was stopped in between."""

from __future__ import annotations

from pathlib import Path

import pytest

from querygate.core.errors import ConfigError
from querygate.site.health import files_health
from querygate_adapters.store.duckdb_store import version_file
from querygate_adapters.store.vault_pointer import pointed_in, pointer_file
from querygate_adapters.vault.spark.parquet_vault import ParquetVault, vault_folder
from tests.each import each
from tests.policies import AGE, SBP, make_policy
from tests.unit.custody.publish.publications import new_site, put, shelf_of

POLICY = make_policy("t", {"age": AGE, "sbp": SBP}, k=2)
ROWS = {"age": [1, 1, 2, 2], "sbp": [100, 110, 120, 130]}


def folders(root: Path) -> list[str]:
    return [path.name for path in (root / "t").iterdir()]


def begun(folder: Path, vault: Path, version: int) -> tuple[ParquetVault, Path]:
    """A version in the making, as it is staged."""
    staged = vault / f"staged-{pointer_file(vault, version).name}"
    made = ParquetVault.begun(folder / "spark", "t", version, staged)
    for place in (made.rows, made.classes, made.making):
        place.mkdir()
        (place / "part-0.parquet").write_text("rows")
    return made, staged


@each("location", ["", "/data", "spark:data", "spark:#t", "spark:/data/*", "postgresql://h/d", "spark:/a{b"])
def test_a_location_is_a_folder_that_all_see(location: str) -> None:
    with pytest.raises(ConfigError) as refused:
        vault_folder(location)
    assert refused.value.code == "QG804"


def test_what_was_stopped_is_removed_and_what_is_in_place_stays(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    put(opened, POLICY, ROWS)
    store, vault = opened.site.store / "t", opened.site.vault / "t"
    begun(tmp_path, vault, 2)
    assert len(folders(tmp_path / "spark")) == 1
    put(opened, POLICY, ROWS)  # whatever comes next clears up
    assert folders(tmp_path / "spark") == []

    made, staged = begun(tmp_path, vault, 3)
    made.settle()
    assert not made.making.exists()
    pointer_file(vault, 3).hardlink_to(staged)  # stopped before the cells were in place
    put(opened, POLICY, ROWS)
    assert (folders(tmp_path / "spark"), pointed_in(vault)) == ([], ())

    made, staged = begun(tmp_path, vault, 4)
    pointer_file(vault, 4).hardlink_to(staged)  # stopped afterwards
    version_file(store, 4).write_bytes(version_file(store, 3).read_bytes())
    put(opened, POLICY, ROWS)
    assert (folders(tmp_path / "spark"), pointed_in(vault)) == ([made.folder.name], (4,))
    assert shelf_of(opened).in_vault("t") == (1, 2, 3, 4, 5)
    assert all(found.ok for found in files_health(opened.site))


def test_rows_are_erased_with_their_folder_or_not_at_all(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    put(opened, POLICY, ROWS)
    put(opened, POLICY, ROWS)
    vault = opened.site.vault / "t"
    made, staged = begun(tmp_path, vault, 1)
    staged.rename(pointer_file(vault, 1))
    version_file(vault, 1).unlink()
    shelf = shelf_of(opened)
    for refused_call in (
        lambda: put(opened, POLICY, ROWS, handling=None),
        lambda: shelf.holding("t", ("age", "1")),
        lambda: shelf.remove("t", ("age", "1")),
    ):
        with pytest.raises(ConfigError, match="in Spark") as refused:
            refused_call()
        assert refused.value.code in ("QG803", "QG804")
    assert all(found.ok for found in files_health(opened.site))
    shelf.retire("t", 1)
    made.folder.parent.rename(tmp_path / "away")
    with pytest.raises(ConfigError, match="cannot be reached"):
        shelf.erase("t", [1])
    assert pointed_in(vault) == (1,)
    assert ["cannot be reached" in found.detail for found in files_health(opened.site)] == [True]
    (tmp_path / "away").rename(made.folder.parent)
    shelf.erase("t", [1])
    assert (folders(tmp_path / "spark"), pointed_in(vault)) == ([], ())
