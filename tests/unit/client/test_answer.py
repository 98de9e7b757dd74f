"""Cells of every kind, tables and pictures of them, and values that look like markup."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import matplotlib
import pytest

from querygate.client import Answer, Noisy, Range

matplotlib.use("agg")


def made(cells: dict[str, tuple[str, str, Any]], mode: str = "interval") -> Answer:
    """An answer of one row: kind, type and value of each column."""
    state = {"_group": {"certain": False, "count": {"low": 0, "high": 7}}} if mode == "interval" else {"_group": {}}
    return Answer(
        {
            "query_id": "q_1",
            "dataset": "clinic",
            "version": 2,
            "mode": mode,
            "columns": [{"name": name, "kind": kind, "type": of} for name, (kind, of, _) in cells.items()],
            "rows": [{**{name: value for name, (_, _, value) in cells.items()}, **state}],
            "notes": ["A <note>."],
        },
        "abc",
    )


def body(low: Any, high: Any, estimate: Any = None, *, null: bool = False) -> dict[str, Any]:
    ends = {"low": low, "high": high, "attained_low": low, "attained_high": high}
    return {**ends, "estimate": estimate, "sharp": True, "may_be_null": null}


HOSTILE = {
    "city": ("key", "category", "<b>Grüß Gott</b> $x_1$"),
    "seen": ("key", "date", "2020-02-29"),
    "first": ("range", "date", body("1969-12-31", "2020-02-29", "1999-01-01")),
    "at": ("range", "timestamp", body("1970-01-01 00:00:00", "1970-01-02 03:00:00")),
    "open": ("range", "number", body("-inf", "inf", 3.5, null=True)),
    "total": ("range", "integer", body(-(2**70), 2**70, 0)),
    "none": ("range", "number", body(None, None, None, null=True)),
    "word": ("range", "category", body("a", "z", "m")),
}


def test_cells_have_the_types_of_their_columns() -> None:
    answer = made(HOSTILE)
    (row,) = answer.rows
    assert row["seen"] == dt.date(2020, 2, 29)
    first, at, wide, none = (row[name] for name in ("first", "at", "open", "none"))
    assert isinstance(first, Range)
    assert isinstance(at, Range)
    assert isinstance(wide, Range)
    assert isinstance(none, Range)
    assert (first.low, first.width) == (dt.date(1969, 12, 31), dt.timedelta(days=18322))
    assert dt.date(2000, 1, 1) in first
    assert at.high == dt.datetime(1970, 1, 2, 3)
    assert (wide.low, wide.high, None in wide, 1e308 in wide) == (-math.inf, math.inf, True, True)
    assert (none.low, none.width, 3 in none, str(none)) == (None, None, False, "NULL")
    assert (row.certain, str(row.count)) == (False, "0 .. 7")
    assert list(row) == list(HOSTILE)
    assert "<b>" in str(answer)


def test_an_answer_says_in_a_line_what_it_is() -> None:
    assert repr(made(HOSTILE)) == "<Answer q_1: 1 row from clinic, version 2; print shows it>"


def test_tables_hold_all_of_it() -> None:
    answer = made(HOSTILE)
    arrow = answer.to_arrow().to_pylist()[0]
    assert arrow["open_low"] == -math.inf
    assert (arrow["total_high"], arrow["first_low"], arrow["none_low"]) == (str(2**70), "1969-12-31", None)
    frame = answer.to_pandas()
    assert frame.attrs["querygate"]["policy_hash"] == "abc"
    assert frame["open_may_be_null"].tolist() == [True]
    assert answer.to_polars().columns == list(frame.columns)


def test_markup_in_values_is_text() -> None:
    html = made(HOSTILE)._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;Grüß Gott" in html
    assert "A &lt;note&gt;." in html
    assert "q_1" in html


def test_pictures() -> None:
    answer = made(HOSTILE)
    for column in (None, "at", "open", "none", "word", "total"):
        axes = answer.plot(column)
        assert axes.get_xlabel() == (column or "first")
        matplotlib.pyplot.close(axes.figure)
    with pytest.raises(ValueError, match="names of groups"):
        answer.plot("city")


def test_noisy_numbers() -> None:
    value = {"value": 417, "noise": "laplace", "scale": 10.0, "interval95": [387, 447], "epsilon": 0.1}
    answer = made({"n": ("noisy", "integer", value)}, mode="laplace")
    cell = answer.one()
    assert isinstance(cell, Noisy)
    assert (float(cell), cell.interval95, str(cell)) == (417.0, (387.0, 447.0), "417 (387 .. 447)")
    assert answer.rows[0].count is None
    assert answer.to_pandas()["n_low95"].tolist() == [387.0]
    matplotlib.pyplot.close(answer.plot().figure)


def test_an_answer_without_rows() -> None:
    answer = Answer({**made(HOSTILE).body, "rows": []})
    assert (len(answer), list(answer), answer.to_arrow().num_rows) == (0, [], 0)
    assert "city" in str(answer)
