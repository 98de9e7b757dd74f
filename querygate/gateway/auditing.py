"""The path of an audit: logged statements to totals over places, totals to findings, findings to what a person reads.

    take apart   each statement into what it added up and over whom               (pure: sql)
    place        conditions evaluated on the combinations an attacker may know    (records)
    find         groups of fewer than k that the totals fix, view by view         (pure: audit)
    tell         where they are, and what the answers tell of them

The custodian's own job: it reads raw records. The interval path never imports it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from querygate.audit import PRESENCE, Domain, Finding, Left, Total, describe_places, find
from querygate.core.errors import ConfigError
from querygate.core.records import Records, Unanswerable
from querygate.core.types import Bools, Ints, folded
from querygate.sql.logged import Added, Logged, Unreadable, table_columns, take_apart

SUMS = frozenset({"sum", "avg", "mean", "fsum", "favg"})
AVERAGES = frozenset({"avg", "mean", "favg"})
COUNTS = frozenset({"count", "count_if"})
DIGITS = 15
EXTREMES = {"min": "min", "max": "max", "median": "median"}


@dataclass(frozen=True)
class Entry:
    """One statement of a log. The answer is a number, a row, or rows; a range is a mapping with low and high."""

    id: str
    user: str
    sql: str
    time: str = ""
    answer: Any = None


@dataclass(frozen=True)
class Options:
    """How to look. Without a list of secret columns, those that are measured are secret."""

    k: int = 5
    secret: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    dialect: str = "duckdb"
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    domains: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # public ones, by column


@dataclass(frozen=True)
class Audit:
    """What came out: findings with a text for where they are, statements left out, tests left out."""

    findings: tuple[tuple[Finding, str], ...]
    entries: int
    unread: tuple[tuple[str, str], ...]  # (query, why)
    left: tuple[tuple[str, Left], ...]  # (view, what)
    places: int


def audit(entries: Sequence[Entry], records: Records, options: Options) -> Audit:
    """Everything that the answers of the log isolate."""
    check_secret(options.secret, records.columns)
    secret, known, unread = roles(entries, records.columns, options)
    size = records.settle(known)
    placing = _Placing(records, size, options.domains)
    totals: list[Total] = []
    for entry in entries:
        if entry.id in unread:
            continue
        try:
            for logged in take_apart(entry.sql, records.columns, secret, options.dialect):
                totals += placing.totals(entry, logged)
        except (Unreadable, Unanswerable) as problem:
            unread[entry.id] = str(problem)
    findings, left = find(totals, placing.weights, options.k, placing.domains, options.groups)
    columns = {name: records.values(name) for name in known}
    told = tuple((finding, describe_places(finding.places, columns)) for finding in findings)
    return Audit(told, len(entries), tuple(unread.items()), tuple(left), size)


def check_secret(secret: Collection[str], columns: Collection[str]) -> None:
    unknown = [name for name in secret if folded(name) not in map(folded, columns)]
    if unknown:
        raise ConfigError(
            "QG802",
            f"The data has no column {', '.join(unknown)}.",
            f"Its columns are: {', '.join(columns)}.",
        )


def roles(
    entries: Iterable[Entry], columns: Collection[str], options: Options
) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, str]]:
    """Which columns are secret, which are known and used, and which statements cannot be read."""
    measured: set[str] = set()
    used: set[str] = set()
    unread: dict[str, str] = {}
    for entry in entries:
        try:
            inside, mentioned = table_columns(entry.sql, options.dialect)
        except Unreadable as problem:
            unread[entry.id] = str(problem)
            continue
        measured |= inside
        used |= mentioned
    hidden = {folded(name) for name in options.secret} or measured - {folded(name) for name in options.known}
    secret = tuple(name for name in columns if folded(name) in hidden)
    known = tuple(name for name in columns if folded(name) in used and folded(name) not in hidden)
    return secret, known, unread


class _Placing:
    """Statements to totals over places. What was evaluated once is kept."""

    def __init__(self, records: Records, places: int, public: Mapping[str, tuple[float, float]]) -> None:
        self.records, self.places, self.public = records, places, public
        self.weights: dict[str, Ints] = {}
        self.domains: dict[str, Domain] = {}
        self._masks: dict[str, Bools] = {}
        self._names: dict[tuple[str, bytes], str] = {}

    def totals(self, entry: Entry, logged: Logged) -> Iterator[Total]:
        """One total for each aggregate and group that the statement showed."""
        label, keys = np.zeros(self.places, dtype=np.int64), [()]
        if logged.keys:
            label, keys = self.records.groups([text for text, _ in logged.keys])
        for added in logged.added:
            parts = self._parts(added)
            if len(parts) != 1:
                raise Unreadable("It adds up different secrets over different people.")
            (secret, members) = parts[0]
            for group, key in enumerate(keys):
                here = members & (label == group)
                if here.any():
                    answer = _answer(entry.answer, logged, key, added.item)
                    yield from self._total(entry, added, secret, here, answer)

    def _parts(self, added: Added) -> list[tuple[str, Bools]]:
        """(secret condition, places), with parts over the same places joined and empty ones left out."""
        by_places: dict[bytes, tuple[list[str], Bools]] = {}
        for part in added.parts:
            members = self._mask(part.known)
            if members.any():
                by_places.setdefault(members.tobytes(), ([], members))[0].append(part.secret)
        return [("" if "" in held else " OR ".join(held), members) for held, members in by_places.values()]

    def _mask(self, condition: str) -> Bools:
        if condition not in self._masks:
            self._masks[condition] = self.records.mask(condition)
        return self._masks[condition]

    def _total(self, entry: Entry, added: Added, secret: str, members: Bools, answer: Any) -> Iterator[Total]:
        name = added.name
        measure = self._measure("" if name in COUNTS else added.value, secret, name in COUNTS)
        low, high = _range(answer)
        if name in COUNTS:
            value = added.value if name == "count" else ""
            if value:
                raise Unreadable("It counts the values of a column.")
            yield Total(entry.id, entry.user, measure, members, low=low, high=high, said=_said(answer))
        elif name in SUMS:
            records = int(self.records.counts(added.value, secret)[members].sum())
            factor = records if name in AVERAGES else 1
            said = f"{records}*{_said(answer)}" if name in AVERAGES and _said(answer) else _said(answer)
            low, high = (None if end is None else end * factor for end in (low, high))
            yield Total(entry.id, entry.user, measure, members, "", low, high, said)
        elif name in EXTREMES:
            yield Total(entry.id, entry.user, measure, members, EXTREMES[name], low, high, _said(answer))  # type: ignore[arg-type]
        else:
            raise Unreadable(f"What {name.upper()} tells together with others is not known.")

    def _measure(self, value: str, secret: str, counted: bool) -> str:
        """The name of what is added up. A secret condition is told by whom it holds for, so that rewordings are one."""
        held = self.records.held(secret) if secret else b""
        key = (value, hashlib.blake2b(held, digest_size=16).digest() if secret else b"")
        if key not in self._names:
            base = value.strip('"') if value else "" if secret else PRESENCE
            shown = f"{base}{' where ' if base else ''}{_plain(secret)}" if secret else base
            self._names[key] = shown
            counts = self.records.counts(value, "") if value else self.records.counts("", "")
            self.weights[shown] = counts
            if not value:
                self.domains[shown] = Domain(Fraction(0), Fraction(1), whole=True, public=True)
            else:
                found = self.records.extent(value)
                public = self.public.get(value.strip('"'))
                low, high = map(_fraction, public or found)
                if low is not None and high is not None:
                    whole = all(isinstance(end, int) for end in found)
                    self.domains[shown] = Domain(low, high, whole, public is not None)
        return self._names[key]


def _plain(secret: str) -> str:
    """A secret condition as it was written, where it is one that holds."""
    inner = secret.removeprefix("((").removesuffix(") IS NOT DISTINCT FROM TRUE)")
    return inner.replace('"', "") if inner != secret and "IS NOT DISTINCT" not in inner else secret.replace('"', "")


# -- answers -----------------------------------------------------------------------------------------------------------


def _answer(answer: Any, logged: Logged, key: tuple[Any, ...], item: int | None) -> Any:
    """The number that a group was given in one column of the select list."""
    if answer is None or item is None or not logged.alone:
        return None
    rows = answer if isinstance(answer, list) else [answer]
    if not rows:
        return None
    if not isinstance(rows[0], (list, dict)) or _is_range(rows[0]):
        rows = [rows]  # a number, or one row of them
    if not logged.keys:
        return _cell(rows[0], item) if len(rows) == 1 else None
    for row in rows:
        shown = [
            (_cell(row, place), value) for value, (_, place) in zip(key, logged.keys, strict=True) if place is not None
        ]
        if shown and all(_same(one, other) for one, other in shown):
            return _cell(row, item)
    return None


def _cell(row: Any, item: int) -> Any:
    values = (
        list(row.values()) if isinstance(row, dict) and not _is_range(row) else row if isinstance(row, list) else [row]
    )
    return values[item] if item < len(values) else None


def _same(one: Any, other: Any) -> bool:
    return one == other or str(one) == str(other) or (_fraction(one) is not None and _fraction(one) == _fraction(other))


def _is_range(value: Any) -> bool:
    return isinstance(value, dict) and {"low", "high"} <= value.keys()


def _range(answer: Any) -> tuple[Fraction | None, Fraction | None]:
    if _is_range(answer):
        return _fraction(answer["low"]), _fraction(answer["high"])
    if isinstance(answer, float) and len(repr(answer)) > DIGITS:  # a double in full, its last digit in doubt
        return Fraction(math.nextafter(answer, -math.inf)), Fraction(math.nextafter(answer, math.inf))
    value = _fraction(answer)
    return value, value


def _said(answer: Any) -> str:
    if _is_range(answer):
        return f"[{answer['low']}, {answer['high']}]"
    return "" if _fraction(answer) is None else str(answer)


def _fraction(value: Any) -> Fraction | None:
    """A number as it is written: 0.1 is a tenth."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str, Decimal)):
        return None
    try:
        return Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        return None
