"""Versions that are never served again, and how a version is retired so that a kill leaves no half-finished state.

    store/patients/retired           a line "1 3" for each: version 1 was retired when version 3 came; "1 0": by itself,
                                     after the dataset was withdrawn or its file was lost

A line is written before the version that replaces it is in place, and takes effect when it is: retiring and serving are
one step. The next holder of the dataset's lock finishes or discards what a killed process left.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from querygate.core.files.private_files import for_owner
from querygate_adapters.store.duckdb_store import current_version, version_file, versions_in

FILE = "retired"
STAGED = "staged-"
"""Prefix of the name of a file that is still being written."""

NOTHING = 0
"""Stands in for a version that took the place."""


def retired_in(folder: Path) -> dict[int, int]:
    """Retired versions, each with the one that took its place."""
    lines = _lines(folder)
    there = {*versions_in(folder), NOTHING}
    return {old: new for old, new in lines.items() if new in there or new in lines or old not in there}


def readable_in(folder: Path) -> tuple[int, ...]:
    """Versions that are served or could be, in rising order."""
    retired = retired_in(folder)
    return tuple(version for version in versions_in(folder) if version not in retired)


def mark(folder: Path, versions: Sequence[int], by: int) -> None:
    """Note that these are retired as soon as version `by` is in place."""
    _write(folder, {**_lines(folder), **dict.fromkeys(versions, by)})


def settle(folder: Path) -> None:
    """Finish what was marked, or discard it if the replacing version never came."""
    retired = retired_in(folder)
    if retired != _lines(folder):
        _write(folder, retired)
    served = current_version(folder)
    while served in retired:
        served = retired[served]
    if served == NOTHING:  # the version was lost, so nothing has been served since
        (folder / "current").unlink()
    elif served is not None and served != current_version(folder):
        point_to(folder, served)
    for version in retired:
        for left in folder.glob(f"{version_file(folder, version).name}*"):  # a journal may lie beside it
            left.unlink()


def point_to(folder: Path, version: int) -> None:
    """Serve a version: the pointer is replaced atomically."""
    _replace(folder, "current", str(version))


def flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _lines(folder: Path) -> dict[int, int]:
    try:
        text = (folder / FILE).read_text(encoding="ascii")
    except FileNotFoundError:
        return {}
    return {int(old): int(new) for old, new in (line.split() for line in text.splitlines())}


def _write(folder: Path, retired: Mapping[int, int]) -> None:
    _replace(folder, FILE, "".join(f"{old} {new}\n" for old, new in sorted(retired.items())))


def _replace(folder: Path, name: str, text: str) -> None:
    staged = folder / f"{STAGED}{name}"
    staged.unlink(missing_ok=True)
    with open(staged, "w", encoding="ascii", opener=for_owner) as stream:
        stream.write(text)
    flush(staged)
    os.replace(staged, folder / name)
    flush(folder)
