"""The record of a run: which queries, which answers, from which version under which policy, by which software. With it
a paper's figures can be asked for again and compared."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from querygate.core.answer_bodies import AnswerBody
from querygate.core.errors import ConfigError
from querygate.core.json_body import from_json, to_json

MANIFEST = "manifest.json"
Verdict: TypeAlias = Literal["same", "another version", "another policy", "different"]

_OF_THE_MOMENT = ("estimate", "estimate_note", "attained_low", "attained_high")
"""Parts of a cell that are not guaranteed, and may be other ones with another version of the software."""


@dataclass(frozen=True, slots=True)
class RunQuery:
    """One query and what came of it. `figures` is the hash of what is guaranteed: columns, keys, ends of ranges."""

    name: str
    dataset: str
    sql: str
    outcome: Literal["answered", "refused"]
    code: str | None = None
    answer: str | None = None
    version: int | None = None
    policy_hash: str | None = None
    mode: str | None = None
    figures: str | None = None
    files: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class RunManifest:
    """A run. `gate` is its address, empty for a site in a folder; `source` the name of the file and its hash."""

    format: int
    software: str
    gate: str
    began: str
    ended: str
    source: str
    source_sha256: str
    queries: tuple[RunQuery, ...]

    def text(self) -> str:
        return json.dumps(to_json(self), indent=2, ensure_ascii=False) + "\n"


def read_manifest(text: str) -> RunManifest:
    try:
        return from_json(RunManifest, json.loads(text))
    except (ValueError, TypeError):
        raise ConfigError(
            "QG806", f"{MANIFEST} is not the record of a run.", "Name the folder that --out made."
        ) from None


def figures_hash(body: AnswerBody) -> str:
    """The hash of what an answer guarantees."""
    names = [column["name"] for column in body["columns"]]
    rows = [{**{name: _kept(row[name]) for name in names}, "_group": row.get("_group")} for row in body["rows"]]
    told: dict[str, Any] = {"mode": body["mode"], "columns": body["columns"], "rows": rows}
    return hashlib.sha256(json.dumps(told, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _kept(cell: Any) -> Any:
    return {key: value for key, value in cell.items() if key not in _OF_THE_MOMENT} if isinstance(cell, dict) else cell


def compare_runs(before: Sequence[RunQuery], now: Sequence[RunQuery]) -> list[tuple[str, Verdict]]:
    """How each query of before comes out now."""
    found = {one.name: one for one in now}
    return [(one.name, _compare(one, found.get(one.name))) for one in before]


def _compare(before: RunQuery, now: RunQuery | None) -> Verdict:
    if now is None or (before.sql, before.dataset, before.outcome, before.code) != (
        now.sql, now.dataset, now.outcome, now.code,
    ):  # fmt: skip
        return "different"
    if before.version != now.version:
        return "another version"
    if before.policy_hash != now.policy_hash:
        return "another policy"
    return "same" if before.figures == now.figures else "different"
