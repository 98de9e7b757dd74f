"""Lists of codes in a vault, as a publication reads them: raw texts, the records that have them, and visits.

A column of codes is kept as lists of texts, as the source wrote them. Splitting and interpreting the texts happens at
every reading, so that the rows stay as the source has them.
"""

from __future__ import annotations

import duckdb
import numpy as np

from querygate.core.publications.vault_ports import CodeTexts
from querygate.core.types import Ints
from querygate_adapters.sources.files import quoted


class CodeListRows:
    """Reads the lists of the table `rows`, whose rows are numbered by the column `row`."""

    def __init__(self, database: duckdb.DuckDBPyConnection, row: str) -> None:
        self._db, self._row = database, row

    def texts(self, column: str, separator: str) -> CodeTexts:
        """Which record has which text. Records are numbered in the order of their rows."""
        return self._told(f"SELECT {self._row} AS row_id, unnest({quoted(column)}) AS text FROM rows", separator)

    def visits(self, column: str, separator: str, between: str) -> CodeTexts:
        """Which visit has which text. A visit is a list in a list, or a part of a text between separators."""
        x, numbered = quoted(column), "row_number() OVER () - 1"
        lists = f"SELECT unnest({x}) AS texts FROM rows WHERE {x} IS NOT NULL"
        if between:
            pieces = f"list_transform(string_split(texts[1], {_text(between)}), lambda piece: [piece])"
            lists = f"SELECT unnest(CASE WHEN len(texts) = 1 THEN {pieces} ELSE [texts] END) AS texts FROM ({lists})"
        return self._told(
            f"SELECT row_id, unnest(texts) AS text FROM (SELECT {numbered} AS row_id, texts FROM ({lists}))", separator
        )

    def rows(self) -> Ints:
        """The number of each record's row."""
        found = self._db.execute(f"SELECT {self._row} AS row_id FROM rows ORDER BY 1").fetchnumpy()
        return np.asarray(found["row_id"], dtype=np.int64)

    def classes(self) -> Ints:
        """The class of each record, read again; -1 where it has none."""
        found = self._db.execute(
            f"SELECT COALESCE(c.class, -1) AS class FROM rows r LEFT JOIN row_class c ON c.row_id = r.{self._row} "
            f"ORDER BY r.{self._row}"
        ).fetchnumpy()
        return np.asarray(found["class"], dtype=np.int64)

    def _told(self, lists: str, separator: str) -> CodeTexts:
        """From (row_id, text), where a text may hold several codes: distinct pairs of a record's position and a text,
        in order."""
        pieces = f"unnest(string_split(text, {_text(separator)}))" if separator else "text"
        self._db.execute(
            f"CREATE OR REPLACE TEMP TABLE told AS SELECT DISTINCT row_id, trim(text) AS text "
            f"FROM (SELECT row_id, {pieces} AS text FROM ({lists})) WHERE trim(text) <> ''"
        )
        texts = [str(text) for (text,) in self._db.execute("SELECT DISTINCT text FROM told ORDER BY 1").fetchall()]
        found = self._db.execute(
            "SELECT row_id, place FROM told JOIN "
            "(SELECT text, row_number() OVER (ORDER BY text) - 1 AS place FROM (SELECT DISTINCT text FROM told)) "
            "USING (text) ORDER BY 1, 2"
        ).fetchnumpy()
        self._db.execute("DROP TABLE told")
        return CodeTexts(
            tuple(texts), np.asarray(found["row_id"], dtype=np.int64), np.asarray(found["place"], dtype=np.int64)
        )


def codes_cast(name: str, found: str) -> str:
    """SQL for a source column of the stored type as a list of texts; NULL where it cannot be one.

    A list of lists cannot, nor can numbers with a fraction: 250.0 and 250.00 are different codes.
    """
    x, of = quoted(name), found.partition("[")[0]
    if found.count("[") > 1 or of in ("FLOAT", "DOUBLE") or of.startswith("DECIMAL"):
        return "NULL"
    return f"CAST({x} AS VARCHAR[])" if "[" in found else f"CASE WHEN {x} IS NOT NULL THEN [CAST({x} AS VARCHAR)] END"


def visits_cast(name: str, found: str) -> str:
    """The same as a list of lists: each text of a list, or a text alone, is a list of one."""
    if found.count("[") == 2:
        return f"CAST({quoted(name)} AS VARCHAR[][])"
    return f"list_transform({codes_cast(name, found)}, lambda one: [one])"


CASTS = {"codes": codes_cast, "visits": visits_cast}
"""Kinds of columns that hold lists, and how a source column becomes one."""


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
