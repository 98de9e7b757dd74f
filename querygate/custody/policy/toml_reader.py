"""Reading TOML tables so that every mistake is found, named by its key path, and reported with the others.

If a value is wrong, readers return a stand-in that nobody ever sees: `Problems.check` raises before anything built from
it is used.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

from querygate.core.dates import DAY_US, day_of, day_text, moment_of, moment_text, read_moment
from querygate.core.errors import ConfigError
from querygate.custody.policy.column_policy import Number

Word = TypeVar("Word", bound=str)
RawTable: TypeAlias = dict[str, Any]
"""An unchecked table of a TOML file: texts, numbers, flags, moments, lists and tables."""

INT64 = 2**63 - 1
LARGEST = 1e300  # leaves room for doubling a step; no measurement comes near

VALUES = {
    "integer": "whole numbers of 64 bits",
    "number": "finite numbers up to 1e300 in size",
    "date": "dates such as 2024-01-31",
    "timestamp": "timestamps such as 2024-01-31T12:00:00",
}
"""The accepted values of each numeric type, for error messages."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of a file: keys by table and choices by key (`*` is any column)."""

    keys: Mapping[str, tuple[str, ...]]
    choices: Mapping[str, tuple[str, ...]]

    def accepted(self, pattern: str) -> tuple[str, ...]:
        """The keys of the table, or the choices of the key."""
        return self.keys.get(pattern) or self.choices[pattern]


@dataclass(frozen=True, slots=True)
class Bound:
    """The numbers that a setting accepts.

    >>> Bound(above=0, most=1).phrase, Bound(least=2, whole=True).read(1)
    ('a number above 0 and at most 1', None)
    """

    least: float | None = None
    above: float | None = None
    most: float | None = None
    whole: bool = False

    @property
    def phrase(self) -> str:
        limits = [
            f"{word} {limit}"
            for word, limit in (("of at least", self.least), ("above", self.above), ("at most", self.most))
            if limit is not None
        ]
        return " ".join(["a whole number" if self.whole else "a number", " and ".join(limits)]).rstrip()

    def read(self, raw: object) -> Number | None:
        value = read_value("integer" if self.whole else "number", raw)
        if value is None:
            return None
        inside = (
            (self.least is None or value >= self.least)
            and (self.above is None or value > self.above)
            and (self.most is None or value <= self.most)
        )
        return value if inside else None


def read_value(kind: str, raw: object) -> Number | None:
    """A value of a numeric column in its internal form, or None if it is not accepted (see VALUES)."""
    if kind == "date":
        return _day(raw)
    if kind == "timestamp":
        return _moment(raw)
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        return None
    if kind == "integer":
        return raw if isinstance(raw, int) and -INT64 <= raw <= INT64 else None
    if not -LARGEST <= raw <= LARGEST:  # false for NaN too
        return None
    return float(raw) + 0.0 if float(raw) == raw else None  # -0.0 becomes 0.0; no whole number is rounded


def _day(raw: object) -> int | None:
    """Days since 1970-01-01 of a TOML date or a string YYYY-MM-DD; a date with a time is neither."""
    if isinstance(raw, str) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", raw):
        try:
            raw = datetime.date.fromisoformat(raw)
        except ValueError:
            return None
    return day_of(raw) if type(raw) is datetime.date else None


def _moment(raw: object) -> int | None:
    """Microseconds since 1970-01-01 of a TOML date or time, in UTC if it has an offset, or of a text in ISO form."""
    if isinstance(raw, str):
        return read_moment(raw)
    if isinstance(raw, datetime.datetime):
        return moment_of(raw)
    day = _day(raw)
    return None if day is None else day * DAY_US


def show_value(kind: str, value: Number) -> str:
    """An internal value as the custodian writes it."""
    if kind == "timestamp":
        return moment_text(int(value))
    return day_text(int(value)) if kind == "date" else repr(value)


def listed(words: Iterable[str]) -> str:
    return ", ".join(words)


def dotted(path: Iterable[str]) -> str:
    """A key path as TOML writes it, always on one line.

    >>> dotted(("columns", "date of birth", "role"))
    'columns."date of birth".role'
    """
    return ".".join(
        key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=not key.isprintable())
        for key in path
    )


