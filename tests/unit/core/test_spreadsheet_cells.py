"""One way to keep formulas out of CSV files, and back: every writer of the product, whatever the text."""

from __future__ import annotations

import csv
import io

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

from querygate.cli.shared.output import print_csv
from querygate.core.answer_forms.spreadsheet_cells import escape, unescape
from querygate.core.extracts.extract_spec import METHODS
from querygate.custody.extract.extract_files import make_files
from querygate.custody.extract.protected_records import Field, ProtectedRecords
from querygate.methods.anonymise import ANONYMISERS, RECODERS
from querygate.methods.synthesis import METHODS as SYNTHESIS

RUNS = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
HOSTILE = [
    "=1+1",
    "+1",
    "-5 mg",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "'=1",
    "''-",
    "'",
    "",
    "O'Neill",
    "-",
    "\uff1d1",
    "F",
    "-5",
]
TEXT = st.text(st.sampled_from("'=+-@\t\r\n aF\uff1d\N{SNOWMAN}0"), max_size=6)


@given(TEXT)
def test_no_text_is_a_formula_and_each_comes_back(text: str) -> None:
    cell = escape(text)
    assert not cell.startswith(tuple(RUNS))
    assert unescape(cell) == text


def protected(texts: list[str], name: str = "note") -> ProtectedRecords:
    table = pa.table({name: texts, "change": list(range(-3, len(texts) - 3)), "half": [-0.5] * len(texts)})
    fields = tuple(Field(one, one, f"-{one}", f"={one}", ("@x",)) for one in table.column_names)
    return ProtectedRecords("release", "cells", 1, table, table, table, pa.array([0]).to_numpy(), fields, len(texts))


@pytest.mark.parametrize("name", ["note", "=cmd|' /C calc'!A0"])
def test_an_extract_has_no_formulas_and_keeps_its_numbers(name: str) -> None:
    files = make_files(protected(HOSTILE, name), ("csv",))
    rows = list(csv.reader(io.StringIO(files["extract.csv"].decode(), newline="")))
    assert not any(row[0].startswith(tuple(RUNS)) for row in rows)
    assert [unescape(row[0]) for row in rows] == [name, *HOSTILE]
    assert [row[1] for row in rows[1:4]] == ["-3", "-2", "-1"]
    assert {row[2] for row in rows[1:]} == {"-0.5"}
    words = [cell for row in csv.reader(io.StringIO(files["dictionary.csv"].decode(), newline="")) for cell in row]
    assert not any(cell.startswith(tuple(RUNS)) for cell in words)
    assert {"'=half", "'-half", "'@x"} <= set(words)


def test_a_list_of_the_command_line_has_no_formulas(capsys: pytest.CaptureFixture[str]) -> None:
    texts = [text for text in HOSTILE if "\r" not in text]  # which the terminal takes for the end of a line
    print_csv(["=name", "n"], [[text, -4] for text in texts])
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out, newline="")))
    assert [unescape(row[0]) for row in rows] == ["=name", *texts]
    assert not any(row[0].startswith(tuple(RUNS)) for row in rows)
    assert {row[1] for row in rows[1:]} == {"-4"}


def test_the_methods_of_a_request_are_those_that_there_are() -> None:
    assert set(METHODS["k-anonymous"]) == {"auto", *ANONYMISERS.names(), *RECODERS.names()}
    assert set(METHODS["condensed"]) == set(SYNTHESIS.names())
