"""CSV, Parquet and DuckDB files as sources, read by a DuckDB that may open only that file.

A CSV is read strictly and as text: its shape is not guessed, a row with too few or too many fields is an error that
names its line, and what each text means is decided by the policy. Engine messages quote the offending line, so only the
line number is taken from them.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import duckdb
import pyarrow as pa

from querygate.core.errors import ConfigError
from querygate.core.files.full_disk import is_full_disk
from querygate.core.limits.interrupts import is_interrupt
from querygate_adapters.store.duckdb_lockdown import CONFIG, in_memory

BATCH_ROWS = 100_000
DAMAGED = (OSError, EOFError, zlib.error)
"""What Python raises for a file that is truncated, or not compressed although its name says so."""

LONGEST_HEADER = 1_000_000
"""Characters of the first line that are read: a file that is not a table may have only one line."""

_LINE = re.compile(r"CSV Error on Line: (\d+)")


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


class FileSource:
    """A file, through DuckDB. Subclasses say which columns there are and how to select from it."""

    def __init__(self, location: str) -> None:
        self.path = Path(location).resolve()
        self._files = self._found()
        if not self._files:
            raise ConfigError("QG802", f"{location}: the file does not exist.", "Check the path of the source.")
        self._connection = _connection_to(self._files)
        with self.reading():
            self._columns = self._read_columns()

    def columns(self) -> tuple[str, ...]:
        return self._columns

    def batches(self, columns: Sequence[str]) -> pa.RecordBatchReader:
        """The wanted columns as a stream of Arrow record batches."""
        wanted = ", ".join(quoted(name) for name in columns) or "1"
        relation, values = self._relation()
        return self._connection.sql(f"SELECT {wanted} FROM {relation}", params=values).to_arrow_reader(BATCH_ROWS)

    def reading(self) -> AbstractContextManager[None]:
        return translated(self.path.name)

    def identity(self) -> str:
        return " ".join(map(stamp_of, self._files))

    def _found(self) -> list[Path]:
        return [self.path] if self.path.is_file() else []

    def _read_columns(self) -> tuple[str, ...]:
        relation, values = self._relation()
        self._connection.execute(f"SELECT * FROM {relation} LIMIT 0", values)
        return tuple(str(column[0]) for column in self._connection.description or ())

    def _relation(self) -> tuple[str, list[Any]]:
        raise NotImplementedError  # pragma: no cover - abstract


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Turn an engine's complaint into a coded error that quotes nothing from the file."""
    try:
        yield
    except (duckdb.Error, pa.ArrowException, UnicodeDecodeError, csv.Error, *DAMAGED) as error:
        if is_full_disk(error) or is_interrupt(error):
            raise
        line = _LINE.search(str(error))
        if line is None:
            raise ConfigError(
                "QG802", f"{name}: the content does not match the file extension.", "Check the file."
            ) from None
        raise ConfigError(
            "QG802",
            f"{name}, line {line[1]}: the row cannot be read.",
            "Each row must have the fields of the header, in UTF-8; quote a field that contains a delimiter or a "
            "quote.",
        ) from None


ROW_NAMES = "row_names"
"""The name of the first column if the header leaves it empty, as R and pandas do for row names."""


class CsvFile(FileSource):
    """Delimited text with a header. The delimiter is the most common of comma, semicolon, tab and bar in the header."""

    @contextmanager
    def reading(self) -> Iterator[None]:
        try:
            with translated(self.path.name):
                yield
        except ConfigError:
            _check_encoding(self.path)
            raise

    def _read_columns(self) -> tuple[str, ...]:
        with _text(self.path) as stream:
            header = stream.readline(LONGEST_HEADER)
        if len(header) == LONGEST_HEADER:  # the limit of the csv module belongs to the whole process
            raise ConfigError(
                "QG802", f"{self.path.name}: the first line is too long to be a header.", "Check the file."
            )
        self._delimiter = max(",;\t|", key=header.count)
        names = next(csv.reader([header], delimiter=self._delimiter), [])
        if len(names) > 1 and not names[0].strip() and ROW_NAMES not in map(str.lower, names):
            names[0] = ROW_NAMES
        if not names or any(not name.strip() for name in names) or len({n.lower() for n in names}) < len(names):
            raise ConfigError(
                "QG802",
                f"{self.path.name}: the header must name every column exactly once.",
                "Give each column its own name in the first line.",
            )
        return tuple(names)

    def _relation(self) -> tuple[str, list[Any]]:
        columns = dict.fromkeys(self._columns, "VARCHAR")
        text = (
            "read_csv(?, auto_detect = false, header = true, strict_mode = true, null_padding = false, "
            "ignore_errors = false, delim = ?, quote = '\"', escape = '\"', nullstr = '', columns = ?)"
        )
        return text, [str(self.path), self._delimiter, columns]


