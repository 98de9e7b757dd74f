"""Names in a vault whose raw rows are elsewhere: a file there says in which folder the rows of a version are.

vault/patients/v00003.rows-in      the text "/data/querygate/patients/v00003-5f0c2a91"
"""

from __future__ import annotations

import re
from pathlib import Path

SUFFIX = ".rows-in"
_POINTER = re.compile(r"v(\d{5,})" + re.escape(SUFFIX))


def pointer_file(folder: Path, version: int) -> Path:
    return folder / f"v{version:05d}{SUFFIX}"


def folder_of(pointer: Path) -> Path:
    """The folder that a pointer names."""
    return Path(pointer.read_text(encoding="utf-8"))


def pointed_in(folder: Path) -> tuple[int, ...]:
    """Versions whose raw rows are elsewhere, in rising order."""
    found = (_POINTER.fullmatch(path.name) for path in folder.glob(f"v*{SUFFIX}"))
    return tuple(sorted(int(match[1]) for match in found if match))
