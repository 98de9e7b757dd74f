"""The records behind a log without their secrets, for masked audits.

The known columns of all people are kept. Secret columns are dropped, and secret conditions are tried on *imagined*
records instead, which have every combination of values that the statements can distinguish. So two conditions are equal
if they mean the same, not if they happen to hold for the same people; and everything derived from these records is the
same for all data with the same known columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import pairwise
from typing import NoReturn

import numpy as np
import pyarrow as pa

from querygate.core.audit.audit_records import MOST_DISTINCT, SecretTests, Unanswerable
from querygate.core.publications.vault_ports import Source
from querygate.core.types import Bools, Floats, Ints, SqlValue, folded
from querygate_adapters.sources.files import quoted
from querygate_adapters.vault.raw_records import DuckDBRecords

MOST_IMAGINED = 20_000
"""The most imagined records. If there are more combinations, this many are drawn, always the same ones."""

_WIDEST_RUN = 400
"""The most whole numbers imagined one by one where statements calculate with them."""

_WHOLE = frozenset({"BIGINT", "UBIGINT", "HUGEINT"})
_TIMES = {"DATE": "1 DAY", "TIMESTAMP": "1 MICROSECOND", "TIMESTAMP WITH TIME ZONE": "1 MICROSECOND"}
_OTHER_TEXTS = ("", "\N{WHITE SQUARE}", "\N{WHITE CIRCLE}")
"""Texts that statements are unlikely to mention."""


class BlindRecords(DuckDBRecords):
    """Records by place, without secret columns. `nullable` are the secret columns known to have missing values."""

    has_secrets = False

    def __init__(self, source: Source, secret: Sequence[str], nullable: Sequence[str] = ()) -> None:
        super().__init__(source)
        hidden = {folded(name) for name in secret}
        self._kinds = {str(row[0]): str(row[1]) for row in self._rows("DESCRIBE people")}
        self._secret = [name for name in self._kinds if folded(name) in hidden]
        self._nullable = {folded(name) for name in nullable}
        kept = ", ".join(quoted(name) for name in self._kinds if name not in self._secret)
        self._db.execute(f"CREATE TABLE blind AS SELECT {kept or 'TRUE AS nothing'} FROM people")
        self._db.execute("DROP TABLE people")
        self._db.execute("ALTER TABLE blind RENAME TO people")
        self.expect({})

    def expect(self, tests: Mapping[str, SecretTests]) -> None:
        """Imagine records that differ wherever the statements can see a difference."""
        for number, name in enumerate(self._secret):
            told = tests.get(folded(name), SecretTests())
            missing = told.asks_missing or folded(name) in self._nullable
            self._db.execute(
                f"CREATE OR REPLACE TABLE value_{number} AS {self._values_sql(name, missing=missing)}",
                [list(dict.fromkeys(_points(self._kinds[name], told)))],
            )
        self._cross([name for name in self._secret if folded(name) in tests])

    def _values_sql(self, name: str, *, missing: bool) -> str:
        """The imagined values of a column, numbered."""
        kind = self._kinds[name]
        near = f"[x, x - INTERVAL {_TIMES[kind]}, x + INTERVAL {_TIMES[kind]}]" if kind in _TIMES else "[x]"
        read = f"CAST([x] AS {kind})" if kind.endswith("[]") else f"TRY_CAST(x AS {kind})"
        found = f"SELECT CAST(unnest({near}) AS {kind}) AS x FROM (SELECT {read} AS x FROM (SELECT unnest(?) AS x))"
        also = f" UNION ALL SELECT CAST(NULL AS {kind})" if missing else ""
        listed = f"SELECT DISTINCT x FROM ({found}) WHERE x IS NOT NULL{also}"
        return f"SELECT row_number() OVER (ORDER BY x) - 1 AS n, x FROM ({listed})"

    def _cross(self, used: Sequence[str]) -> None:
        """Every combination of the values of the columns in use, or as many as fit."""
        numbers = {name: self._secret.index(name) for name in used}
        sizes = {name: int(self._rows(f"SELECT COUNT(*) FROM value_{i}")[0][0]) for name, i in numbers.items()}
        sizes = {name: size for name, size in sizes.items() if size}
        chosen = _combinations(tuple(sizes.values()))
        columns = {f"n{numbers[name]}": chosen[i] for i, name in enumerate(sizes)}
        table = pa.table({"number": np.arange(chosen.shape[1]), **columns})
        self._db.register("chosen", table)
        listed = ", ".join(
            f"value_{numbers[name]}.x AS {quoted(name)}" if name in sizes else f"CAST(NULL AS {kind}) AS {quoted(name)}"
            for name, kind in self._kinds.items()
        )
        joins = " ".join(f"JOIN value_{numbers[name]} ON value_{numbers[name]}.n = n{numbers[name]}" for name in sizes)
        self._db.execute(f"CREATE OR REPLACE TABLE imagined AS SELECT number, {listed} FROM chosen {joins}")
        self._db.unregister("chosen")

    def held(self, secret: str) -> Bools:
        """The imagined records for which it holds; if it fails for a record, it does not hold."""
        found = self._column(f"SELECT COALESCE(TRY(({secret})), FALSE) AS x FROM imagined ORDER BY number")
        return np.asarray(np.ma.filled(found, False), dtype=np.bool_)

    def distinct(self, value: str) -> list[SqlValue]:
        """Its values among imagined records."""
        found = self._rows(f"SELECT DISTINCT TRY(({value})) AS x FROM imagined ORDER BY 1 LIMIT {MOST_DISTINCT}")
        return [row[0] for row in found]

    def counts(self, value: str, secret: str) -> Ints:
        """All records of each place: each of them could have the value and satisfy the condition."""
        self._rows(f"SELECT ({value or 'TRUE'}), ({secret or 'TRUE'}) FROM imagined LIMIT 0")
        return super().counts("", "")

    def largest(self, value: str, secret: str) -> tuple[Floats, Floats, Floats]:
        _unseen()

    def sums(self, value: str, secret: str) -> list[Fraction]:
        _unseen()

    def extent(self, value: str) -> tuple[SqlValue, SqlValue]:
        _unseen()


def _unseen() -> NoReturn:
    raise Unanswerable("Secret values are not read.")


def _combinations(sizes: tuple[int, ...]) -> Ints:
    """A line for each column: which of its values a record has."""
    number = int(np.prod([float(size) for size in sizes])) if sizes else 1
    if number <= MOST_IMAGINED:
        return np.array(np.unravel_index(np.arange(number), sizes) if sizes else np.zeros((0, 1)), dtype=np.int64)
    rng = np.random.default_rng(0)
    return np.array([rng.integers(0, size, MOST_IMAGINED) for size in sizes], dtype=np.int64)


def _points(kind: str, told: SecretTests) -> Iterator[str]:
    """Texts of values on each side of every constant that a column is compared with."""
    if kind == "BOOLEAN":
        yield from ("true", "false")
    elif kind in _WHOLE:
        yield from map(str, _whole_points(told))
    elif kind in ("DOUBLE", "FLOAT") or kind.startswith("DECIMAL"):
        yield from map(str, _real_points(told))
    elif kind in _TIMES:
        yield from (*told.literals, "1970-01-01")
        yield from (f"{year}-07-02" for year in range(1900, 2101) if told.calculates)
    else:
        yield from _OTHER_TEXTS
        for text in told.literals:
            yield from (text, f"{text}\N{WHITE SQUARE}", text.replace("%", "").replace("_", "\N{WHITE SQUARE}"))


def _whole_points(told: SecretTests) -> Iterator[int]:
    named = sorted({int(number.to_integral_value("ROUND_FLOOR")) for number in _numbers(told)} or {0})
    yield from (number + step for number in named for step in (-1, 0, 1, 2))
    if told.calculates:
        first, last = min(0, *named), max(0, *named)
        yield from range(first, last + 1, max(1, (last - first) // _WIDEST_RUN))


def _real_points(told: SecretTests) -> Iterator[Decimal]:
    named = sorted(_numbers(told) or {Decimal(0)})
    yield from (named[0] - 1, *named, named[-1] + 1)
    yield from ((one + other) / 2 for one, other in pairwise(named))
    if told.calculates:
        first, last = min(Decimal(0), *named), max(Decimal(0), *named)
        yield from (first + (last - first) * i / _WIDEST_RUN for i in range(_WIDEST_RUN + 1))


def _numbers(told: SecretTests) -> set[Decimal]:
    found = set()
    for text in told.literals:
        with suppress(InvalidOperation):
            number = Decimal(text)
            if number.is_finite() and abs(number.adjusted()) < 30:
                found.add(number)
    return found
