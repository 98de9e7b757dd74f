"""What a value of the source becomes under each type of the policy, and what is refused.

Every value is a column of one table, so a table of all accepted ones is one load, and so is one of all refused ones.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from querygate.core.errors import ConfigError
from tests.unit.adapters.loaded_rows import load

DAY = dt.date(2015, 1, 31)
BIG = 2**63 - 1

FROM_TEXT: dict[str, dict[str, Any]] = {
    "integer": {
        "4": 4,
        "4.0": 4,
        " 4 ": 4,
        "+4": 4,
        "-0": 0,
        "1e3": 1000,
        str(BIG): BIG,
        str(-BIG - 1): -BIG - 1,
        "12,0": 12,
        "nan": None,
        "NaN": None,
    },
    "number": {
        "4": 4.0,
        "4.5": 4.5,
        "-1e-300": -1e-300,
        " 0.1 ": 0.1,
        "1,5": 1.5,
        " -12,25 ": -12.25,
        "0,125": 0.125,
        "98,6125": 98.6125,
        "1e3": 1000.0,
        str(BIG): float(BIG),
        "nan": None,
        "NaN": None,
        "-nan": None,
    },
    "date": {
        "2015-01-31": DAY,
        "2015-1-31": DAY,
        "31.01.2015": DAY,
        " 31.1.2015 ": DAY,
        "31.01.2015 09:30": DAY,
        "2015-01-31 10:00:00": DAY,
        "1969-12-31": dt.date(1969, 12, 31),
        "0001-01-01": dt.date(1, 1, 1),
        "9999-12-31": dt.date(9999, 12, 31),
        "nan": None,
    },
    "boolean": {"true": True, "True": True, "t": True, "1": True, "false": False, "F": False, "0": False},
    "category": {value: value for value in ("4", "4.0", "nan", "inf", "true", "2015-01-31", " x ", "é")},
}
NOT_FROM_TEXT: dict[str, list[str]] = {
    "integer": [
        "4.5",
        "4.0000000001",
        str(BIG + 1),
        "1e30",
        "inf",
        "abc",
        "true",
        "0x10",
        "1,5",
        "2015-01-31",
        "٣",
        "1 2",
    ],
    "number": ["abc", "1,234", "1,234,567", "1.234,5", "1,", ",5", "true", "2015-01-31", "0x10", "1 2", "--1"],
    "date": [
        "01/02/12",
        "12-05-31",
        "31/01/2015",
        "01.31.2015",
        "29.02.2015",
        "31.01.15",
        "31.01.2015 25:00",
        "20150230",
        "2015-02-30",
        "2015-13-01",
        "infinity",
        "-infinity",
        "10000-01-01",
        "4",
        "today",
        "x",
    ],
    "boolean": ["2", "-1", "0.0", "maybe", "nein", "x"],
}
FROM_ARROW: dict[str, list[tuple[pa.DataType, Any, Any]]] = {
    "integer": [
        (pa.int8(), -5, -5),
        (pa.uint64(), BIG, BIG),
        (pa.float64(), 4.0, 4),
        (pa.float64(), float("nan"), None),
        (pa.float32(), 3.0, 3),
        (pa.decimal128(10, 2), Decimal("4.00"), 4),
    ],
    "number": [
        (pa.int64(), 7, 7.0),
        (pa.float64(), 0.1, 0.1),
        (pa.float64(), float("nan"), None),
        (pa.float32(), 0.5, 0.5),
        (pa.decimal128(10, 2), Decimal("4.50"), 4.5),
    ],
    "date": [
        (pa.date32(), DAY, DAY),
        (pa.timestamp("us"), dt.datetime(2015, 1, 31, 23, 59, 59), DAY),
        (pa.timestamp("ns"), dt.datetime(1969, 12, 31, 23), dt.date(1969, 12, 31)),
    ],
    "boolean": [(pa.bool_(), True, True), (pa.int64(), 0, False), (pa.int8(), 1, True), (pa.float64(), 1.0, True)],
    "category": [
        (pa.int64(), 7, "7"),
        (pa.bool_(), True, "true"),
        (pa.date32(), DAY, "2015-01-31"),
        (pa.float64(), float("nan"), None),
        (pa.decimal128(10, 2), Decimal("4.50"), "4.50"),
        (pa.string(), "", ""),
    ],
}
NOT_FROM_ARROW: dict[str, list[tuple[pa.DataType, Any]]] = {
    "integer": [
        *[(pa.float64(), 4.5), (pa.float64(), 2.0**63), (pa.float64(), float("inf")), (pa.uint64(), 2**63)],
        *[(pa.decimal128(10, 2), Decimal("4.50")), (pa.bool_(), True), (pa.date32(), DAY), (pa.list_(pa.int64()), [1])],
    ],
    "number": [
        (pa.bool_(), True),
        (pa.date32(), DAY),
        (pa.timestamp("us"), dt.datetime(2015, 1, 1)),
        (pa.binary(), b"4"),
    ],
    "date": [(pa.int64(), 4), (pa.float64(), 4.0), (pa.bool_(), True), (pa.date32(), dt.date.max.toordinal() * 3)],
    "boolean": [(pa.int64(), 2), (pa.float64(), 0.5), (pa.date32(), DAY), (pa.decimal128(4, 1), Decimal("2.0"))],
}


def parquet(folder: Path, arrays: list[pa.Array]) -> tuple[Path, list[str]]:
    names = [f"c{i}" for i in range(len(arrays))]
    path = folder / "source.parquet"
    pyarrow.parquet.write_table(pa.Table.from_arrays(arrays, names=names), path)
    return path, names


@pytest.mark.parametrize("kind", FROM_TEXT)
def test_text(tmp_path: Path, kind: str) -> None:
    path, names = parquet(tmp_path, [pa.array([text, None]) for text in FROM_TEXT[kind]])
    first, second = load(tmp_path, path, dict.fromkeys(names, kind))

    assert dict(zip(FROM_TEXT[kind], first, strict=True)) == FROM_TEXT[kind]
    assert set(second) == {None}


@pytest.mark.parametrize("kind", FROM_ARROW)
def test_typed_values(tmp_path: Path, kind: str) -> None:
    path, names = parquet(tmp_path, [pa.array([given, None], arrow) for arrow, given, _ in FROM_ARROW[kind]])
    first, second = load(tmp_path, path, dict.fromkeys(names, kind))

    assert list(first) == [wanted for _, _, wanted in FROM_ARROW[kind]]
    assert set(second) == {None}


@pytest.mark.parametrize("kind", NOT_FROM_TEXT)
def test_text_that_is_refused(tmp_path: Path, kind: str) -> None:
    path, names = parquet(tmp_path, [pa.array([None, None, text]) for text in NOT_FROM_TEXT[kind]])
    with pytest.raises(ConfigError) as refused:
        load(tmp_path, path, dict.fromkeys(names, kind))

    assert_every_column_is_named(refused.value, names, kind, row=3)


@pytest.mark.parametrize("kind", NOT_FROM_ARROW)
def test_typed_values_that_are_refused(tmp_path: Path, kind: str) -> None:
    path, names = parquet(tmp_path, [pa.array([None, value], arrow) for arrow, value in NOT_FROM_ARROW[kind]])
    with pytest.raises(ConfigError) as refused:
        load(tmp_path, path, dict.fromkeys(names, kind))

    assert_every_column_is_named(refused.value, names, kind, row=2)


def assert_every_column_is_named(refused: ConfigError, names: list[str], kind: str, row: int) -> None:
    """Column, number and first row; never the value."""
    assert refused.code == "QG802"
    said = [f"column {name}: 1 value cannot be read as {kind}, the first in row {row}" for name in names]
    assert refused.detail == "; ".join(said) + "."