class ParquetFile(FileSource):
    """A file, or a folder of them that make one table, as distributed engines write."""

    def _found(self) -> list[Path]:
        return sorted(self.path.glob("*.parquet")) if self.path.is_dir() else super()._found()

    def _relation(self) -> tuple[str, list[Any]]:
        return "read_parquet(?, union_by_name = true)", [[str(path) for path in self._files]]


class DuckDBFile:
    """A table of a DuckDB file: FILE#table. Opened read-only."""

    def __init__(self, location: str) -> None:
        file, _, table = location.partition("#")
        self.path = Path(file).resolve()
        if not self.path.is_file():
            raise ConfigError("QG802", f"{file}: the file does not exist.", "Check the path of the source.")
        if not table:
            raise ConfigError("QG802", "The source names no table.", "Write duckdb:FILE#table.")
        self._table = table
        with translated(self.path.name):
            self._connection = duckdb.connect(
                str(self.path), read_only=True, config={**CONFIG, "lock_configuration": "true"}
            )
            found = self._connection.execute("SELECT table_name, table_type FROM information_schema.tables").fetchall()
        tables = {str(name): str(kind) for name, kind in found}
        if table not in tables:
            raise ConfigError(
                "QG802", f"{self.path.name} has no table with this name.", f"Accepted: {', '.join(sorted(tables))}."
            )

        self._is_view = tables[table] == "VIEW"

    def columns(self) -> tuple[str, ...]:
        with self.reading():
            self._connection.execute(f"SELECT * FROM {quoted(self._table)} LIMIT 0")
        return tuple(str(column[0]) for column in self._connection.description or ())

    def batches(self, columns: Sequence[str]) -> pa.RecordBatchReader:
        wanted = ", ".join(quoted(name) for name in columns) or "1"
        return self._connection.sql(f"SELECT {wanted} FROM {quoted(self._table)}").to_arrow_reader(BATCH_ROWS)

    @contextmanager
    def reading(self) -> Iterator[None]:
        try:
            with translated(self.path.name):
                yield
        except ConfigError as error:
            if not self._is_view:
                raise
            raise ConfigError(
                error.code,
                f"{self.path.name}: the view {self._table} cannot be read. It may need other files, and a source reads "
                "its own file only.",
                f"Make a table of it: CREATE TABLE name AS SELECT * FROM {quoted(self._table)}.",
            ) from None

    def identity(self) -> str:
        return f"{self._table} {stamp_of(self.path)} {stamp_of(self.path.with_name(self.path.name + '.wal'))}"


def stamp_of(path: Path) -> str:
    """Where a file is, its size, and when it last changed; nobody can set the time of change (ctime) back."""
    if not path.exists():
        return "-"
    found = path.stat()
    return f"{path} {found.st_dev} {found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


def _connection_to(files: Sequence[Path]) -> duckdb.DuckDBPyConnection:
    """An in-memory DuckDB that may read only these files; the order of the settings matters."""
    connection = in_memory(enable_external_access="true")
    allowed = ", ".join("'" + str(path).replace("'", "''") + "'" for path in files)
    connection.execute(f"SET allowed_paths = [{allowed}]")
    for name, value in {**CONFIG, "lock_configuration": "true"}.items():
        connection.execute(f"SET {name} = {value}")
    return connection


def _text(path: Path) -> IO[str]:
    return io.TextIOWrapper(_bytes(path), encoding="utf-8-sig", newline="")


def _bytes(path: Path) -> gzip.GzipFile | io.BufferedReader:
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")


def _check_encoding(path: Path) -> None:
    """ConfigError with the first line that is not UTF-8, and the likely encoding."""
    with _bytes(path) as stream, suppress(*DAMAGED):
        decoder, number = codecs.getincrementaldecoder("utf-8")(), 1
        for line in iter(lambda: stream.readline(LONGEST_HEADER), b""):
            try:
                decoder.decode(line)
                number += line.endswith(b"\n")
            except UnicodeDecodeError:
                wide = number == 1 and line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
                encoding = "UTF-16" if wide else "WINDOWS-1252"
                found = "UTF-16" if wide else "perhaps Latin-1 or Windows-1252"
                raise ConfigError(
                    "QG802",
                    f"{path.name}, line {number}: the text is not UTF-8 ({found}).",
                    "In a spreadsheet, save it as CSV UTF-8. Or convert it, for example with: "
                    f"iconv -f {encoding} -t UTF-8 < old.csv > new.csv",
                ) from None
