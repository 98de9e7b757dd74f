"""Whether a disk is encrypted, told from what Linux shows of devices and mounts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from querygate.core.files import encrypted_disk
from querygate.core.files.encrypted_disk import disk_encryption
from querygate.site.health import disk_health
from querygate.site.layout import open_site
from tests.empty_site import empty_site

BELOW = {"8:1": [], "253:0": ["8:1"], "253:1": ["253:0"], "253:2": ["253:0", "8:1"], "253:3": []}
"""A plain disk, LUKS on it, a volume on LUKS, one on LUKS and on the plain disk, one on nothing."""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Block devices as under /sys, and one file system, which is that of the test's folder."""
    devices, own = tmp_path / "sys", tmp_path.stat().st_dev
    for number, under in BELOW.items():
        for one in under:
            (devices / number / "slaves" / one).mkdir(parents=True)
            (devices / number / "slaves" / one / "dev").write_text(f"{one}\n")
        (devices / number / "dm").mkdir(parents=True)
        (devices / number / "dm" / "uuid").write_text("CRYPT-LUKS2-0f\n" if number == "253:0" else "LVM-x\n")
    monkeypatch.setattr(encrypted_disk, "SYS", devices)
    monkeypatch.setattr(encrypted_disk, "MOUNTS", tmp_path / "mounts")
    monkeypatch.setattr(encrypted_disk, "_has_own_key", lambda folder: False)
    (tmp_path / "mounts").write_text(f"36 35 {os.major(own)}:{os.minor(own)} / /x rw - ext4 /dev/none rw\n")
    return tmp_path


@pytest.mark.parametrize(
    ("device", "found"),
    [("253:0", "dm-crypt"), ("253:1", "dm-crypt"), ("253:2", None), ("8:1", None), ("253:3", None), ("9:9", None)],
)
def test_a_disk_is_encrypted_if_all_below_it_is(machine: Path, device: str, found: str | None) -> None:
    own = machine.stat().st_dev
    (machine / "sys" / f"{os.major(own)}:{os.minor(own)}").symlink_to(machine / "sys" / device)
    assert disk_encryption(machine) == found


def test_some_file_systems_encrypt_by_themselves(machine: Path) -> None:
    mounts = machine / "mounts"
    mounts.write_text(mounts.read_text().replace("ext4", "fuse.gocryptfs"))
    assert disk_encryption(machine) == "gocryptfs"


def test_a_machine_that_tells_nothing_is_no_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SYS", "MOUNTS"):
        monkeypatch.setattr(encrypted_disk, name, tmp_path / "none")
    assert disk_encryption(tmp_path) in (None, "fscrypt")


def test_doctor_fails_only_where_it_is_required(machine: Path) -> None:
    site = empty_site(machine / "site")
    site.vault.mkdir(exist_ok=True)
    assert [one.ok for one in disk_health(site)] == [True, True]
    (site.folder / "querygate.toml").write_text("require_encrypted_disk = true\n")
    told = list(disk_health(open_site(site.folder)))
    assert [(one.name, one.ok) for one in told] == [("disk of control.db", False), ("disk of vault", False)]
    assert "LUKS" in told[0].remedy
