"""Exact counts of raw rows, for answers that are told with noise. It reads vaults, and only the noisy path is given it.

One pass over the rows of a version gives every number of every group. A person has at most so many rows in it as the
policy says: rows beyond that are left out, always the same ones, so that the sensitivity the noise is made for holds
whatever the data looks like.
"""

from __future__ import annotations

import threading
from pathlib import Path

import duckdb

from querygate.core.errors import NotPermitted
from querygate.core.expression import told_key
from querygate.core.ports import Limits
from querygate.core.tally import Tallied, Tally, WantedTally
from querygate.core.types import NoiseOptions
from querygate_adapters.sources.files import quoted
from querygate_adapters.store.duckdb_lockdown import connect, limited
from querygate_adapters.store.duckdb_store import version_file


class VaultCounts:
    """The vaults of a site, opened for reading while they are needed and kept open."""

    def __init__(self, vault: Path, *, memory_mb: int) -> None:
        self._vault, self._memory_mb = vault, memory_mb
        self._open: dict[Path, duckdb.DuckDBPyConnection] = {}
        self._single: dict[tuple[Path, str, int], bool] = {}
        self._lock = threading.Lock()

    def tally(self, dataset: str, version: int, tally: Tally, options: NoiseOptions, limits: Limits) -> Tallied:
        path = version_file(self._vault / dataset, version)
        cursor = self._cursor(path)
        try:
            with limited(cursor, limits.timeout_s):
                rows = self._rows(cursor, path, tally, options)
                found: Tallied = {}
                for row in cursor.execute(_statement(tally, rows)).fetchall():
                    keys = tuple(map(told_key, row[: len(tally.keys)]))
                    found[keys] = tuple(map(_whole, row[len(tally.keys) :]))
        except duckdb.Error:
            raise NotPermitted(
                "QG305", "The rows could not be counted for this statement.", "Simplify the statement."
            ) from None
        finally:
            cursor.close()
        return found

    def _cursor(self, path: Path) -> duckdb.DuckDBPyConnection:
        with self._lock:
            if path not in self._open:
                if not path.exists():
                    raise NotPermitted(
                        "QG310",
                        "Noisy answers need the raw rows, and this gate has no access to them.",
                        "Ask for guaranteed ranges, or ask the custodian.",
                    )
                self._open[path] = connect(path, read_only=True, memory_mb=self._memory_mb)
            return self._open[path].cursor()

    def _rows(self, cursor: duckdb.DuckDBPyConnection, path: Path, tally: Tally, options: NoiseOptions) -> str:
        """The rows that count: those the statement selects, of each person no more than the policy says."""
        where = f" WHERE {tally.where}" if tally.where else ""
        if not options.person or self._is_bounded(cursor, path, options):
            return f"(SELECT * FROM rows{where})"
        person, row = quoted(options.person), quoted(_row_column(cursor))
        return (
            f"(SELECT * FROM rows{where} QUALIFY row_number() OVER (PARTITION BY {person} ORDER BY hash({row}), {row}) "
            f"<= {int(options.rows_per_person)})"
        )

    def _is_bounded(self, cursor: duckdb.DuckDBPyConnection, path: Path, options: NoiseOptions) -> bool:
        """Has nobody more rows than that? Then leaving some out would change nothing. Asked once of each version."""
        key = (path, options.person, options.rows_per_person)
        if key not in self._single:
            most = cursor.execute(
                f"SELECT max(n) FROM (SELECT count(*) AS n FROM rows GROUP BY {quoted(options.person)})"
            ).fetchone()
            self._single[key] = bool(most is None or most[0] is None or most[0] <= options.rows_per_person)
        return self._single[key]

    def close(self) -> None:
        with self._lock:
            for connection in self._open.values():
                connection.close()
            self._open.clear()


def _row_column(cursor: duckdb.DuckDBPyConnection) -> str:
    """The column with the number of each row: the vault's own, which comes first."""
    return str(cursor.execute("SELECT column_name FROM (DESCRIBE rows) LIMIT 1").fetchall()[0][0])


def _statement(tally: Tally, rows: str) -> str:
    keys = [f"{key} AS k{i}" for i, key in enumerate(tally.keys)]
    numbers = [f"{_figure(wanted)} AS n{i}" for i, wanted in enumerate(tally.wanted)]
    grouped = f" GROUP BY {', '.join(str(i + 1) for i in range(len(keys)))}" if keys else ""
    return f"SELECT {', '.join([*keys, *numbers])} FROM {rows}{grouped}"


def _figure(wanted: WantedTally) -> str:
    test = f" FILTER (WHERE {wanted.where})" if wanted.where else ""
    value = wanted.value or "*"
    if wanted.figure == "count":
        return f"count({value}){test}"
    if wanted.figure == "distinct":
        return f"count(DISTINCT {value}){test}"
    steps = f"least(greatest(CAST({value} AS DOUBLE) / {wanted.step!r}, {wanted.first}), {wanted.last})"
    steps = f"CAST(round({steps}) AS HUGEINT)"
    if wanted.figure == "histogram":
        return f"histogram({steps}){test}"
    return f"coalesce(sum({steps}){test}, 0)"


def _whole(value: int | dict[int, int] | None) -> int | dict[int, int]:
    if isinstance(value, dict):
        return {int(step): int(number) for step, number in value.items()}
    return int(value or 0)
