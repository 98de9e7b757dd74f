"""One answer, many forms: what is read back is what was given."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest

from querygate.core.answer_forms.spreadsheet_cells import unescape
from querygate.core.types import Answer, AnswerColumn, Estimate, Group, Limited, Range
from querygate.gate.render import FORMATS, make_body, range_text, readable, table, to_csv

COLUMNS = (
    AnswerColumn("city", "key", "category", 0),
    AnswerColumn("smoker", "key", "boolean", 1),
    AnswerColumn("n", "range", "integer", 0),
    AnswerColumn("mean", "range", "number", 1),
    AnswerColumn("first", "range", "date", 2),
)
GROUPS = (
    Group(("Graz", "true"), (Range(3, 5), Range(0.1, 0.30000000000000004), Range(-1, 18321)), Range(3, 5), True),
    Group((None, None), (Range.exact(0), Range.null(), Range.null()), Range(0, 2), False),
    Group(("", "false"), (Range.exact(2**63 - 1), Range(-math.inf, math.inf), Range.exact(0)), Range.exact(4), True),
    Group(('a,"b"\r\n', "true"), (Range(-5, -5), Range(-0.0, 5e-324), Range.exact(-700_000)), Range.exact(4), True),
)


def made(columns: tuple[AnswerColumn, ...] = COLUMNS, groups: tuple[Group, ...] = GROUPS) -> dict[str, Any]:
    return make_body(Answer("q_1", "patients", 3, "interval", columns, groups, ("A note.",), 1.5))


def keyed(*keys: str | None, name: str = "k") -> dict[str, Any]:
    column = AnswerColumn(name, "key", "category", 0)
    return made((column,), tuple(Group((key,), (), Range.exact(1), True) for key in keys))


def test_a_key_may_be_infinite_in_every_form() -> None:
    """EXP of a large number is, and JSON has no such number."""
    column = AnswerColumn("k", "key", "number", 0)
    body = made((column,), tuple(Group((key,), (), Range.exact(1), True) for key in (1.5, math.inf, -math.inf, None)))
    assert [row["k"] for row in body["rows"]] == [1.5, "inf", "-inf", None]
    assert all(write(body) for _, write in FORMATS.values())


# -- the JSON of the contract ------------------------------------------------------------------------------------


def test_the_first_row_as_the_contract_has_it() -> None:
    body = made()

    assert {k: body[k] for k in ("query_id", "dataset", "version", "mode", "notes")} == {
        "query_id": "q_1",
        "dataset": "patients",
        "version": 3,
        "mode": "interval",
        "notes": ["A note."],
    }
    assert body["columns"][2] == {"name": "n", "kind": "range", "type": "integer"}
    assert body["rows"][0] == {
        "city": "Graz",
        "smoker": True,
        "n": {"low": 3, "high": 5, "attained_low": None, "attained_high": None, "sharp": True, "may_be_null": False},
        "mean": {
            "low": 0.1,
            "high": 0.30000000000000004,
            "attained_low": None,
            "attained_high": None,
            "sharp": True,
            "may_be_null": False,
        },
        "first": {
            "low": "1969-12-31",
            "high": "2020-02-29",
            "attained_low": None,
            "attained_high": None,
            "sharp": True,
            "may_be_null": False,
        },
        "_group": {"certain": True, "count": {"low": 3, "high": 5}},
    }


def test_nothing_is_null_and_infinity_is_a_word() -> None:
    rows = made()["rows"]

    assert (rows[1]["city"], rows[1]["smoker"]) == (None, None)
    assert rows[1]["mean"]["low"] is None
    assert rows[1]["mean"]["may_be_null"] is True
    assert (rows[2]["mean"]["low"], rows[2]["mean"]["high"]) == ("-inf", "inf")
    assert rows[2]["smoker"] is False


def test_json_is_strict_and_the_same_when_read_back() -> None:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    assert json.loads(FORMATS["json"][1](made()), parse_constant=refuse) == made()


# -- flat tables -------------------------------------------------------------------------------------------------

FLAT = [
    *("city", "smoker", "n_low", "n_high", "n_may_be_null", "mean_low", "mean_high", "mean_may_be_null"),
    *("first_low", "first_high", "first_may_be_null"),
]
WITH_ESTIMATES = list(dict.fromkeys(name for flat in FLAT for name in (flat, flat.replace("_high", "_estimate"))))
STATE = ["group_certain", "group_count_low", "group_count_high"]


def read(form: str, body: dict[str, Any]) -> pa.Table:
    data = FORMATS[form][1](body)
    if form == "arrow":
        with pyarrow.ipc.open_stream(io.BytesIO(data)) as reader:
            return reader.read_all()
    return pyarrow.parquet.read_table(io.BytesIO(data))


@pytest.mark.parametrize("form", ["arrow", "parquet"])
def test_arrow_and_parquet_give_back_every_value(form: str) -> None:
    found = read(form, made())

    assert [name for name in found.column_names if not name.endswith("_sharp")] == FLAT + STATE
    assert found.column("mean_sharp").to_pylist() == [row["mean"]["sharp"] for row in made()["rows"]]
    assert found.column("city").to_pylist() == ["Graz", None, "", 'a,"b"\r\n']
    assert found.column("smoker").to_pylist() == [True, None, False, True]
    assert found.column("n_low").to_pylist() == [3, 0, 2**63 - 1, -5]
    assert found.column("mean_low").to_pylist() == [0.1, None, -math.inf, 0.0]
    assert found.column("mean_high").to_pylist() == [0.30000000000000004, None, math.inf, 5e-324]
    assert found.column("first_high").to_pylist() == ["2020-02-29", None, "1970-01-01", "0053-06-19"]
    assert found.column("group_certain").to_pylist() == [True, False, True, True]
    told = [row["mean"]["may_be_null"] for row in made()["rows"]]
    assert found.column("mean_may_be_null").to_pylist() == told
    assert found.schema.field("mean_may_be_null").type == pa.bool_()
    assert found.schema.field("n_low").type == pa.int64()
    assert found.schema.field("mean_low").type == pa.float64()
    assert found.schema.field("smoker").type == pa.bool_()


@pytest.mark.parametrize("form", ["arrow", "parquet"])
def test_a_sum_beyond_64_bits_keeps_its_digits(form: str) -> None:
    total = Group((), (Range(-(2**70), 2**70),), Range.exact(1), True)
    found = read(form, made((AnswerColumn("s", "range", "integer", 0),), (total,)))

    assert found.column("s_low").to_pylist() == [str(-(2**70))]
    assert found.column("s_high").to_pylist() == [str(2**70)]


@pytest.mark.parametrize("form", ["arrow", "parquet"])
def test_an_answer_without_rows_has_its_columns_still(form: str) -> None:
    found = read(form, made(groups=()))

    assert found.num_rows == 0
    assert [name for name in found.column_names if not name.endswith("_sharp")] == WITH_ESTIMATES + STATE


def test_csv_gives_back_every_value() -> None:
    rows = list(csv.reader(io.StringIO(to_csv(made()).decode(), newline="")))

    assert rows[0] == FLAT + STATE
    null = [[str(row[name]["may_be_null"]) for name in ("n", "mean", "first")] for row in made()["rows"]]
    assert rows[1] == [
        *("Graz", "True", "3", "5", null[0][0], "0.1", "0.30000000000000004", null[0][1]),
        *("1969-12-31", "2020-02-29", null[0][2], "True", "3", "5"),
    ]
    assert rows[2] == ["", "", "0", "0", null[1][0], "", "", null[1][1], "", "", null[1][2], "False", "0", "2"]
    assert rows[3][5:7] == ["-inf", "inf"]
    assert rows[4][0] == 'a,"b"\r\n'
    assert all(len(row) == len(rows[0]) for row in rows)


def test_csv_tells_null_from_the_empty_text() -> None:
    lines = to_csv(keyed(None, "")).decode().split("\r\n")

    assert lines[1:3] == [",True,1,1", '"",True,1,1']


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", '=HYPERLINK("http://x")'])
def test_csv_gives_a_spreadsheet_nothing_to_run(text: str) -> None:
    for body in (keyed(text), keyed("a", name=text)):
        cells = [cell for row in csv.reader(io.StringIO(to_csv(body).decode(), newline="")) for cell in row]
        assert f"'{text}" in cells
        assert text in map(unescape, cells)
        assert not any(cell.startswith(("=", "+", "@", "\t", "\r", "\n")) for cell in cells)


def test_csv_leaves_negative_numbers_alone() -> None:
    row = Group((), (Range(-5, -3),), Range.exact(1), True)

    assert b"\r\n-5,-3," in to_csv(made((AnswerColumn("s", "range", "integer", 0),), (row,)))


def test_names_that_would_meet_are_told_apart() -> None:
    columns = (
        AnswerColumn("n_low", "key", "category", 0),
        AnswerColumn("n", "range", "integer", 0),
        AnswerColumn("n_low_2", "key", "category", 0),
        AnswerColumn("group_certain", "key", "category", 0),
    )
    flat, rows = table(made(columns, (Group(("a",), (Range(1, 2),), Range.exact(1), True),)))

    assert flat == [
        *("n_low", "n_low_3", "n_high", "n_may_be_null", "n_low_2", "group_certain", "group_certain_2", *STATE[1:]),
    ]
    assert rows == [["a", 1, 2, False, "a", "a", True, 1, 1]]


# -- for people --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "kind", "text"),
    [
        (Range(127.41237, 131.88811), "number", "127.41 .. 131.89"),
        (Range.exact(117), "integer", "117 exactly"),
        (Range.exact(0.1), "number", "0.1 exactly"),
        (Range(3, 5, may_be_null=True), "integer", "3 .. 5 or NULL"),
        (Range.null(), "number", "NULL"),
        (Range(0, 18321), "date", "1970-01-01 .. 2020-02-29"),
        (Range.exact(0), "date", "1970-01-01 exactly"),
        (Range(-math.inf, 2.5), "number", "-inf .. 2.5"),
        (Range(-8e-28, 5130.2), "number", "-8e-28 .. 5140"),
        (Range(30.499999999999996, 30.500000000000004), "number", "30.5 (rounded)"),
        (Range(24.500907, 24.500908), "number", "24.5009 (rounded)"),
        (Range(2**70, 2**70 + 1), "integer", f"{2**70} .. {2**70 + 1}"),
    ],
)
def test_a_range_as_a_person_reads_it(found: Range, kind: str, text: str) -> None:
    body = made((AnswerColumn("x", "range", kind, 0),), (Group((), (found,), Range.exact(1), True),))

    assert range_text(body["rows"][0]["x"]) == text
    assert readable(body) == (["x"], [[text]])


def test_groups_show_their_count_and_whether_they_are_certain() -> None:
    headings, rows = readable(made())

    assert headings == ["city", "smoker", "n", "mean", "first", "records in group"]
    assert rows[0] == ["Graz", "True", "3 .. 5", "0.1 .. 0.301", "1969-12-31 .. 2020-02-29", "3 .. 5"]
    assert rows[1] == ["NULL", "NULL", "0 exactly", "NULL", "NULL", "0 .. 2 (possible group)"]


LIMITED = Limited(1, 2, True, 1, 2)


def test_what_a_limit_leaves_open_is_told_before_the_rows_and_beside_each() -> None:
    rows = tuple(replace(GROUPS[0], first=first) for first in (True, False, False))
    body = make_body(Answer("q_1", "patients", 3, "interval", COLUMNS, rows, limited=LIMITED))
    headings, cells = readable(body)

    assert body["limit"] == {
        "first": 1,
        "last": 2,
        "certain": 1,
        "possible": 2,
        "note": "The ranges do not decide which groups are the first 2: 1 for certain, 2 perhaps. "
        "All of them are shown.",
    }
    assert [row["_group"]["first"] for row in body["rows"]] == [True, False, False]
    assert headings[-1] == "the first 2"
    assert [row[-1] for row in cells] == ["certainly", "perhaps", "perhaps"]


@pytest.mark.parametrize(
    ("limited", "note"),
    [
        (replace(LIMITED, ordered=False), "Without ORDER BY any group may be among the first 2. All are shown."),
        (
            Limited(3, 3, True, 0, 2),
            "The ranges do not decide which groups are number 3: none for certain, 2 perhaps. All of them are shown.",
        ),
        (
            Limited(3, None, True, 0, 1),
            "The ranges do not decide which groups are those after the first 2: none for certain, 1 perhaps. It is "
            "shown.",
        ),
    ],
)
def test_a_limit_in_words(limited: Limited, note: str) -> None:
    body = make_body(Answer("q_1", "patients", 3, "interval", COLUMNS, GROUPS, limited=limited))

    assert body["limit"]["note"] == note


@pytest.mark.parametrize(
    ("ends", "digits", "told"),
    [
        ((130.19999999999996, 131.40000000000003), 1, "130.2 .. 131.4 (about 130.8)"),
        ((126.0, 129.6), 1, "126 .. 129.6 (about 127.8)"),
        ((46.599999999999994, 46.60000000000001), 1, "46.6 exactly"),
        ((-0.30000000000000004, 0.1), 2, "-0.3 .. 0.1 (about -0.1)"),
        ((29.37999, 29.39001), 2, "29.38 .. 29.39 (about 29.38)"),
        ((math.nextafter(0.145, 0), math.nextafter(0.155, 1)), 3, "0.145 .. 0.155 (about 0.15)"),
        ((-math.inf, 2.0), 1, "-inf .. 2.0 (about 2.0)"),
    ],
)
def test_a_number_that_was_rounded_has_the_digits_that_were_asked_for(
    ends: tuple[float, float], digits: int, told: str
) -> None:
    found = Range(*ends)
    middle = 2.0 if math.isinf(ends[0]) else ends[0] / 2 + ends[1] / 2
    group = Group((), (found,), Range.exact(1), True, estimates=(Estimate(middle),))
    body = made((AnswerColumn("x", "range", "number", 0, digits=digits),), (group,))

    assert range_text(body["rows"][0]["x"]) == told


# -- estimates ---------------------------------------------------------------------------------------------------

ESTIMATED = (
    replace(GROUPS[0], estimates=(Estimate(4), Estimate(0.25), Estimate(365))),
    replace(GROUPS[1], estimates=(Estimate(0), Estimate(None, "Nobody."), Estimate(None, "Nobody."))),
)


def test_an_estimate_is_beside_its_range_or_says_why_not() -> None:
    first, second = made(groups=ESTIMATED)["rows"]

    assert (first["n"]["estimate"], first["mean"]["estimate"], first["first"]["estimate"]) == (4, 0.25, "1971-01-01")
    assert "estimate_note" not in first["n"]
    assert (second["mean"]["estimate"], second["mean"]["estimate_note"]) == (None, "Nobody.")


@pytest.mark.parametrize("form", ["arrow", "parquet"])
def test_tables_have_a_column_of_estimates(form: str) -> None:
    found = read(form, made(groups=ESTIMATED))

    assert found.column("n_estimate").to_pylist() == [4, 0]
    assert found.column("mean_estimate").to_pylist() == [0.25, None]
    assert found.column("first_estimate").to_pylist() == ["1971-01-01", None]
    assert found.schema.field("n_estimate").type == pa.int64()


def test_csv_has_a_column_of_estimates() -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(made(groups=ESTIMATED)).decode(), newline="")))

    assert [row["mean_estimate"] for row in rows] == ["0.25", ""]


def test_people_read_estimates_after_about_and_none_of_what_is_exact() -> None:
    _, rows = readable(made(groups=ESTIMATED))

    assert rows[0][2:5] == [
        "3 .. 5 (about 4)", "0.1 .. 0.301 (about 0.25)", "1969-12-31 .. 2020-02-29 (about 1971-01-01)"
    ]  # fmt: skip
    assert rows[1][2:5] == ["0 exactly", "NULL", "NULL"]


# -- subtotals ---------------------------------------------------------------------------------------------------


def with_subtotals() -> dict[str, Any]:
    """GROUP BY ROLLUP (city): a city, the people without one, and everybody."""
    columns = (AnswerColumn("city", "key", "category", 0), AnswerColumn("n", "range", "integer", 0))
    keys: list[tuple[str | None, bool]] = [("Graz", False), (None, False), (None, True)]
    return made(columns, tuple(Group((k,), (Range.exact(7),), Range.exact(7), True, (up,)) for k, up in keys))


def test_a_subtotal_is_no_missing_value_in_json() -> None:
    body = with_subtotals()

    assert [row["city"] for row in body["rows"]] == ["Graz", None, None]
    assert [row["_group"]["rolled_up"] for row in body["rows"]] == [[], [], ["city"]]


def test_a_subtotal_is_no_missing_value_in_tables() -> None:
    names, rows = table(with_subtotals())

    assert [row[names.index("city_rolled_up")] for row in rows] == [False, False, True]
    assert list(csv.DictReader(io.StringIO(to_csv(with_subtotals()).decode())))[2]["city_rolled_up"] == "True"
    for name in ("arrow", "parquet"):
        read = (
            pa.ipc.open_stream if name == "arrow" else lambda data: pyarrow.parquet.ParquetFile(pa.BufferReader(data))
        )
        found = read(FORMATS[name][1](with_subtotals()))
        told = (found.read_all() if name == "arrow" else found.read()).column("city_rolled_up")
        assert told.to_pylist() == [False, False, True]


def test_a_subtotal_is_no_missing_value_for_people() -> None:
    assert [row[0] for row in readable(with_subtotals())[1]] == ["Graz", "NULL", "(all)"]


def test_answers_of_one_grouping_set_are_as_they_were() -> None:
    assert all("rolled_up" not in row["_group"] for row in made()["rows"])
    assert not any("rolled_up" in name for name in table(made())[0])
