"""Where the risk report of a published version lies: written by the custodian's process, read by gates.

    risk/patients/v00003/   report.json, report.html, pictures

A gate has no raw records and cannot measure. It shows what was measured here, and loads no module that could open data.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from querygate.core.errors import NotPermitted
from querygate.core.json_body import JsonValue
from querygate.site.open_gate import OpenSite

FOLDER, STAGED = "risk", "staged-"
JSON, PAGE = "report.json", "report.html"


def risk_folder(opened: OpenSite, dataset: str, version: int) -> Path:
    return opened.site.folder / FOLDER / dataset / f"v{version:05d}"


def keep_risk(opened: OpenSite, dataset: str, version: int, files: Mapping[str, bytes], *, user: str) -> Path:
    """Put the report on a version in its place, as a whole or not at all, and on record."""
    place = risk_folder(opened, dataset, version)
    staged = place.with_name(f"{STAGED}{place.name}")
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(mode=0o700, parents=True)
    for name, content in files.items():
        (staged / name).write_bytes(content)
        (staged / name).chmod(0o600)
    shutil.rmtree(place, ignore_errors=True)
    os.replace(staged, place)
    mark = hashlib.sha256(files[JSON]).hexdigest()
    opened.log.note("risk.run", user=user, dataset=dataset, body={"version": version, "sha256": mark})
    return place


def find_risk(opened: OpenSite, dataset: str, *, user: str) -> dict[str, JsonValue]:
    """The report on the version that is served. Reading it is on record."""
    body: dict[str, JsonValue] = json.loads(_read(opened, dataset, JSON, user))
    return body


def find_risk_page(opened: OpenSite, dataset: str, *, user: str) -> bytes:
    """The same as a page."""
    return _read(opened, dataset, PAGE, user)


def _read(opened: OpenSite, dataset: str, name: str, user: str) -> bytes:
    version = opened.store.current(dataset).catalog.version
    opened.log.note("risk.read", user=user, dataset=dataset, body={"version": version, "file": name})
    try:
        return (risk_folder(opened, dataset, version) / name).read_bytes()
    except FileNotFoundError:
        raise NotPermitted(
            "QG309",
            f"There is no risk report for version {version} of {dataset}: it is computed from raw records, and the "
            "gate has none.",
            f"Run `querygate risk --dataset {dataset}` on the custodian's machine.",
        ) from None
