"""How large a table becomes, found out without making it so large."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from querygate.core.errors import ConfigError
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.sources.unpacked_size import is_larger


def test_a_bomb_is_known_by_what_it_unpacks_to(tmp_path: Path) -> None:
    bomb = tmp_path / "zeros.csv.gz"
    bomb.write_bytes(gzip.compress(b"0" * 4_000_000, 1) * 10)  # members one after the other unpack to all of them
    assert bomb.stat().st_size < 200_000
    tracemalloc.start()
    assert is_larger(bomb, 39_999_999)
    assert not is_larger(bomb, 40_000_000)
    with pytest.raises(ConfigError, match="first line is too long"):
        open_source(str(bomb))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 20_000_000  # with whatever else the process does meanwhile


def test_a_parquet_file_tells_a_constant_once(tmp_path: Path) -> None:
    path = tmp_path / "constant.parquet"
    pq.write_table(pa.table({"x": pa.array([7] * 1_000_000, pa.int64())}), path)
    assert path.stat().st_size < 50_000
    assert is_larger(path, 7_999_999)
    assert not is_larger(path, 8_000_000)


@pytest.mark.parametrize("encoding", [None, "DELTA_BYTE_ARRAY", "PLAIN"])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary()])
def test_a_text_that_rows_share_counts_once_a_row(tmp_path: Path, encoding: str | None, kind: pa.DataType) -> None:
    path, texts = tmp_path / "shared.parquet", ["\u00e9" * 5_000] * 1_000 + [None, ""] * 1_000
    table = pa.table({"id": range(3_000), "text": pa.array(texts, pa.string()).cast(kind)})
    pq.write_table(
        table, path, use_dictionary=encoding is None, column_encoding={"text": encoding} if encoding else None
    )
    assert path.stat().st_size < 100_000 or encoding == "PLAIN"
    before = pa.total_allocated_bytes()
    assert is_larger(path, 9_999_999)
    assert not is_larger(path, 11_000_000)
    assert pa.total_allocated_bytes() < before + 1_000_000  # of eight million: nothing was unpacked


TEXT, NUMBERS = "é" * 5_000, [7] * 1_000_000
NESTED = {
    "a list of numbers": pa.array([NUMBERS, None, []], pa.list_(pa.int64())),
    "a list of lists": pa.array([[NUMBERS[:500_000]] * 2, None], pa.list_(pa.list_(pa.int64()))),
    "a list in a struct": pa.array([{"y": NUMBERS}, None, {"y": None}]),
    "a list of texts": pa.array([[TEXT] * 1_000, None, [], [None]], pa.list_(pa.string())),
    "a text in a struct": pa.array([{"x": TEXT}] * 1_000 + [None, {"x": None}]),
    "a map": pa.array([[(TEXT, TEXT)] * 500, None, []], pa.map_(pa.string(), pa.string())),
}


@pytest.mark.parametrize("name", ["text", "a.b"])
@pytest.mark.parametrize("kind", NESTED)
def test_what_is_inside_of_lists_counts_too(tmp_path: Path, kind: str, name: str) -> None:
    path = tmp_path / "nested.parquet"
    pq.write_table(pa.table({name: NESTED[kind]}), path)
    assert path.stat().st_size < 50_000
    before = pa.total_allocated_bytes()
    assert is_larger(path, 7_999_999)
    assert not is_larger(path, 11_000_000)
    assert pa.total_allocated_bytes() < before + 1_000_000  # of eight million: nothing was unpacked
    pq.write_table(pa.table({name: NESTED[kind]}), path, use_dictionary=False, data_page_version="2.0")
    assert is_larger(path, 7_999_999)


def test_lists_of_differences_count_as_much_as_they_could_be(tmp_path: Path) -> None:
    path = tmp_path / "nested.parquet"
    encoding = {"text.list.element": "DELTA_BYTE_ARRAY"}
    pq.write_table(pa.table({"text": NESTED["a list of texts"]}), path, use_dictionary=False, column_encoding=encoding)
    assert path.stat().st_size < 50_000
    assert is_larger(path, 9_999_999)


def test_tables_without_texts_or_rows_are_small(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    for texts in ([], [None], [""]):
        pq.write_table(pa.table({"text": pa.array(texts, pa.string()), "a.b": pa.array(texts, pa.string())}), path)
        assert not is_larger(path, 1_000)


@pytest.mark.parametrize("name", ["x.csv.gz", "x.parquet"])
def test_what_is_called_otherwise_than_it_is_says_so(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(ConfigError, match="does not match the file extension"):
        is_larger(path, 1)


def test_a_plain_table_is_as_large_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"a\n")
    assert [is_larger(path, most) for most in (1, 2)] == [True, False]
