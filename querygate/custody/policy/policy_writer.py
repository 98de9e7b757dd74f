"""Writes a policy file from its tables, with some keys changed.

Comments of the file it came from are not kept. Values are those that TOML knows; tables of tables become sections.

>>> print(write_toml({"dataset": "trial", "k": 5, "columns": {"date of birth": {"role": "identifier"}}}))
dataset = "trial"
k = 5
<BLANKLINE>
[columns."date of birth"]
role = "identifier"
<BLANKLINE>
"""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Mapping
from pathlib import Path

from querygate.custody.policy.drafts.draft_domains_and_cuts import toml_list, toml_text
from querygate.custody.policy.toml_reader import RawTable, dotted

_FILE = re.compile(r"(?i)(duckdb:)?[^:]+\.(csv|tsv|txt|parquet|parq|duckdb)(\.gz|\.zst)?(#.*)?")
_WIDEST = 118


def write_toml(raw: RawTable) -> str:
    """The text of a file with these tables."""
    lines = [f"{dotted([key])} = {_value(value)}" for key, value in raw.items() if not isinstance(value, dict)]
    for key, table in raw.items():
        if not isinstance(table, dict):
            continue
        parts = {(key, name): part for name, part in table.items()} if _is_of_tables(table) else {(key,): table}
        for path, part in parts.items():
            lines += ["", f"[{dotted(path)}]", *(f"{dotted([name])} = {_value(value)}" for name, value in part.items())]
    return "\n".join(lines) + "\n"


def moved(raw: RawTable, folder: Path, to: Path) -> RawTable:
    """The tables, with file names relative to one folder made relative to another."""
    return {key: _moved(value, folder, to) for key, value in raw.items()}


def _moved(raw: object, folder: Path, to: Path) -> object:
    if isinstance(raw, dict):
        return moved(raw, folder, to)
    if isinstance(raw, list):
        return [_moved(value, folder, to) for value in raw]
    if not isinstance(raw, str) or not _FILE.fullmatch(raw):
        return raw
    kind = "duckdb:" if raw.startswith("duckdb:") else ""
    name, *table = raw.removeprefix(kind).split("#", 1)
    if os.path.isabs(name) or not (folder / name).exists():
        return raw
    seen = Path(os.path.relpath((folder / name).absolute(), to.absolute())).as_posix()
    return "#".join([f"{kind}{seen}", *table])


def _is_of_tables(table: RawTable) -> bool:
    return bool(table) and all(isinstance(part, Mapping) for part in table.values())


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return toml_text(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{dotted([key])} = {_value(part)}" for key, part in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return _list([_value(part) for part in value])
    return repr(value)


def _list(items: list[str]) -> str:
    """A list on one line, or on several if that would be too long."""
    line = toml_list(items)
    if len(line) <= _WIDEST - 12:
        return line
    lines, at = ["["], "   "
    for item in items:
        if len(at) + len(item) + 2 > _WIDEST and at.strip():
            lines.append(at)
            at = "   "
        at += f" {item},"
    return "\n".join([*lines, at, "]"])
