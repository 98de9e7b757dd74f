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
    bomb.write_bytes(gzip.compress(b"0" * 4_000_000, 1) * 5)  # members one after the other unpack to all of them
    assert bomb.stat().st_size < 100_000
    tracemalloc.start()
    assert is_larger(bomb, 19_999_999)
    assert not is_larger(bomb, 20_000_000)
    with pytest.raises(ConfigError):
        open_source(str(bomb))  # one header without an end
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 12_000_000


def test_a_parquet_file_tells_a_constant_once(tmp_path: Path) -> None:
    path = tmp_path / "constant.parquet"
    pq.write_table(pa.table({"x": pa.array([7] * 1_000_000, pa.int64())}), path)
    assert path.stat().st_size < 50_000
    assert is_larger(path, 7_999_999)
    assert not is_larger(path, 8_000_000)


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
