"""An extract as files: sealed by a manifest, packed into a zip that is the same each time, and checked against both.
Where these lie, in the vault and outside of it.

The manifest lists every file with its size and SHA-256; its own SHA-256 is what the site keeps. So whoever knows that
one number knows whether a single byte has changed, whether a file is missing, and whether one is there that should not
be. Without it, `verify` still tells whether files and manifest belong together.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, BinaryIO

from querygate.core.errors import ExtractRefused, NotPermitted
from querygate.core.files.private_files import for_owner
from querygate.site.encrypted_file import FileSeal, is_sealed
from querygate.site.encryption_key import needs_key

MANIFEST = "manifest.json"
STAGED = ".staged"
CHUNK = 1 << 20
LARGEST_MANIFEST = 16_000_000
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip can hold; the time something was made is in the manifest."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,80}")
"""What a request and a manifest are called. A job of a gate may say anything, and these name folders."""

_UNREADABLE = (OSError, ValueError, RuntimeError, EOFError, zipfile.BadZipFile, zlib.error, RecursionError)


@dataclass(frozen=True, slots=True)
class Contents:
    """Files by name, wherever they lie."""

    sizes: Mapping[str, int]
    open: Callable[[str], IO[bytes]]


@dataclass(frozen=True, slots=True)
class VerifiedPackage:
    """What was found to be whole: the manifest, and its SHA-256."""

    manifest: Mapping[str, Any]
    sha256: str


def named(name: str) -> str:
    """The name, if it can be nothing but one: no path leads out of the folder of extracts.

    >>> named("x_01KJKB3Q00Z5V7N0M1C2X3Y4W5")
    'x_01KJKB3Q00Z5V7N0M1C2X3Y4W5'
    """
    if not _NAME.fullmatch(name):
        raise ExtractRefused("QG603", "This is not the id of a request.", "List your requests to find the id.")
    return name


def no_raw_rows() -> NotPermitted:
    return NotPermitted(
        "QG310",
        "Extracts are made from the raw rows, and this gate has no access to them.",
        "Run `querygate export` on the custodian's machine.",
    )


# -- where they lie -----------------------------------------------------------------------------------------------


class ExtractFiles:
    """The extracts of a site: built ones in the vault, under the hash of their manifest, and released ones as zips,
    which `seal` encrypts where the site has a key."""

    def __init__(self, vault: Path, released: Path, seal: Callable[[], FileSeal | None] = lambda: None) -> None:
        self._folder, self._released_folder, self._seal = vault / "_extracts", released, seal

    @contextmanager
    def locked(self, request_id: str) -> Iterator[None]:
        """One process at a time. The lock is the kernel's, so it dies with its holder."""
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
        except FileNotFoundError:
            raise no_raw_rows() from None
        with open(self._folder / f"{named(request_id)}.lock", "w", opener=for_owner) as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ExtractRefused(
                    "QG601", "Another process is working on this extract.", "Wait until it has finished."
                ) from None
            yield

    def stage(self, request_id: str, keep: str | None) -> Path:
        """An empty folder to build in. Of what lies there, `keep` alone stays."""
        self.sweep(request_id, keep)
        staged = self._folder / named(request_id) / STAGED
        staged.mkdir(mode=0o700, parents=True)
        return staged

    def keep(self, request_id: str, facts: Mapping[str, Any]) -> str:
        """Seal what was staged and give it its name, the hash of its manifest: it never replaces another one."""
        folder = self._folder / named(request_id)
        manifest = seal(folder / STAGED, facts)
        shutil.rmtree(folder / manifest, ignore_errors=True)  # the very same, or what became of it
        (folder / STAGED).rename(folder / manifest)
        sync(folder)
        return manifest

    def sweep(self, request_id: str, keep: str | None) -> None:
        """Remove what earlier builds left, finished or not."""
        for left in (self._folder / named(request_id)).glob("*"):
            if left.name != keep:
                shutil.rmtree(left)

    def release(self, request_id: str, manifest: str | None) -> str:
        """Put the built extract, if it is still what the manifest says, where it is fetched from."""
        contents = in_folder(self._folder / named(request_id) / named(str(manifest)))
        sha256 = verify(contents, manifest).sha256
        target = self._released(request_id)
        target.parent.mkdir(mode=0o700, exist_ok=True)
        with _replacing(target) as stream:
            seal = self._seal()
            if seal is None:
                pack(contents, stream)
            else:
                with seal.writing(stream) as sealed:
                    pack(contents, sealed)
        return sha256

    def encrypt_released(self) -> int:
        """Encrypt what was released before the site had a key; how many there were."""
        done, seal = 0, self._seal()
        for path in sorted(self._released_folder.glob("[!.]*.zip")) if seal is not None else ():
            with path.open("rb") as plain:
                if seal is None or is_sealed(plain):
                    continue
                with _replacing(path) as stream, seal.writing(stream) as sealed:
                    shutil.copyfileobj(plain, sealed, CHUNK)
                done += 1
        return done

    def withdraw(self, request_id: str) -> None:
        """It can be fetched no more."""
        self._released(request_id).unlink(missing_ok=True)

    def open_released(self, request_id: str, manifest: str | None) -> BinaryIO:
        """The released zip, verified through the handle that is returned."""
        try:
            handle = self._plain(self._released(request_id).open("rb"))
        except FileNotFoundError:
            raise altered("The released extract is not in its place.") from None
        try:
            with opened(handle) as contents:
                verify(contents, manifest)
            handle.seek(0)
        except BaseException:
            handle.close()
            raise
        return handle

    def read(self, request_id: str, manifest: str | None, name: str, *, released: bool) -> bytes | None:
        """One file of an extract that is whole; None where it has no such file."""
        built = self._folder / named(request_id) / named(str(manifest))
        if released:
            with self.open_released(request_id, manifest) as handle, opened(handle) as contents:
                return _content(contents, name)
        with opened(built) as contents:
            verify(contents, manifest)
            return _content(contents, name)

    def _plain(self, handle: BinaryIO) -> BinaryIO:
        """The file as it was before it was encrypted, if it was."""
        try:
            if not is_sealed(handle):
                return handle
            seal = self._seal()
            if seal is None:
                raise needs_key()
            return seal.reading(handle)
        except BaseException:
            handle.close()
            raise

    def _released(self, request_id: str) -> Path:
        return self._released_folder / f"{named(request_id)}.zip"


