"""A site in one folder or one archive, complete and checked: `querygate backup` makes it, `querygate restore` reads it.

    backup.json      when, by which version, where the log ends, and every file with its size and SHA-256
    control.db       one consistent state, by SQLite's own backup
    logs/            archives of the log, copied after control.db: an archive is there before the database names it
    querygate.toml, log.key, log.pub, store/, extracts/, sealed.keys: what is encrypted stays so
    vault/           only where it was asked for: it is raw data

A backup is a site by itself: the folder can be served as it is. Marks of how far the log has come stay outside, for
they must not be set back.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tarfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from querygate.control import Log
from querygate.control.ids import stamp_now
from querygate.control.schema import MIGRATIONS
from querygate.core.errors import ConfigError
from querygate.core.files.file_digest import FileDigest
from querygate.core.files.private_files import for_owner
from querygate.site.control_database import has_moved, open_control
from querygate.site.layout import Site
from querygate.site.open_gate import now

MANIFEST = "backup.json"
PARTS = ("logs", "querygate.toml", "log.key", "log.pub", "store", "extracts", "sealed.keys")
VAULT = "vault"
ARCHIVES = (".tar", ".tar.gz", ".tgz")


@dataclass(frozen=True, slots=True)
class BackupFile:
    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Backup:
    """What a manifest says. `schema` counts the migrations that control.db has had."""

    made: str
    querygate: str
    schema: int
    entries: int
    head: str
    vault: bool
    files: tuple[BackupFile, ...]


# -- making --------------------------------------------------------------------------------------------------------


def make_backup(site: Site, to: Path, *, vault: bool = False) -> Backup:
    """Copy the site into a new folder or, by its name, a new archive. Nobody has to stop for it."""
    if to.exists():
        raise ConfigError("QG804", f"{to} already exists, and nothing is overwritten.", "Choose another name.")
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise ConfigError(
            "QG804", f"The folder of {to} cannot be made.", "Choose a place that you may write to."
        ) from None
    with TemporaryDirectory(prefix=f".{to.name}.", dir=to.parent) as scratch:
        staged = Path(scratch) / to.name.partition(".")[0]
        staged.mkdir(mode=0o700)
        made = _fill(site, staged, vault=vault)
        if is_archive(to):
            packed = Path(scratch) / "packed"
            with open(packed, "wb", opener=for_owner) as stream:
                mode = "w:" if to.name.endswith(".tar") else "w:gz"
                with tarfile.open(fileobj=stream, mode=mode) as archive:  # type: ignore[call-overload]
                    archive.add(staged, arcname="backup")
                stream.flush()
                os.fsync(stream.fileno())
            packed.rename(to)
        else:
            staged.rename(to)
    return made


def is_archive(path: Path) -> bool:
    return path.name.endswith(ARCHIVES)


def _fill(site: Site, folder: Path, *, vault: bool) -> Backup:
    schema, entries, head = _copy_control(site, folder / "control.db")
    for part in (*PARTS, *([VAULT] if vault else [])):
        _copy(site.folder / part, folder / part)
    for path in ("store", "vault"):
        (folder / path).mkdir(mode=0o700, exist_ok=True)
    files = tuple(_files(folder))
    made = Backup(stamp_now(now), version("querygate"), schema, entries, head, vault, files)
    with open(folder / MANIFEST, "w", encoding="utf-8", opener=for_owner) as stream:
        json.dump(asdict(made), stream, indent=1)
    return made


def _copy_control(site: Site, target: Path) -> tuple[int, int, str]:
    """Of a control database on a server, which its operators back up, only how far its log had come."""
    if not has_moved(site):
        return _copy_database(site.control, target)
    database = open_control(site)
    head = Log(database, now).head()
    database.close()
    return len(MIGRATIONS), head.entries, head.head


def _copy_database(source: Path, target: Path) -> tuple[int, int, str]:
    """The database as it is at one moment; returns its migrations, and the number and hash of its last entry. It is not
    brought up to date: a backup made before an upgrade is the way back."""
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    here = f"{source.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(here, uri=True)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)
        new.execute("PRAGMA journal_mode = DELETE")  # one file, complete by itself
        schema = int(new.execute("PRAGMA user_version").fetchone()[0])
        last = new.execute("SELECT seq, hash FROM log ORDER BY seq DESC LIMIT 1").fetchone()
        archived = new.execute("SELECT last, head FROM segment ORDER BY number DESC LIMIT 1").fetchone()
    entries, head = last or archived or (0, "0" * 64)
    return schema, int(entries), str(head)


def _copy(source: Path, target: Path) -> None:
    """A file, or a folder without locks and what is still being written. Pointers to versions come before versions: a
    version that was pointed to stays."""
    if source.is_file():
        shutil.copyfile(source, target)
        target.chmod(0o600)
    elif source.is_dir():
        target.mkdir(mode=0o700, exist_ok=True)
        for path in sorted(source.iterdir(), key=lambda one: (one.name != "current", one.name)):
            if not path.is_symlink() and path.name != "lock" and not path.name.startswith((".", "staged-")):
                _copy(path, target / path.name)


def _files(folder: Path) -> Iterator[BackupFile]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path != folder / MANIFEST:
            found = FileDigest.of(path)
            yield BackupFile(path.relative_to(folder).as_posix(), found.bytes, found.sha256)


# -- reading -------------------------------------------------------------------------------------------------------


@contextmanager
def opened_backup(source: Path) -> Iterator[tuple[Path, Backup]]:
    """The folder of a backup, and what its manifest says. Every file is what was copied: ConfigError QG804 if not."""
    if source.is_dir():
        yield source, _verified(source)
        return
    with TemporaryDirectory(prefix="querygate-restore-") as scratch:
        try:
            with tarfile.open(source) as archive:
                archive.extractall(scratch, filter="data")
        except (OSError, tarfile.TarError, EOFError):
            raise _not_a_backup(source) from None
        yield Path(scratch) / "backup", _verified(Path(scratch) / "backup")


def _verified(folder: Path) -> Backup:
    try:
        said = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        backup = Backup(**{**said, "files": tuple(BackupFile(**one) for one in said["files"])})
    except (OSError, ValueError, TypeError, KeyError):
        raise _not_a_backup(folder) from None
    there = {one.name: one for one in _files(folder)}
    for file in backup.files:
        found = there.pop(file.name, None)
        if found is None:
            raise _changed(f"The backup has lost {file.name}.")
        if found != file:
            raise _changed(f"{file.name} in the backup is not what was copied.")
    if there:
        raise _changed(f"{next(iter(there))} was added to the backup.")
    return backup


def _changed(detail: str) -> ConfigError:
    return ConfigError("QG804", detail, "Use another backup, and find out who could write to this one.")


def _not_a_backup(path: Path) -> ConfigError:
    return ConfigError("QG804", f"{path.name} is not a backup of a site.", "Use what `querygate backup` made.")
