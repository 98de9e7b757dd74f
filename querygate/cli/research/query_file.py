"""A file of queries: SQL in which comments give each query a name.

-- name: mean_by_sex
SELECT sex, AVG(systolic) FROM survey GROUP BY sex;

-- name: smokers
-- dataset: survey
SELECT COUNT(*) FROM survey WHERE smoked;
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from querygate.core.errors import ConfigError

_MARK = re.compile(r"^--\s*(name|dataset)\s*:\s*(.*?)\s*$")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")

RULE = "Use the letters a to z, digits, - and _, up to 64 of them, and begin with a letter or a digit: table_1."


@dataclass(frozen=True, slots=True)
class NamedQuery:
    name: str
    dataset: str
    sql: str


def read_queries(text: str, dataset: str | None) -> list[NamedQuery]:
    """The queries in their order; `dataset` is that of those which name none. Raises QG806."""
    found: list[NamedQuery] = []
    parts = _parts(text)
    _check_names([name for name, _ in parts])
    for name, lines in parts:
        about = [mark[2] for line in lines if (mark := _MARK.match(line)) and mark[1] == "dataset"]
        sql = "\n".join(line for line in lines if not _MARK.match(line)).strip().removesuffix(";").rstrip()
        of = about[-1] if about else dataset
        if not sql:
            raise _wrong(f"There is no statement under the name {name}.", "Write one, or remove the name.")
        if not of:
            raise _wrong(f"The query {name} names no dataset.", "Add `-- dataset: NAME` below its name, or --dataset.")
        found.append(NamedQuery(name, of, sql))
    if not found:
        raise _wrong("The file has no query with a name.", "Write `-- name: NAME` above each query.")
    return found


def _check_names(names: list[str]) -> None:
    """All that is wrong with them at once. Each becomes the name of a file, and on some machines a.csv is A.csv."""
    wrong = [f"{_quoted(name)} (query {i})" for i, name in enumerate(names, 1) if not _NAME.fullmatch(name)]
    if wrong:
        be, noun = ("is", "name") if len(wrong) == 1 else ("are", "names")
        raise _wrong(f"Not accepted {be} the {noun} {', '.join(wrong)}.", RULE)
    often = [name for name, count in Counter(name.lower() for name in names).items() if count > 1]
    if often:
        told = "The name {} is" if len(often) == 1 else "The names {} are"
        raise _wrong(
            f"{told.format(', '.join(often))} used more than once; capital letters make no difference.",
            "Give each query a name of its own.",
        )


def _quoted(name: str) -> str:
    """As much as one can read, without what a terminal would obey."""
    plain = "".join(sign if sign.isprintable() else "?" for sign in name)
    return f'"{plain[:40]}…"' if len(plain) > 40 else f'"{plain}"'


def _parts(text: str) -> list[tuple[str, list[str]]]:
    """The lines under each name. Before the first there are comments at most."""
    parts: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        mark = _MARK.match(line)
        if mark and mark[1] == "name":
            parts.append((mark[2], []))
        elif parts:
            parts[-1][1].append(line)
        elif line.strip() and not line.startswith("--"):
            raise _wrong("There is a statement without a name.", "Write `-- name: NAME` above each query.")
    return parts


def _wrong(detail: str, remedy: str) -> ConfigError:
    return ConfigError("QG806", detail, remedy)
