"""A look over a source on DuckDB: exact counts over all rows, patterns over a sample.

The rows are held by a database in memory, which spills into a private folder that is removed in the end.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping

import duckdb

from querygate.core.column_figures import ColumnFigures
from querygate.core.vault_ports import Source
from querygate_adapters.sources.files import quoted
from querygate_adapters.store.catalog_json import Row
from querygate_adapters.store.duckdb_lockdown import CONFIG, Config
from querygate_adapters.vault.row_loader import cast_to

SAMPLE = 10_000
"""Rows on which patterns are tried, drawn over the whole table with a fixed seed."""

FEW = 100
"""Different values up to which each is counted."""

TYPES = ("integer", "number", "date", "timestamp", "boolean")
_AXIS = {"date": "CAST({x} - DATE '1970-01-01' AS BIGINT)", "timestamp": "epoch_us({x})"}


def survey(source: Source, patterns: Mapping[str, str], *, memory_mb: int = 4096) -> tuple[ColumnFigures, ...]:
    """Figures of every column of the source."""
    with tempfile.TemporaryDirectory(prefix="querygate-") as folder:
        config: Config = {**CONFIG, "memory_limit": f"{memory_mb}MB", "temp_directory": folder}
        with duckdb.connect(config={**config, "lock_configuration": "true"}) as database:
            names = source.columns()
            with source.reading():
                database.register("incoming", source.batches(names))
                database.execute("CREATE TABLE raw AS SELECT * FROM incoming")
            database.unregister("incoming")
            database.execute(
                f"CREATE TABLE sample AS SELECT * FROM raw USING SAMPLE reservoir({SAMPLE} ROWS) REPEATABLE (1)"
            )
            found = {str(row[0]): str(row[1]) for row in database.execute("DESCRIBE raw").fetchall()}
            return tuple(_Column(database, name, found[name]).figures(patterns) for name in names)


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
        matches, contains, words = self._sampled(patterns)
        return ColumnFigures(
            self._name, rows, rows - known, distinct, readable, *self._ends(kind, casts), values, matches, contains,
            words, self._largest(),
        )  # fmt: skip

    def _ends(self, kind: str | None, casts: Mapping[str, str]) -> tuple[float | None, float | None]:
        if kind is None:
            return None, None
        axis = _AXIS.get(kind, "CAST({x} AS DOUBLE)").format(x=f"({casts[kind]})")
        low, high = self._one(f"SELECT MIN({axis}), MAX({axis}) FROM raw")
        return float(low), float(high)

    def _values(self) -> tuple[tuple[str, int], ...]:
        found = self._db.execute(
            f"SELECT {self._text}, COUNT(*) FROM raw WHERE {self._x} IS NOT NULL GROUP BY 1 ORDER BY 1"
        ).fetchall()
        return tuple((str(value), int(n)) for value, n in found)

    def _largest(self) -> int:
        counts = f"SELECT COUNT(*) AS n FROM raw WHERE {self._x} IS NOT NULL GROUP BY {self._x}"
        return int(self._one(f"SELECT COALESCE(MAX(n), 0) FROM ({counts})")[0])

    def _sampled(self, patterns: Mapping[str, str]) -> tuple[dict[str, float], dict[str, float], float]:
        """Shares of the sampled values that are, and that contain, each pattern; and the mean number of words."""
        trimmed = f"TRIM({self._text})"
        tests = [
            f"AVG(CAST({call}({trimmed}, ?) AS INTEGER))"
            for call in ("regexp_full_match", "regexp_matches")
            for _ in patterns
        ]
        words = f"AVG(LENGTH({trimmed}) - LENGTH(REPLACE({trimmed}, ' ', '')) + 1)"
        found = self._one(
            f"SELECT {', '.join([*tests, words])} FROM sample WHERE {self._x} IS NOT NULL", [*patterns.values()] * 2
        )
        shares = [float(share or 0) for share in found]
        size = len(patterns)
        return (
            dict(zip(patterns, shares[:size], strict=True)),
            dict(zip(patterns, shares[size : 2 * size], strict=True)),
            shares[-1],
        )

    def _one(self, sql: str, parameters: list[str] | None = None) -> Row:
        return self._db.execute(sql, parameters or []).fetchall()[0]
