"""Reports of versions, kept with the raw rows: they have raw values in pictures, and are for the custodian alone.

    vault/patients/reports/v00003/   report.json, report.html, pictures

A report is written beside its place and renamed, so it is there as a whole or not at all. It goes when its version is
retired, and when somebody whose values it may show is deleted.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path

from querygate_adapters.store.retired_versions import flush

FOLDER = "reports"
_STAGED = "staged-"
_NAME = re.compile(r"v(\d{5,})")


def report_folder(vault: Path, version: int) -> Path:
    """Where the report of a version of a dataset lies, if there is one; `vault` is the dataset's folder."""
    return vault / FOLDER / f"v{version:05d}"


def reports_in(vault: Path) -> tuple[int, ...]:
    """Versions that have a report, in rising order."""
    found = (_NAME.fullmatch(path.name) for path in (vault / FOLDER).glob("v*"))
    return tuple(sorted(int(match[1]) for match in found if match))


def keep_report(vault: Path, version: int, files: Mapping[str, bytes]) -> Path:
    """Put the files of a report in its place; nobody but the owner may read them."""
    place = report_folder(vault, version)
    staged = place.with_name(f"{_STAGED}{place.name}")
    for folder in (vault / FOLDER, staged):
        _remove(staged)
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)
    for name, body in files.items():
        file = staged / name
        file.write_bytes(body)
        file.chmod(0o600)
        flush(file)
    flush(staged)
    _remove(place)
    os.replace(staged, place)
    flush(place.parent)
    return place


def remove_reports(vault: Path, versions: Collection[int]) -> None:
    for version in versions:
        _remove(report_folder(vault, version))


def sweep_reports(vault: Path, retired: Collection[int]) -> None:
    """Remove what a report that was cut off left behind, and the reports of retired versions."""
    for left in (vault / FOLDER).glob(f"{_STAGED}*"):
        _remove(left)
    remove_reports(vault, retired)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=not folder.exists())
