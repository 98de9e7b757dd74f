"""The margins of a version of views, read back one by one."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from querygate.core.types import Array
from querygate_adapters.sources.files import quoted

OF_CELLS = ("class", "class_n", "n", "frame")
"""The columns of a cell besides its margin and its published columns."""


class WrittenMargins:
    """The cells of a store file that is open."""

    def __init__(self, database: duckdb.DuckDBPyConnection) -> None:
        self._db = database
        self._names = [str(row[0]) for row in database.execute("DESCRIBE cells").fetchall()]

    def numbers(self) -> frozenset[int]:
        """Margins with cells; -1 stands for cells without a margin."""
        found = self._db.execute("SELECT DISTINCT COALESCE(margin, -1) FROM cells").fetchall()
        return frozenset(int(number) for (number,) in found)

    def cells(self, margin: int, columns: Sequence[int]) -> tuple[dict[str, Array], int]:
        """The cells of a margin by class, with these columns; and how many of them have values in other columns."""
        stems = tuple(f"c{index}_" for index in columns)
        wanted = [name for name in self._names if name in OF_CELLS or name.startswith(stems)]
        others = [name for name in self._names if name not in (*wanted, "margin")]
        where = f"FROM cells WHERE margin = {int(margin)}"
        beside = " OR ".join(f"{quoted(name)} IS NOT NULL" for name in others) or "false"
        [(told,)] = self._db.execute(f"SELECT COUNT(*) {where} AND ({beside})").fetchall()
        listed = ", ".join(map(quoted, wanted))
        return dict(self._db.execute(f"SELECT {listed} {where} ORDER BY class").fetchnumpy()), int(told)
