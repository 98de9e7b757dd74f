"""What a file was when it was put on record: its length and the hash of all its bytes.

It is kept in the log, and beside copies of the file for whoever has no log, in the form that `sha256sum --check` reads.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

BESIDE = ".sha256"
_TOLD = re.compile(r"# ([0-9]+) bytes\n([0-9a-f]{64})  .+\n")


def beside(path: Path) -> Path:
    """The file that tells the digest of another one."""
    return path.with_name(f"{path.name}{BESIDE}")


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

    @classmethod
    def told_beside(cls, path: Path) -> FileDigest | None:
        """What is told beside a file; None where nothing is. Whatever else is there is the digest of no file."""
        try:
            told = _TOLD.fullmatch(beside(path).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except UnicodeDecodeError:
            told = None
        return cls(told[2], int(told[1])) if told else cls("", -1)

    def text(self, name: str) -> str:
        """To be kept beside a file of that name.

        >>> print(FileDigest("ab" * 32, 7).text("v00001.duckdb"), end="")
        # 7 bytes
        abababababababababababababababababababababababababababababababab  v00001.duckdb
        """
        return f"# {self.bytes} bytes\n{self.sha256}  {name}\n"

    def is_of(self, path: Path, *, read_up_to: int | None = None) -> bool:
        """Is this the file? Of one with more bytes than `read_up_to` the length alone is compared. That proves nothing,
        as whoever changes bytes can keep their number.
        """
        if path.stat().st_size != self.bytes:
            return False
        return (read_up_to is not None and self.bytes > read_up_to) or FileDigest.of(path) == self
