"""What a file was when it was put on record: its length and the hash of all its bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class FileDigest:
    sha256: str
    bytes: int

    @classmethod
    def of(cls, path: Path) -> FileDigest:
        with path.open("rb") as stream:
            return cls(hashlib.file_digest(stream, "sha256").hexdigest(), path.stat().st_size)

    @classmethod
    def noted(cls, body: Mapping[str, object]) -> FileDigest | None:
        """What an entry of the log has of a file; None where it has nothing, as those of older sites."""
        found = body.get("file")
        if not isinstance(found, Mapping):
            return None
        return cls(str(found["sha256"]), int(found["bytes"]))

    def is_of(self, path: Path, *, read_up_to: int | None = None) -> bool:
        """Is this the file? Of one with more bytes than `read_up_to` the length alone is compared. That proves nothing,
        as whoever changes bytes can keep their number.
        """
        if path.stat().st_size != self.bytes:
            return False
        return (read_up_to is not None and self.bytes > read_up_to) or FileDigest.of(path) == self