class Problems:
    """Everything wrong with one file, one line each."""

    def __init__(self, name: str, vocabulary: Vocabulary, folder: Path = Path()) -> None:
        self.name = name
        self.folder = folder  # of the file, for other files that it names
        self.vocabulary = vocabulary
        self.lines: list[str] = []

    def add(self, path: Iterable[str], what: str, accepted: str) -> None:
        self.lines.append(f"{self.name}: {dotted(path)}: {what}; accepted: {accepted}")

    def is_word(self, path: tuple[str, ...], pattern: str, word: str, kind: str) -> bool:
        """Whether `word` is accepted at `pattern`; otherwise adds a problem with the nearest word."""
        accepted = self.vocabulary.accepted(pattern)
        if word in accepted:
            return True
        if kind == "key" and word in self.vocabulary.accepted(""):
            what = f"unknown key here (it belongs at the top of the file: write {word} above the first [table])"
        elif near := get_close_matches(word, accepted, 1):
            what = f"unknown {kind} (did you mean {json.dumps(near[0])}?)"
        else:
            what = f"unknown {kind}"
        self.add(path, what, listed(accepted))
        return False

    def check(self) -> None:
        """Raise one error with every problem, if there is any."""
        if self.lines:
            raise ConfigError(
                "QG801",
                "\n".join(self.lines),
                "Correct the keys named above. The policy reference lists every key with its default.",
            )


class TomlTable:
    """One table of the file: returns checked values. Unknown keys are problems from the start."""

    def __init__(self, raw: object, path: tuple[str, ...], pattern: str, problems: Problems) -> None:
        self.path = path
        self.pattern = pattern
        self.problems = problems
        self.raw: RawTable = raw if isinstance(raw, dict) else {}
        self.is_table = isinstance(raw, dict)
        if not self.is_table:
            problems.add(path, "must be a table", f"keys {listed(problems.vocabulary.accepted(pattern))}")
        for key in self.raw:
            problems.is_word((*path, key), pattern, key, "key")

    def __contains__(self, key: str) -> bool:
        return key in self.raw

    def fail(self, key: str, what: str, accepted: str) -> None:
        self.problems.add((*self.path, key), what, accepted)

    def table(self, key: str) -> TomlTable:
        """The table at `key`; empty if it is missing."""
        return TomlTable(self.raw.get(key, {}), (*self.path, key), self._pattern(key), self.problems)

    def text(self, key: str, pattern: str | None = None) -> str:
        """A text, empty if it is missing; must match the pattern, if given."""
        raw = self.raw.get(key, "" if pattern is None else None)
        if isinstance(raw, str) and (pattern is None or re.fullmatch(pattern, raw)):
            return raw
        self.fail(key, self._fault(key), _accepted(pattern))
        return ""

    def choice(self, key: str, default: str | None = None) -> str | None:
        """One of the words of `key`; None after a problem. Required where there is no default."""
        raw = self.raw.get(key, default)
        words = listed(self.problems.vocabulary.accepted(self._pattern(key)))
        if not isinstance(raw, str):
            self.fail(key, self._fault(key), words)
        elif self.problems.is_word((*self.path, key), self._pattern(key), raw, f"choice {json.dumps(raw)}"):
            return raw
        return None

    def word(self, key: str, default: Word) -> Word:
        """The same with a default, which is also used after a problem."""
        return cast(Word, self.choice(key, default) or default)

    def choices(self, key: str, default: tuple[str, ...]) -> tuple[str, ...]:
        """A list of distinct words of `key`."""
        raw = self.raw.get(key, list(default))
        words = listed(self.problems.vocabulary.accepted(self._pattern(key)))
        if not isinstance(raw, list) or not raw or not all(isinstance(word, str) for word in raw):
            self.fail(key, "must be a non-empty list of strings", f"a list of {words}")
            return default
        if len(set(raw)) < len(raw):
            self.fail(key, "names something twice", f"a list of distinct strings from {words}")
        for word in raw:
            self.problems.is_word((*self.path, key), self._pattern(key), word, f"choice {json.dumps(word)}")
        return tuple(raw)

    def number(self, key: str, bound: Bound) -> Number | None:
        """A number within its bound; None if missing or wrong."""
        if key not in self:
            return None
        value = bound.read(self.raw[key])
        if value is None:
            self.fail(key, "is not an accepted number", bound.phrase)
        return value

    def required(self, key: str, bound: Bound) -> Number | None:
        """A required number."""
        if key not in self:
            self.fail(key, "is missing", bound.phrase)
        return self.number(key, bound)

    def increasing(self, key: str, kind: str) -> tuple[Number, ...] | None:
        """A strictly increasing list of values of a numeric type; None if it is not one."""
        raw = self.raw.get(key)
        values = [read_value(kind, item) for item in raw] if isinstance(raw, list) else [None]
        good = tuple(value for value in values if value is not None)
        if len(good) == len(values) and all(a < b for a, b in pairwise(good)):
            return good
        return None

    def _pattern(self, key: str) -> str:
        return f"{self.pattern}.{key}" if self.pattern else key

    def _fault(self, key: str) -> str:
        return "is not an accepted string" if key in self else "is missing"


SOME_TEXT = r"[\s\S]*\S[\s\S]*"
"""Matches texts that are not blank."""


def _accepted(pattern: str | None) -> str:
    """The accepted values in words."""
    if pattern in (None, SOME_TEXT):
        return "a string" if pattern is None else "a string that is not empty"
    return f"a string that matches {pattern}"
