"""Values in PostgreSQL's formats: what is written is read back, and what is not of a type is refused."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from querygate.core.errors import UnsupportedSQL
from querygate.wire.formats import read_binary, write_binary, write_text
from querygate.wire.parameters import literal
from querygate.wire.types import (
    BOOL,
    DATE,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    NUMERIC,
    NUMRANGE,
    TEXT,
    TEXTS,
    TIMESTAMP,
    Ends,
    PgType,
    Value,
)  # fmt: skip


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6) | st.integers(-(10**30), 10**30).map(Decimal))
def test_decimals_come_back(value: Decimal) -> None:
    assert read_binary(write_binary(value, NUMERIC), NUMERIC) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_of_ranges_are_those_of_the_answer(value: float) -> None:
    found = read_binary(write_binary(value, NUMERIC), NUMERIC) if 1e-200 < abs(value) < 1e200 else Decimal(repr(value))
    assert found == Decimal(repr(value))
    assert float(write_text(value, FLOAT8)) == value


@given(st.dates(dt.date(1, 1, 1)), st.datetimes(dt.datetime(1, 1, 1)), st.text().filter(lambda text: "\0" not in text))
def test_dates_and_texts_come_back(day: dt.date, moment: dt.datetime, text: str) -> None:
    assert read_binary(write_binary(day, DATE), DATE) == day
    assert read_binary(write_binary(moment, TIMESTAMP), TIMESTAMP) == moment
    if text.isprintable():
        assert read_binary(write_binary(text, TEXT), TEXT) == text
        assert read_binary(write_binary([text, None], TEXTS), TEXTS) == [text, None]


def test_ranges_without_ends() -> None:
    assert write_text(Ends(None, None), NUMRANGE) == b"(,)"
    assert write_binary(Ends(None, None), NUMRANGE) == b"\x18"
    assert write_binary(Ends(1, 1), NUMRANGE)[:1] == b"\x06"


@pytest.mark.parametrize(
    ("data", "type_", "binary"),
    [
        (b"x", INT4, False), (b"1_000", INT8, False), (b"NaN", FLOAT8, False), (b"9" * 100, INT8, False),
        (b"maybe", BOOL, False), (b"2020-02-30", DATE, False), (b"\0", INT2, True), (b"\xff\xff", TEXT, True),
        (b"\0\x01", NUMERIC, True), (b"\0" * 3, DATE, True), (b"\0\0\0\1" * 3, TEXTS, True), (b"\x7f" * 4, DATE, True),
    ],
)  # fmt: skip
def test_parameters_that_are_not_of_their_type(data: bytes, type_: PgType, binary: bool) -> None:
    with pytest.raises(UnsupportedSQL) as told:
        literal(data, type_, binary=binary)
    assert told.value.code == "QG209"


@given(st.text().filter(lambda text: "\0" not in text))
def test_texts_cannot_leave_their_quotes(text: str) -> None:
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return
    written = literal(data, TEXT, binary=False)
    assert written[1:-1].replace("''", "").count("'") == 0
    assert written[1:-1].replace("''", "'") == text


def test_whole_numbers_beyond_eight_bytes_are_refused() -> None:
    value: Value = 2**63
    with pytest.raises(UnsupportedSQL):
        write_binary(value, INT8)


@pytest.mark.parametrize("type_", [NUMERIC, FLOAT8])
@pytest.mark.parametrize("text", [b"1e-200000000", b"1e401", b"0e-200000000", b"-1e200000000"])
def test_a_short_number_does_not_make_a_long_literal(text: bytes, type_: PgType) -> None:
    with pytest.raises(UnsupportedSQL, match="not a value of its type"):
        literal(text, type_, binary=False)
    assert len(literal(b"1e-300", type_, binary=False)) == 302


def test_a_long_number_in_binary_is_refused() -> None:
    with pytest.raises(UnsupportedSQL, match="not a value of its type"):
        literal(write_binary(Decimal("1e-900"), NUMERIC), NUMERIC, binary=True)


@pytest.mark.parametrize("text", ["-0001-01-01", "10000-01-01", "0000-01-01"])
def test_days_that_python_does_not_have_are_refused_in_binary(text: str) -> None:
    for type_ in (DATE, TIMESTAMP):
        with pytest.raises(UnsupportedSQL, match="years 1 to 9999"):
            write_binary(text, type_)
        assert write_text(text, type_) == text.encode()
