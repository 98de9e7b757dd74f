"""A policy from the console: it comes from a browser, so it must not name files of the custodian's machine.

Otherwise, with a reference table for instance, anyone with a session could have any file of the machine published.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from querygate.core.errors import ConfigError
from querygate.custody.policy.policy_file import PolicyFile
from querygate.custody.policy.policy_reader import parse_policy
from querygate.custody.policy.toml_reader import dotted

NAME = "policy"
OUTSIDE = ("references", "join", "k_map", "release")
"""Tables of a policy that are about other files or databases."""

_FILE = re.compile(r"(?i).*(\.(csv|tsv|txt|parquet|parq|duckdb|json|toml)(\.gz|\.zst)?(#.*)?|://.*|^(duckdb|spark):.*)")
_LINE = re.compile(rf"{NAME}: (?P<path>(?:[\w-]+|\"(?:[^\"\\]|\\.)*\")(?:\.(?:[\w-]+|\"(?:[^\"\\]|\\.)*\"))*): ")
_KEY = re.compile(r'[\w-]+|"(?:[^"\\]|\\.)*"')


@dataclass(frozen=True, slots=True)
class PolicyProblem:
    """A mistake in a policy, and its line."""

    line: int
    text: str


def read_console_policy(text: str) -> PolicyFile:
    """The policy; ConfigError QG801 if it is not valid, or names files."""
    folder = Path("/nonexistent")  # there are no files beside it
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raw = {}  # reported below
    named = [*(key for key in OUTSIDE if key in raw), *(dotted(path) for path in _named_files(raw, ()))]
    if named:  # before it is parsed, which would open them
        lines = [f"{NAME}: {path}: names a file or a database; accepted in the console: nothing" for path in named]
        remedy = "Publish it with `querygate publish` on the custodian's machine."
        raise ConfigError("QG801", "\n".join(lines), remedy)
    return PolicyFile(folder / f"{NAME}.toml", parse_policy(text, NAME, folder), raw)


def _named_files(raw: object, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if isinstance(raw, dict):
        is_column = len(path) == 2 and path[0] == "columns"  # a column may be called `values`
        for key, value in raw.items():
            if not (is_column and key in ("title", "unit", "values")):
                yield from _named_files(value, (*path, key))
    elif isinstance(raw, list):
        for value in raw:
            yield from _named_files(value, path)
    elif isinstance(raw, str) and _FILE.fullmatch(raw):
        yield path


def problems_of(text: str, error: ConfigError) -> list[PolicyProblem]:
    """The mistakes, each with the line to underline.

    >>> wrong = ConfigError("QG801", "policy: columns.age.role: unknown word", "")
    >>> problems_of('k = 5\\n[columns.age]\\ntype = "integer"\\nrole = "x"', wrong)[0].line
    4
    """
    if error.span is not None:
        return [PolicyProblem(error.span.line, error.detail)]
    return [PolicyProblem(_line_of(text, one), one) for one in error.detail.split("\n")]


def _line_of(text: str, problem: str) -> int:
    """The line of the key that a problem names, or of its table, or else the first."""
    found = _LINE.match(problem)
    if found is None:
        return 1
    keys = [key.strip('"') for key in _KEY.findall(found["path"])]
    inside: tuple[str, ...] = ()
    best = 1
    for number, line in enumerate(text.split("\n"), 1):
        table = re.fullmatch(r"\s*\[+(.*?)\]+\s*(#.*)?", line)
        if table:
            inside = tuple(key.strip('"') for key in _KEY.findall(table[1]))
            if inside and inside == tuple(keys[: len(inside)]):
                best = number
            continue
        key = re.match(r'\s*("(?:[^"\\]|\\.)*"|[\w-]+)\s*[=.]', line)
        here = (*inside, key[1].strip('"')) if key else ()
        if here and here == tuple(keys[: len(here)]):
            best = number
            if len(here) == len(keys):
                return number
    return best
