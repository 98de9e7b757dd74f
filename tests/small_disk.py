"""A disk of a few megabytes that can be filled to the last byte, where the tests may mount one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class SmallDisk:
    folder: Path

    def fill(self) -> None:
        """Until not one byte fits any more."""
        for size in (1 << 16, 1 << 12, 1):
            handle = os.open(self.folder / f"fill{size}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            try:
                while True:
                    os.write(handle, b"x" * size)
            except OSError:
                os.close(handle)

    def free(self) -> None:
        for path in self.folder.glob("fill*"):
            path.unlink()


@contextmanager
def small_disk(folder: Path, megabytes: int = 24) -> Iterator[SmallDisk]:
    """Mounted at a new folder. Skips where that is not permitted."""
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("There is no mount here.")
    if done.returncode != 0:
        pytest.skip("To mount a small disk is not permitted here.")
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
