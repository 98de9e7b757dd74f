"""The profile of a source, computed by DuckDB: exact counts over all rows, patterns over a sample.

An in-memory database holds the rows, and spills into a private folder that is removed at the end.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path

import duckdb
import numpy as np

from querygate.core.column_profile import BLANK, UNMEASURED, ColumnFigures
from querygate.core.publications.vault_ports import Source
from querygate.core.types import Floats
from querygate_adapters.sources.files import quoted
from querygate_adapters.sources.value_casts import at_limit, cast_to
from querygate_adapters.store.catalog_json import Row
from querygate_adapters.store.duckdb_lockdown import in_memory

SAMPLE = 10_000
"""Rows on which patterns are tried, drawn over the whole table with a fixed seed."""

FEW = 100
"""Columns with at most this many distinct values have each value counted."""

STEPS = (1000, 500, 100, 50, 10, 5, 2, 1, 0.5, 0.1, 0.05, 0.01, 0.005, 0.001)
"""Steps that measured values may be multiples of, the widest first."""

OUTERMOST = 6
"""Number of smallest and largest values listed for a number column: more than there are codes for missing values."""

NEARLY = 0.99
"""Share of the values that must be multiples of a step; the others may be mistakes."""

TYPES = ("integer", "number", "date", "timestamp", "boolean")
_AXIS = {"date": "CAST({x} - DATE '1970-01-01' AS BIGINT)", "timestamp": "epoch_us({x})"}


def survey(
    source: Source, patterns: Mapping[str, str], chosen: Collection[str] | None = None, *, memory_mb: int = 4096
) -> tuple[ColumnFigures, ...]:
    """Figures of every column of the source, or of these. All columns are read, so that the sample is the same."""
    with tempfile.TemporaryDirectory(prefix="querygate-") as folder:
        memory = f"{memory_mb}MB"
        with in_memory(spill=Path(folder), memory_limit=memory, lock_configuration="true") as database:
            names = source.columns()
            with source.reading():
                database.register("incoming", source.batches(names))
                database.execute("CREATE TABLE raw AS SELECT * FROM incoming")
            database.unregister("incoming")
            database.execute(
                f"CREATE TABLE sample AS SELECT * FROM raw USING SAMPLE reservoir({SAMPLE} ROWS) REPEATABLE (1)"
            )
            found = {str(row[0]): str(row[1]) for row in database.execute("DESCRIBE raw").fetchall()}
            shown = [name for name in names if chosen is None or name in chosen]
            return tuple(_Column(database, name, found[name]).figures(patterns) for name in shown)


def _axis(kind: str | None, casts: Mapping[str, str]) -> str | None:
    """A column as a number: a date as days, a timestamp as microseconds; None for anything else."""
    return None if kind is None else _AXIS.get(kind, "CAST({x} AS DOUBLE)").format(x=f"({casts[kind]})")


class _Column:
    """One column of the table `raw`."""

    def __init__(self, database: duckdb.DuckDBPyConnection, name: str, stored: str) -> None:
        self._db, self._name, self._stored = database, name, stored
        self._x = quoted(name)
        self._text = f"CAST({self._x} AS VARCHAR)"

    def figures(self, patterns: Mapping[str, str]) -> ColumnFigures:
        casts = {kind: cast_to(self._name, kind, self._stored) for kind in TYPES}
        casts["date"] = f"CASE WHEN {casts['timestamp']} = {casts['date']} THEN {casts['date']} END"  # no time of day
        counts = ", ".join(f"COUNT({cast})" for cast in casts.values())
        rows, known, distinct, *read = self._one(
            f"SELECT COUNT(*), COUNT({self._x}), COUNT(DISTINCT {self._text}), {counts} FROM raw"
        )
        readable = dict(zip(TYPES, map(int, read), strict=True))
        kind = next((kind for kind in ("number", "date", "timestamp") if known and readable[kind] == known), None)
        values = self._values() if 0 < distinct <= FEW else ()
        matches, contains, words = self._sampled(patterns, inside=kind is None)
        number = casts["number"] if kind == "number" else None
        middle, spread, step = self._spread(number) if number else (None, None, 0.0)
        return ColumnFigures(
            self._name, rows, rows - known, distinct, readable, *self._ends(kind, casts), values, matches, contains,
            words, self._largest(), middle, spread, step, self._blanks(patterns.get(BLANK, "")),
            *self._beyond(known - readable["number"], patterns),
            self._outermost(number) if number else (), self._sample(_axis(kind, casts)),
        )  # fmt: skip

    def _ends(self, kind: str | None, casts: Mapping[str, str]) -> tuple[float | None, float | None]:
        if kind is None:
            return None, None
        low, high = self._one(f"SELECT MIN({_axis(kind, casts)}), MAX({_axis(kind, casts)}) FROM raw")
        return float(low), float(high)

    def _spread(self, number: str) -> tuple[float | None, float | None, float]:
        """Median, standard deviation, and the step that nearly all values are multiples of."""
        multiples = ", ".join(
            f"AVG(CAST(ABS(x / {step} - ROUND(x / {step})) < 1e-6 AS INTEGER)) FILTER (x <> 0)" for step in STEPS
        )
        median, deviation, *shares = self._one(
            f"SELECT MEDIAN(x), CASE WHEN MAX(ABS(x)) < 1e150 THEN STDDEV_SAMP(x) END, {multiples} "
            f"FROM (SELECT CAST({number} AS DOUBLE) AS x FROM raw) WHERE isfinite(x)"
        )
        step = next((step for step, share in zip(STEPS, shares, strict=True) if (share or 0) >= NEARLY), 0.0)
        return median, deviation, step

    def _sample(self, number: str | None) -> Floats:
        """The sampled numbers, days or moments, or the ranks of sampled texts; NaN where missing."""
        value = number or f"CASE WHEN {self._x} IS NOT NULL THEN DENSE_RANK() OVER (ORDER BY {self._text}) END"
        values = f"SELECT rowid AS i, CAST({value} AS DOUBLE) AS x FROM sample"
        found = self._db.execute(f"SELECT COALESCE(x, 'nan') AS x FROM ({values}) ORDER BY i").fetchnumpy()["x"]
        return np.asarray(found, dtype=np.float64)

    def _blanks(self, pattern: str) -> tuple[str, ...]:
        if self._stored != "VARCHAR" or not pattern:
            return ()
        is_blank = f"regexp_full_match(TRIM({self._x}), ?)"
        found = self._db.execute(f"SELECT DISTINCT TRIM({self._x}) FROM raw WHERE {is_blank} ORDER BY 1", [pattern])
        return tuple(str(text) for (text,) in found.fetchall())

    def _beyond(self, others: int, patterns: Mapping[str, str]) -> tuple[tuple[str, ...], int]:
        """What stands for no value among numbers, and how many records are beyond a limit of detection; nothing where
        there are other texts too.
        """
        if self._stored != "VARCHAR" or not others or not patterns.get(UNMEASURED):
            return (), 0
        limit = at_limit(self._x, missing=False)
        number = cast_to("limit", "number", "VARCHAR")
        blank = f"(?:{patterns[BLANK]})|(?:{patterns[UNMEASURED]})"
        censored, blanks, texts = self._one(
            f"SELECT COUNT(*) FILTER ({number} IS NOT NULL), COUNT(*) FILTER ({number} IS NULL AND is_blank), "
            f"LIST(DISTINCT t ORDER BY t) FILTER ({number} IS NULL AND is_blank) "
            f'FROM (SELECT {limit} AS "limit", TRIM({self._x}) AS t, regexp_full_match(TRIM({self._x}), ?) AS is_blank '
            f"FROM raw WHERE {self._x} IS NOT NULL AND {cast_to(self._name, 'number', 'VARCHAR')} IS NULL)",
            [blank],
        )
        return (tuple(map(str, texts or ())), int(censored)) if censored + blanks == others else ((), 0)

    def _outermost(self, number: str) -> tuple[str, ...]:
        shown = f"TRIM({self._text}) AS t, CAST({number} AS DOUBLE) AS x"
        different = f"SELECT DISTINCT {shown} FROM raw WHERE {self._x} IS NOT NULL"
        ends = (f"(SELECT t, x FROM different ORDER BY x {order}, t LIMIT {OUTERMOST})" for order in ("ASC", "DESC"))
        found = self._db.execute(
            f"WITH different AS ({different}) SELECT t FROM ({' UNION '.join(ends)}) ORDER BY x, t"
        )
        return tuple(str(text) for (text,) in found.fetchall())

    def _values(self) -> tuple[tuple[str, int], ...]:
        found = self._db.execute(
            f"SELECT {self._text}, COUNT(*) FROM raw WHERE {self._x} IS NOT NULL GROUP BY 1 ORDER BY 1"
        ).fetchall()
        return tuple((str(value), int(n)) for value, n in found)

    def _largest(self) -> int:
        counts = f"SELECT COUNT(*) AS n FROM raw WHERE {self._x} IS NOT NULL GROUP BY {self._x}"
        return int(self._one(f"SELECT COALESCE(MAX(n), 0) FROM ({counts})")[0])

    def _sampled(
        self, patterns: Mapping[str, str], *, inside: bool
    ) -> tuple[dict[str, float], dict[str, float], float]:
        """Shares of the sampled values that match, and that contain, each pattern; and the mean number of words.
        Numbers and dates contain no patterns.
        """
        calls = ("regexp_full_match", "regexp_matches") if inside else ("regexp_full_match",)
        different = f"SELECT TRIM({self._text}) AS t, COUNT(*) AS n FROM sample WHERE {self._x} IS NOT NULL GROUP BY 1"
        tests = [f"CAST({call}(t, ?) AS INTEGER)" for call in calls for _ in patterns]
        figures = (
            f"SUM(n * ({figure})) / SUM(n)" for figure in [*tests, "LENGTH(t) - LENGTH(REPLACE(t, ' ', '')) + 1"]
        )
        wanted = [*patterns.values()] * len(calls)
        found = self._one(f"SELECT {', '.join(figures)} FROM ({different})", wanted)
        shares = [float(share or 0) for share in found]
        size = len(patterns)
        return (
            dict(zip(patterns, shares[:size], strict=True)),
            dict(zip(patterns, shares[size : 2 * size], strict=True)) if inside else {},
            shares[-1],
        )

    def _one(self, sql: str, parameters: list[str] | None = None) -> Row:
        return self._db.execute(sql, parameters or []).fetchall()[0]
