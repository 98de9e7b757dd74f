"""Reports on versions, kept with the raw rows: their charts show raw values, so they are for the custodian alone.

    vault/patients/reports/v00003/       report.json, report.html, pictures
    vault/patients/reports/v00003.json   what publishing measured, from which the report can be made again

Both are written under another name and renamed, so they are complete or absent. They are removed when their version is
retired, and when a person whose values they may show is deleted.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path

from querygate.core.files.private_files import for_owner
from querygate_adapters.store.retired_versions import flush

FOLDER = "reports"
_STAGED = "staged-"
_NAME = re.compile(r"v(\d{5,})")


def report_folder(vault: Path, version: int) -> Path:
    """The folder for the report on a version; `vault` is the dataset's folder."""
    return vault / FOLDER / f"v{version:05d}"


def reports_in(vault: Path) -> tuple[int, ...]:
    """Versions that have a report, in rising order."""
    found = (_NAME.fullmatch(path.name) for path in (vault / FOLDER).glob("v*"))
    return tuple(sorted(int(match[1]) for match in found if match))


def keep_report(vault: Path, version: int, files: Mapping[str, bytes]) -> Path:
    """Store the files of a report; only their owner may read them."""
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


def figures_file(vault: Path, version: int) -> Path:
    return vault / FOLDER / f"v{version:05d}.json"


def keep_figures(vault: Path, version: int, text: str) -> None:
    """Store what publishing measured for a version."""
    place = figures_file(vault, version)
    staged = place.with_name(f"{_STAGED}{place.name}")
    place.parent.mkdir(mode=0o700, exist_ok=True)
    with open(staged, "w", encoding="utf-8", opener=for_owner) as stream:
        stream.write(text)
    flush(staged)
    os.replace(staged, place)
    flush(place.parent)


def remove_reports(vault: Path, versions: Collection[int]) -> None:
    for version in versions:
        _remove(report_folder(vault, version))
        figures_file(vault, version).unlink(missing_ok=True)


def sweep_reports(vault: Path, retired: Collection[int]) -> None:
    """Remove remains of interrupted reports, and the reports of retired versions."""
    for left in (vault / FOLDER).glob(f"{_STAGED}*"):
        _remove(left) if left.is_dir() else left.unlink()
    remove_reports(vault, retired)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=not folder.exists())
