"""The raw rows of a published version for its report: aggregates, and a small sample for a chart.

Samples are drawn by a hash of the number of a row, so that the same rows are drawn each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from querygate.core.publications.vault_ports import ValueCount
from querygate.core.types import IN_SQL, Floats, Ints, Scalar
from querygate_adapters.sources.files import BATCH_ROWS, quoted, translated
from querygate_adapters.store.column_arrays import floats, ints
from querygate_adapters.vault.person_history import Vault, attach, spill_beside
from querygate_adapters.vault.staging_tables import DuckDBStagingTables
from querygate_adapters.vault.value_counts import count_values

_AXIS = {"DATE": "CAST({x} - DATE '1970-01-01' AS DOUBLE)", "TIMESTAMP": "CAST(epoch_us({x}) AS DOUBLE)"}


class ReportRows:
    """Raw rows and classes of one version."""

    def __init__(self, path: Path, *, memory_mb: int = 4096) -> None:
        self._db = attach({"vault": path}, memory_mb)
        self._memory_mb, self._spill = memory_mb, spill_beside(path)
        self._vault = Vault.of(self._db, "vault")
        [(self.rows,)] = self._db.execute("SELECT COUNT(*) FROM vault.rows").fetchall()

    def truth(self, kind: str, columns: Sequence[str]) -> float | None:
        """A statistic of all rows; None where it does not exist."""
        axes = ", ".join(self._axis(name) for name in columns)
        [(found,)] = self._db.execute(f"SELECT {IN_SQL[kind]}({axes}) FROM vault.rows r").fetchall()
        return None if found is None or not np.isfinite(found) else float(found)

    def counts(self, column: str) -> dict[str | None, int]:
        """Rows by value of a category."""
        text = f"CAST(r.{quoted(column)} AS VARCHAR)"
        found = self._db.execute(f"SELECT {text}, COUNT(*) FROM vault.rows r GROUP BY 1 ORDER BY 1").fetchall()
        return {value: int(count) for value, count in found}

    def by_group(self, dataset: str, sql: str) -> dict[tuple[Scalar, ...], float | None]:
        """The last column of a statement's result by the columns before it; flags are texts."""
        self._db.execute(f"CREATE TEMP VIEW IF NOT EXISTS {quoted(dataset)} AS SELECT * FROM vault.rows")
        found = self._db.execute(sql).fetchall()
        return {tuple(str(k).lower() if isinstance(k, bool) else k for k in keys): value for *keys, value in found}

    def hulls(self, column: str) -> tuple[Ints, Floats, Floats]:
        """(class, smallest, largest value); NaN where all are missing."""
        x = self._axis(column)
        found = self._db.execute(
            f"SELECT c.class, MIN({x}) AS lo, MAX({x}) AS hi FROM {self._classed()} GROUP BY 1 ORDER BY 1"
        ).fetchnumpy()
        return ints(found["class"]), floats(found["lo"]), floats(found["hi"])

    def far_out(self, column: str) -> int:
        """Values more than three times the middle half beyond it (Tukey's "far out")."""
        x = self._axis(column)
        [(found,)] = self._db.execute(
            f"WITH half AS (SELECT quantile_cont({x}, [0.25, 0.75]) AS q FROM vault.rows r) "
            "SELECT COUNT(*) FROM vault.rows r, half "
            f"WHERE {x} < q[1] - 3 * (q[2] - q[1]) OR {x} > q[2] + 3 * (q[2] - q[1])"
        ).fetchall()
        return int(found)

    def sample(self, columns: Sequence[str], most: int) -> tuple[Ints, Mapping[str, Floats]]:
        """Class and values of a sample of up to `most` rows."""
        values = "".join(f", {self._axis(name)} AS v{i}" for i, name in enumerate(columns))
        found = self._db.execute(f"SELECT c.class{values} FROM {self._classed()} {self._drawn(most)}").fetchnumpy()
        classes = ints(found["class"])
        return classes, {name: floats(found[f"v{i}"]) for i, name in enumerate(columns)}

    def source(self, most: int) -> _Drawn:
        """A sample of rows as a source, to be partitioned again."""
        return _Drawn(self._db.cursor(), tuple(self._vault.types), self._drawn(most) if self.rows > most else "")

    def policy(self) -> str:
        """The stored policy; empty for a version without one."""
        named = "SELECT 1 FROM duckdb_tables() WHERE database_name = 'vault' AND table_name = 'policy'"
        if not self._db.execute(named).fetchall():
            return ""
        return str(self._db.execute("SELECT body FROM vault.policy").fetchall()[0][0])

    def selected(self, where: str) -> _Drawn:
        """The rows for which a condition, in the gate's own wording, is true."""
        return _Drawn(self._db.cursor(), tuple(self._vault.types), f"WHERE {where}" if where else "")

    def classed(self, columns: Sequence[str]) -> tuple[Ints, pa.Table]:
        """The class of each row, and these columns as an Arrow table, in the same order."""
        named = "".join(f", r.{quoted(name)}" for name in columns)
        found = self._db.sql(f"SELECT c.class{named} FROM {self._classed()}").to_arrow_table()
        return np.asarray(found.column(0), dtype=np.int64), found.remove_column(0)

    def count_values(self, columns: Iterable[str]) -> Mapping[str, ValueCount]:
        return count_values(self._db, "vault.rows", columns)

    def staging(self) -> DuckDBStagingTables:
        """An empty one without a file."""
        return DuckDBStagingTables(None, memory_mb=self._memory_mb, spill=self._spill)

    def close(self) -> None:
        self._db.close()

    def _axis(self, column: str) -> str:
        kind = self._vault.types[column]
        return _AXIS.get(kind, "CAST({x} AS DOUBLE)").format(x=f"r.{quoted(column)}")

    def _classed(self) -> str:
        return f"vault.rows r JOIN vault.row_class c ON c.row_id = r.{quoted(self._vault.row)}"

    def _drawn(self, most: int) -> str:
        row = f"r.{quoted(self._vault.row)}"
        return f"ORDER BY hash({row} + 1), {row} LIMIT {int(most)}"


class _Drawn:
    """Rows of a vault as a source."""

    def __init__(self, database: duckdb.DuckDBPyConnection, columns: tuple[str, ...], drawn: str) -> None:
        self._db, self._columns, self._rows = database, columns, drawn

    def columns(self) -> tuple[str, ...]:
        return self._columns

    def batches(self, columns: Sequence[str]) -> pa.RecordBatchReader:
        wanted = ", ".join(f"r.{quoted(name)}" for name in columns) or "1"
        return self._db.sql(f"SELECT {wanted} FROM vault.rows r {self._rows}").to_arrow_reader(BATCH_ROWS)

    def reading(self) -> AbstractContextManager[None]:
        return translated("the vault")
