"""How the database reads a statement and the gate's own wording of it, also when it remembers."""

from __future__ import annotations

import duckdb
import pytest

from querygate.core.errors import NotPermitted, UnsupportedSQL
from querygate.core.limits.deadline import within
from querygate_adapters.store.duckdb_native import DuckDBNative

TEXT = "SELECT count(*) FROM t WHERE a > {} AND b BETWEEN {} AND {}"
OWN = "SELECT COUNT(*) FROM t WHERE ((a > {}) AND (b BETWEEN {} AND {}))"


@pytest.fixture
def native() -> DuckDBNative:
    return DuckDBNative()


def test_other_numbers_in_the_same_places_are_read_alike(native: DuckDBNative) -> None:
    assert native.read(TEXT.format(1, 2, 3), OWN.format(1, 2, 3)).alike
    assert native.read(TEXT.format(4, 5, 6), OWN.format(4, 5, 6)).alike


@pytest.mark.parametrize(
    ("text", "own"),
    [
        (TEXT.format(1, 2, 3), OWN.format(1, 2, 4)),  # other numbers
        (TEXT.format(1, 2, 3), OWN.format(1, 3, 2)),  # in another order
        (TEXT.format(1, 2, 3), OWN.format("1.0", 2, 3)),  # of another kind
        (TEXT.format(1, 2, 3), OWN.format(1, 2, 3).replace("AND (b", "OR (b")),
        (TEXT.format("1 --", 2, 3), OWN.format(1, 2, 3)),
    ],
)
def test_what_was_read_alike_does_not_vouch_for_what_differs(native: DuckDBNative, text: str, own: str) -> None:
    assert native.read(TEXT.format(1, 2, 3), OWN.format(1, 2, 3)).alike
    assert not native.read(text, own).alike


def test_numbers_in_names_and_strings_are_no_numbers(native: DuckDBNative) -> None:
    assert native.read("SELECT a1 FROM t WHERE c = '1'", "SELECT a1 FROM t WHERE (c = '1')").alike
    assert not native.read("SELECT a2 FROM t WHERE c = '1'", "SELECT a1 FROM t WHERE (c = '1')").alike
    assert not native.read("SELECT a1 FROM t WHERE c = '2'", "SELECT a1 FROM t WHERE (c = '1')").alike


def test_only_so_many_are_remembered(native: DuckDBNative, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("querygate_adapters.store.duckdb_native.KEPT", 3)
    for name in "abcdef":
        assert native.read(f"SELECT {name} FROM t", f"SELECT {name} FROM t").alike
    assert len(native._alike) == 3


@pytest.mark.parametrize(
    ("text", "own", "alike"),
    [
        ("INTERVAL '10 days'", "INTERVAL '10' DAYS", True),
        ("INTERVAL '1 YEAR'", "INTERVAL 1 YEAR", True),
        ("INTERVAL '2 weeks'", "INTERVAL '2' WEEK", True),
        ("INTERVAL '2 weeks'", "INTERVAL '2' DAY", False),
        ("INTERVAL '2 weeks'", "INTERVAL '3' WEEK", False),
        ("INTERVAL '1 year 2 days'", "INTERVAL '1' YEAR", False),
        ("INTERVAL '1 year'", "INTERVAL (x) YEAR", False),
        ("INTERVAL '1.5 days'", "INTERVAL '1' DAY", False),
        ("TRY_CAST('1 day' AS INTERVAL)", "INTERVAL '1' DAY", False),
    ],
)
def test_intervals_by_what_they_say(native: DuckDBNative, text: str, own: str, alike: bool) -> None:
    found = native.read(f"SELECT count(*) FROM t WHERE d > DATE '2020-02-28' + {text}",
                        f"SELECT count(*) FROM t WHERE d > (CAST('2020-02-28' AS DATE) + {own})")  # fmt: skip
    assert found.alike == alike
    if alike:
        texts = (f"SELECT DATE '2020-02-28' + {one}" for one in (text, own))
        assert len({duckdb.sql(sql).fetchall()[0] for sql in texts}) == 1


# -- what it takes -----------------------------------------------------------------------------------------------------

GROWING = "regexp_replace(regexp_replace(x, '.', 'aaaaaaaaaa', 'g'), '.', 'bbbbbbbbbb', 'g')"


def test_texts_that_grow_out_of_proportion_are_refused(native: DuckDBNative, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("querygate_adapters.store.value_tabulation.LARGEST_BYTES", 100_000)
    values = [f"value {number:05d}" for number in range(1_000)]
    with pytest.raises(UnsupportedSQL, match="too long"):
        native.tabulate(GROWING, "category", values)
    assert native.tabulate("upper(x)", "category", values).results[7] == "VALUE 00007"


def test_tables_are_kept_up_to_so_many_bytes(native: DuckDBNative, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("querygate_adapters.store.duckdb_native.KEPT_BYTES", 500_000)
    for number in range(10):
        native.tabulate(f"x + {number}", "integer", range(2_000))
    assert 1 <= len(native._known) < 10
    assert native._bytes == sum(size for _, size in native._known.values()) <= 500_000


def test_what_the_request_has_left_is_all_there_is(native: DuckDBNative) -> None:
    times = iter([0.0, 11.0, 11.0])
    with within(lambda: next(times), 10.0), pytest.raises(NotPermitted, match="time or memory limit"):
        native.tabulate("x + 1", "integer", range(10))
