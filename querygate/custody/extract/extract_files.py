"""The files of an extract: the records in the requested formats, and a dictionary that explains them.

Stata's format has labels for variables and values, which SPSS, R and SAS read too.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from querygate.core.answer_forms.spreadsheet_cells import FORMULA, escape
from querygate.core.errors import ExtractRefused
from querygate.core.extracts.extract_spec import Format
from querygate.custody.extract.protected_records import Field, ProtectedRecords

LONGEST_NAME, LONGEST_LABEL, LONGEST_LABELS = 32, 80, 32_000
"""Stata's limits: characters of a variable's name, of its label, and of all its value labels together."""


def make_files(protected: ProtectedRecords, formats: tuple[Format, ...]) -> dict[str, bytes]:
    """The records in each format, and dictionary.csv."""
    files = {f"extract.{_SUFFIX[name]}": _WRITERS[name](protected) for name in formats}
    return {**files, "dictionary.csv": _dictionary(protected)}


def _csv(protected: ProtectedRecords) -> bytes:
    stream = io.BytesIO()
    pyarrow.csv.write_csv(_escaped(protected.table), stream)
    return stream.getvalue()


def _escaped(table: pa.Table) -> pa.Table:
    """The table with its texts and headings escaped, so that no spreadsheet runs them."""
    arrays = [
        pc.replace_substring_regex(column, FORMULA, r"'\1") if pa.types.is_string(column.type) else column
        for column in table.columns
    ]
    return pa.table(arrays, names=[escape(name) for name in table.column_names])


def _parquet(protected: ProtectedRecords) -> bytes:
    stream = io.BytesIO()
    pyarrow.parquet.write_table(_described(protected), stream, compression="zstd")
    return stream.getvalue()


def _arrow(protected: ProtectedRecords) -> bytes:
    stream = io.BytesIO()
    pyarrow.feather.write_feather(_described(protected), stream, compression="uncompressed")
    return stream.getvalue()


def _described(protected: ProtectedRecords) -> pa.Table:
    """The table with the meaning of each column in its schema."""
    meanings = {field.name: _label(field) for field in protected.fields}
    fields = [field.with_metadata({"description": meanings[field.name]}) for field in protected.table.schema]
    return protected.table.cast(pa.schema(fields))


def _stata(protected: ProtectedRecords) -> bytes:
    try:
        import pandas as pd
    except ImportError:
        raise ExtractRefused(
            "QG605",
            "Stata files need pandas, which is not installed here.",
            "Request csv or parquet, or ask the custodian to run `pip install 'querygate[extracts]'`.",
        ) from None
    frame = protected.table.to_pandas(date_as_object=False)
    names = stata_names(protected.table.column_names)
    dates = {}
    for field in protected.fields:
        kind = protected.table.schema.field(field.name).type
        if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            dates[names[field.name]] = "td" if pa.types.is_date(kind) else "tc"
        elif pa.types.is_boolean(kind):
            frame[field.name] = frame[field.name].astype("float64")
        elif pa.types.is_string(kind) and _has_labels(protected, field):
            frame[field.name] = pd.Categorical(frame[field.name], categories=list(field.labels))
    labels = {names[field.name]: _label(field)[:LONGEST_LABEL] for field in protected.fields}
    stream = io.BytesIO()
    frame = frame.rename(columns=names)
    frame.to_stata(stream, write_index=False, version=118, variable_labels=labels, convert_dates=dates)
    return stream.getvalue()


def _has_labels(protected: ProtectedRecords, field: Field) -> bool:
    """Can value labels be used? Not for lists of codes and free texts, nor if the labels are too long together."""
    if sum(len(label.encode()) + 1 for label in field.labels) >= LONGEST_LABELS:
        return False
    values = set(protected.table[field.name].unique().to_pylist()) - {None}
    return values <= set(field.labels)


def stata_names(names: list[str]) -> dict[str, str]:
    """Names that Stata accepts: letters, digits and _, at most 32 characters, unique.

    >>> stata_names(["age", "body mass", "body-mass", "1st"])
    {'age': 'age', 'body mass': 'body_mass', 'body-mass': 'body_mass_2', '1st': '_1st'}
    """
    found: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"\W", "_", name, flags=re.ASCII)
        plain = (plain if not plain[:1].isdigit() else f"_{plain}")[:LONGEST_NAME]
        number, free = 1, plain
        while free.lower() in {taken.lower() for taken in found.values()}:
            number += 1
            free = f"{plain[: LONGEST_NAME - len(str(number)) - 1]}_{number}"
        found[name] = free
    return found


def _dictionary(protected: ProtectedRecords) -> bytes:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["name", "type", "column", "title", "meaning", "values"])
    for field in protected.fields:
        kind = str(protected.table.schema.field(field.name).type)
        texts = [field.name, kind, field.of, field.title, field.meaning, "; ".join(field.labels[:200])]
        writer.writerow([escape(text) for text in texts])
    return stream.getvalue().encode()


def _label(field: Field) -> str:
    return field.title or field.meaning


_SUFFIX: Mapping[Format, str] = {"csv": "csv", "parquet": "parquet", "arrow": "arrow", "stata": "dta"}
_WRITERS: Mapping[Format, Callable[[ProtectedRecords], bytes]] = {
    "csv": _csv,
    "parquet": _parquet,
    "arrow": _arrow,
    "stata": _stata,
}