@contextmanager
def _replacing(target: Path) -> Iterator[BinaryIO]:
    """A new file that takes the place of the target when all of it is on the disk."""
    staged = target.with_name(f"{STAGED}{target.name}")
    staged.unlink(missing_ok=True)
    with os.fdopen(os.open(staged, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as stream:
        yield stream
        stream.flush()
        os.fsync(stream.fileno())
    staged.replace(target)
    sync(target.parent)


def _content(contents: Contents, name: str) -> bytes | None:
    if name not in contents.sizes:
        return None
    with contents.open(name) as stream:
        return stream.read()


# -- sealing and packing ------------------------------------------------------------------------------------------


def seal(folder: Path, facts: Mapping[str, Any]) -> str:
    """Write the manifest of the files in a folder, bring all to the disk, and return the manifest's SHA-256."""
    found = in_folder(folder)
    files = [
        {"name": name, "size": found.sizes[name], "sha256": _digest(found.open(name))} for name in sorted(found.sizes)
    ]
    text = json.dumps({**facts, "files": files}, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")
    for path in [*(folder / name for name in (*found.sizes, MANIFEST)), *_folders(folder)]:
        path.chmod(0o700 if path.is_dir() else 0o600)
        sync(path)
    return hashlib.sha256(text.encode()).hexdigest()


def pack(contents: Contents, target: BinaryIO) -> None:
    """Write the files as a zip: in the order of their names, without times or owners."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name in sorted(contents.sizes):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system, entry.external_attr = 3, (stat.S_IFREG | 0o600) << 16
            entry.file_size = contents.sizes[name]
            with contents.open(name) as source, archive.open(entry, "w") as sink:
                while chunk := source.read(CHUNK):
                    sink.write(chunk)


def unpack(contents: Contents, folder: Path) -> None:
    """Write the files into a new folder of the owner's alone. Their names were checked by whoever listed them."""
    folder.mkdir(mode=0o700, parents=True)
    for name in sorted(contents.sizes):
        path = folder / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contents.open(name) as source, path.open("xb") as sink:
            path.chmod(0o600)
            while chunk := source.read(CHUNK):
                sink.write(chunk)


def sync(path: Path) -> None:
    """Bring a file or a folder to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# -- reading ------------------------------------------------------------------------------------------------------


def in_folder(folder: Path) -> Contents:
    """The files of a folder and of those in it. QG607 where something else lies there, a link for example."""
    sizes = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        if stat.S_ISREG(mode):
            sizes[path.relative_to(folder).as_posix()] = path.lstat().st_size
        elif not stat.S_ISDIR(mode):
            raise altered("The extract contains something that is not a file.")
    return Contents(sizes, lambda name: (folder / name).open("rb"))


def in_archive(archive: zipfile.ZipFile) -> Contents:
    """The files of a zip. QG607 where a name is there twice, or leads out of it."""
    sizes: dict[str, int] = {}
    for entry in archive.infolist():
        if entry.filename in sizes or not _is_inside(entry.filename):
            raise altered("The extract contains a name twice, or a name that is not a file name.")
        sizes[entry.filename] = entry.file_size
    return Contents(sizes, archive.open)


@contextmanager
def opened(path: Path | BinaryIO) -> Iterator[Contents]:
    """A folder or a zip. What cannot be read is not what was released: QG607."""
    try:
        if isinstance(path, Path) and path.is_dir():
            yield in_folder(path)
        else:
            with zipfile.ZipFile(path) as archive:
                yield in_archive(archive)
    except ExtractRefused:
        raise
    except _UNREADABLE:
        raise altered("The extract cannot be read.") from None


def verify(contents: Contents, known: str | None = None) -> VerifiedPackage:
    """Check every file against the manifest and, where its SHA-256 is known, the manifest too. QG607 otherwise."""
    if not 0 < contents.sizes.get(MANIFEST, 0) <= LARGEST_MANIFEST:
        raise altered(f"{MANIFEST} is missing.")
    with contents.open(MANIFEST) as stream:
        text = stream.read(LARGEST_MANIFEST)
    sha256 = hashlib.sha256(text).hexdigest()
    if known is not None and sha256 != known:
        raise altered("The manifest is not the one that was released.")
    manifest, listed = _read_manifest(text)
    missing, more = sorted(set(listed) - set(contents.sizes)), sorted(set(contents.sizes) - set(listed) - {MANIFEST})
    if missing or more:
        what = f"{missing[0]} is missing" if missing else f"{more[0]} was added"
        raise altered(f"{what[:200]}.")
    for name, (size, digest) in listed.items():
        if contents.sizes[name] != size or _digest(contents.open(name)) != digest:
            raise altered(f"{name[:180]} has changed.")
    return VerifiedPackage(manifest, sha256)


def altered(detail: str) -> ExtractRefused:
    return ExtractRefused("QG607", detail, "Do not use it. Fetch it again, or inform the custodian.")


def _read_manifest(text: bytes) -> tuple[dict[str, Any], dict[str, tuple[int, str]]]:
    try:
        manifest = json.loads(text)
        listed = {file["name"]: (int(file["size"]), str(file["sha256"])) for file in manifest["files"]}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise altered("The manifest cannot be read.") from None
    if MANIFEST in listed or len(listed) != len(manifest["files"]) or not all(map(_is_inside, listed)):
        raise altered("The manifest contains an invalid entry.")
    return manifest, listed


def _is_inside(name: str) -> bool:
    """Whether it is the name of a file, in the folder or below.

    >>> [_is_inside(name) for name in ("data.csv", "figures/ru.png", "../x", "/x", "a//b", "a/", "", "a\\\\b", "c:x")]
    [True, True, False, False, False, False, False, False, False]
    """
    path = PurePosixPath(name)
    plain = not path.is_absolute() and ".." not in path.parts and not set(name) & set("\\:\0")
    return bool(name) and plain and path.as_posix() == name and name != "."


def _digest(stream: IO[bytes]) -> str:
    with stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]


def _folders(folder: Path) -> list[Path]:
    return [*(path for path in folder.rglob("*") if path.is_dir()), folder, folder.parent]
