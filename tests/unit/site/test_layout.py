"""The folders of a site: made once, closed to others, and opened only where they are one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from querygate.core.errors import ConfigError
from querygate.site.layout import init_site, open_site
from querygate.site.settings import FILE, SETTINGS, load_settings


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_new_site(tmp_path: Path) -> None:
    site = init_site(tmp_path / "deep" / "down" / "site")

    assert site.folder.is_dir()
    assert (site.store, site.vault, site.control) == tuple(
        site.folder / name for name in ("store", "vault", "control.db")
    )
    assert [mode(path) for path in (site.folder, site.store, site.vault)] == [0o700] * 3
    assert sorted(path.name for path in site.folder.iterdir()) == [
        "control.db",
        "log.key",
        "log.pub",
        FILE,
        "store",
        "vault",
    ]
    assert mode(site.folder / "log.key") == 0o600
    assert open_site(site.folder) == site


def test_a_folder_that_is_there_may_become_a_site(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "notes.txt").write_text("mine")
    site = init_site(tmp_path)

    assert mode(site.folder) == 0o700
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_site_is_not_made_twice(tmp_path: Path) -> None:
    site = init_site(tmp_path)
    (site.folder / FILE).write_text("port = 8181")
    with pytest.raises(ConfigError) as refused:
        init_site(tmp_path)

    assert refused.value.code == "QG804"
    assert open_site(tmp_path).settings["port"] == 8181


@pytest.mark.parametrize("name", ["none", "empty", "file"])
def test_what_is_no_site_is_not_opened(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError) as refused:
        open_site(tmp_path / name)

    assert refused.value.code == "QG804"
    assert "querygate init" in refused.value.remedy


def test_the_first_file_shows_every_setting_and_changes_none(tmp_path: Path) -> None:
    text = (init_site(tmp_path).folder / FILE).read_text(encoding="utf-8")

    assert set(load_settings(tmp_path, {}).origin.values()) == {"default"}
    assert all(f"# {setting.help}" in text for setting in SETTINGS)


def test_the_first_file_can_be_uncommented_line_by_line(tmp_path: Path) -> None:
    path = init_site(tmp_path).folder / FILE
    path.write_text(re.sub(r"(?m)^# (\w+ = )", r"\1", path.read_text(encoding="utf-8")), encoding="utf-8")
    settings = load_settings(tmp_path, {})

    assert set(settings.origin.values()) == {"file"}
    assert dict(settings.values) == {setting.name: setting.default for setting in SETTINGS}


def test_the_environment_reaches_a_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    init_site(tmp_path)
    monkeypatch.setenv("QUERYGATE_MAX_GROUPS", "3")

    assert open_site(tmp_path).settings.limits.max_groups == 3
