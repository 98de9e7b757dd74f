"""What Safe Harbor does to columns, and what texts of releases from elsewhere allow."""

from __future__ import annotations

import math
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from querygate.core.errors import ConfigError
from querygate.custody.policy import ColumnPolicy
from querygate.custody.risk_report.code_table import by_safe_harbor, code_column
from querygate.custody.risk_report.extract_side import _told, check_released
from tests.unit.custody.risk_report.small import POLICY

TREATED: dict[str, tuple[str, Any, list[int], str]] = {
    "age": ("integer", [30, 89, 90, 104, None], [0, 1, 2, 2, -1], "age"),
    "zip": ("category", ["37203", "37212", "03601", "82190", "n/a"], [1, 1, 0, 0, 0], "zip3"),
    "born": (
        "date",
        [date(1930, 1, 1), date(1936, 5, 1), date(1950, 2, 1), date(1950, 7, 1)],
        [0, 0, 1, 1],
        "birth year",
    ),
    "seen": ("date", [date(2020, 1, 1), date(2020, 9, 9), date(2021, 1, 1)], [0, 0, 1], "year"),
    "city": ("category", ["Nashville", "Memphis", None], [-1, -1, -1], "drop"),
    "sex": ("category", ["F", "M", None], [0, 1, -1], ""),
    "age_group": ("category", ["20-29", "90-99"], [0, 1], ""),
    "admission_date": ("category", ["01/02/20", "yesterday"], [-1, -1], "drop"),
}


@pytest.mark.parametrize("name", TREATED)
def test_safe_harbor(name: str) -> None:
    kind, values, expected, treatment = TREATED[name]
    column = ColumnPolicy(name, "quasi-identifier", kind)  # type: ignore[arg-type]
    coded, told = by_safe_harbor(code_column(column, pa.chunked_array([pa.array(values)]), None), 2026)
    assert coded.records.tolist() == expected
    assert told.treatment == treatment


TEXTS: dict[str, Any] = {
    "35": (35.0, 35.0),
    "30-39": (30.0, 39.0),
    "30 to 39": (30.0, 39.0),
    "[30, 40)": (30.0, 40.0),
    "-5..10": (-5.0, 10.0),
    "90+": (90.0, math.inf),
    ">= 90": (90.0, math.inf),
    "<18": (-math.inf, 18.0),
    "*": None,
}


@pytest.mark.parametrize("text", TEXTS)
def test_a_number_in_one_column(text: str) -> None:
    column = ColumnPolicy("age", "quasi-identifier", "integer")
    told = _told(column, pa.table({"age": [text, text, None]}), ())
    assert told.sides is not None
    assert told.sides[told.codes[0]] == TEXTS[text]
    assert told.sides[told.codes[2]] is None


def test_dates_are_days() -> None:
    column = ColumnPolicy("seen", "quasi-identifier", "date")
    told = _told(column, pa.table({"seen_low": ["1970-01-02"], "seen_high": ["1970-01-11"]}), ())
    assert told.sides == [(1.0, 10.0)]


def test_a_text_that_nobody_knows_cannot_be_looked_up() -> None:
    column = ColumnPolicy("age", "quasi-identifier", "integer")
    told = _told(column, pa.table({"age": ["elderly", "young", "young"]}), ())
    assert told.sides is None
    assert np.bincount(told.codes).tolist() in ([1, 2], [2, 1])


def test_nodes_of_a_hierarchy() -> None:
    column = POLICY.parsed().column("zip")
    texts = ["37203", "37212", "38104"]
    told = _told(column, pa.table({"zip": ["372**", "37203", "372", "*"]}), texts)
    assert told.sides is not None
    area = {"37203", "37212"}
    assert [told.sides[code] for code in told.codes] == [area, {"37203"}, area, set(texts)]


def test_half_a_range_is_refused() -> None:
    with pytest.raises(ConfigError, match="only half"):
        _told(ColumnPolicy("age", "quasi-identifier", "integer"), pa.table({"age_low": ["1"]}), ())


def test_columns_of_a_release() -> None:
    policy = POLICY.parsed()
    assert check_released(policy, ["age_low", "age_high", "name"]) == ("name",)
    with pytest.raises(ConfigError, match="does not name: shoe"):
        check_released(policy, ["age", "shoe"])
    with pytest.raises(ConfigError, match="none of the policy's quasi-identifiers"):
        check_released(policy, ["illness"])
