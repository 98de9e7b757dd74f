"""Archives of the log: entries moved out of the database, compressed and sealed, and never changed again.

    logs/segment-000001.jsonl.gz          the entries, as an export has them
    logs/segment-000001.jsonl.gz.sig      what the site's key signed: from which entry to which, and both hashes

The database keeps a row for each: where it begins and ends, its head, and the hash of the file.
"""

from __future__ import annotations

import fcntl
import gzip
import io
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from hashlib import file_digest
from pathlib import Path

from querygate.control.log.entry_chain import ChainBroken

BUFFER = 2**18
"""Bytes of an archive that are unpacked at once."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One archive. `prev` is the hash before its first entry, `head` the hash of its last, `until` its last time.

    `sha256` is the file's; `discarded` is when the file was deleted, None while it is kept.
    """

    number: int
    first: int
    last: int
    prev: str
    head: str
    until: str
    sha256: str
    sealed: str
    discarded: str | None = None

    @property
    def name(self) -> str:
        return f"segment-{self.number:06d}.jsonl.gz"

    def told(self) -> dict[str, int | str]:
        """What the chain itself says about the archive, so that the database row is more than a claim."""
        return {name: getattr(self, name) for name in ("number", "first", "last", "prev", "head", "until", "sha256")}


COLUMNS = tuple(field.name for field in fields(Segment))


class Archives:
    """The folder of the archives."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, segment: Segment) -> Path:
        return self.folder / segment.name

    def signature(self, segment: Segment) -> Path:
        return self.folder / f"{segment.name}.sig"

    def lines(self, segment: Segment) -> Iterator[bytes]:
        """The entries of an archive. Raises ChainBroken if the file is missing or is not the one that was sealed."""
        try:
            with self.path(segment).open("rb") as file:
                sealed = file_digest(file, "sha256").hexdigest()
        except FileNotFoundError:
            raise ChainBroken(segment.first, f"its archive {segment.name} is missing") from None
        if sealed != segment.sha256:
            raise ChainBroken(segment.first, f"its archive {segment.name} was altered")
        try:
            with gzip.open(self.path(segment), "rb") as packed, io.BufferedReader(packed, BUFFER) as stream:
                yield from stream
        except (EOFError, OSError, zlib.error):
            raise ChainBroken(segment.first, f"its archive {segment.name} cannot be read") from None

    def write(self, name: str, pieces: Iterable[bytes], *, packed: bool) -> str:
        """Write a file completely or not at all, and return its hash. Leftovers of an interrupted run are replaced."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        unfinished = self.folder / f"{name}.unfinished"
        unfinished.unlink(missing_ok=True)
        with os.fdopen(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as file:
            if packed:
                with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as stream:
                    stream.writelines(pieces)
            else:
                file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
            file.seek(0)
            sealed = file_digest(file, "sha256").hexdigest()
        unfinished.replace(self.folder / name)
        self._settle()
        return sealed

    def remove(self, segment: Segment) -> None:
        """Delete the file; its signature stays."""
        self.path(segment).unlink(missing_ok=True)
        self._settle()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Let only one process at a time move entries."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        handle = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _settle(self) -> None:
        """Flush the folder, so that the file names are on disk."""
        if self.folder.exists():
            handle = os.open(self.folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
