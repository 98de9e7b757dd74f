"""Reads log files: another system's, as JSON lines or CSV, or the output of `querygate log export`."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from querygate.core.answer_bodies import AnswerBody
from querygate.core.answer_forms.spreadsheet_cells import unescape
from querygate.core.errors import ConfigError
from querygate.core.json_body import JsonValue
from querygate.custody.audit.audit import LogStatement
from querygate.gate.query_state import INTERVAL

Record = dict[str, JsonValue]

_EXPORTED = frozenset({"seq", "kind", "body", "prev", "hash"})
"""Fields by which an entry of QueryGate's own log is known."""


def read_log(path: Path) -> Iterator[LogStatement]:
    """The statements of a log, each with a unique name.

    From another system: user and sql, and if present id, time and answer. From QueryGate: the answered queries; its
    other entries (refusals, publications, reads) reveal nothing about anybody.
    """
    text = _text(path)
    first = next((line for line in text.split("\n") if line.strip()), "")
    records = _json_lines(text) if first.lstrip().startswith("{") else _csv_lines(text)
    seen: set[str] = set()
    certified: dict[tuple[JsonValue, JsonValue], int] = {}
    for number, record in records:
        if record.keys() >= _EXPORTED:
            certified |= _certificate(record)
        for entry in _exported(record, certified) if record.keys() >= _EXPORTED else [_entry(number, record)]:
            ident = entry.id if entry.id not in seen else f"{entry.id} (line {number})"
            seen.add(ident)
            yield replace(entry, id=ident)


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
        return (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError):
        raise ConfigError("QG802", f"The log {path.name} cannot be read.", "Use a file of JSON lines or CSV.") from None


def _json_lines(text: str) -> Iterator[tuple[int, Record]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            raise ConfigError(
                "QG802", f"Line {number} of the log is not a JSON object.", "Write one JSON object per line."
            )
        yield number, record


def _csv_lines(text: str) -> Iterator[tuple[int, Record]]:
    reader = csv.DictReader(io.StringIO(text, newline=""))
    try:
        for record in reader:
            yield (
                reader.line_num,
                {name: unescape(cell) if isinstance(cell, str) else cell for name, cell in record.items()},
            )
    except csv.Error:
        raise ConfigError(
            "QG802", f"Line {reader.line_num} of the log is not CSV.", "Write the log as JSON lines instead."
        ) from None


def _entry(number: int, record: Record) -> LogStatement:
    ident, user, sql = (record.get(name) for name in ("id", "user", "sql"))
    if user is None or "sql" not in record:
        raise ConfigError("QG802", f"Line {number} of the log has no user or no sql.", "Each line needs user and sql.")
    answer = record.get("answer")
    if isinstance(answer, str):
        answer = _parsed(answer)
    named = str(ident) if ident not in (None, "") else f"line {number}"
    return LogStatement(named, str(user), str(sql or ""), str(record.get("time") or ""), answer)


def _parsed(text: str) -> JsonValue:
    """An answer in a CSV: JSON if it parses, else a number as written."""
    try:
        answer: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return text or None
    return answer


# -- QueryGate's own ---------------------------------------------------------------------------------------------------


def _certificate(record: Record) -> dict[tuple[JsonValue, JsonValue], int]:
    """The k of each version that was published as certified views, by dataset and version."""
    body = record["body"]
    views = body.get("views") if record["kind"] == "publish" and isinstance(body, dict) else None
    k = views.get("k") if isinstance(views, dict) else None
    return {(record.get("dataset"), body.get("version")): k} if isinstance(body, dict) and isinstance(k, int) else {}


def _exported(record: Record, certified: Mapping[tuple[JsonValue, JsonValue], int]) -> Iterator[LogStatement]:
    body = record["body"]
    if record["kind"] != "query.outcome" or not isinstance(body, dict) or body.get("outcome") != "answered":
        return
    version = body.get("version")
    yield LogStatement(
        str(record.get("query_id")),
        str(record.get("user")),
        str(body.get("sql")),
        str(record.get("time") or ""),
        answer_rows(body.get("answer")),
        version if isinstance(version, int) else 0,
        certified.get((record.get("dataset"), version), 0) if body.get("mode") == INTERVAL else 0,
    )


def answer_rows(answer: AnswerBody | JsonValue) -> JsonValue:
    """The rows of the gate's answer, without its notes on each group."""
    rows = answer.get("rows") if isinstance(answer, dict) else None
    if not isinstance(rows, list):
        return None
    return [{name: value for name, value in row.items() if name != "_group"} for row in rows if isinstance(row, dict)]
