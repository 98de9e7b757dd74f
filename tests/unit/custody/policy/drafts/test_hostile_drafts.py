"""Drafts of tables that nobody tidied up: they are policies, are published as they stand, and give nobody away."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from querygate.core.errors import ConfigError
from querygate.custody.policy import parse_policy
from querygate.custody.use_cases.policy_draft import draft_from
from tests.unit.custody.publish.publications import new_site, put, write_parquet
from tests.work import count_calls

ROWS = 400
Table = dict[str, Any]


def draft(folder: Path, table: Table) -> str:
    return draft_from(str(write_parquet(folder / "t.parquet", table))).text


def hostile() -> Table:
    rng = np.random.default_rng(4)
    value = np.round(rng.normal(50, 9, ROWS), 1)
    return {
        "id": [f"{i:07d}" for i in range(ROWS)],
        "select": rng.choice(["from", "where"], ROWS).tolist(),
        "group by": rng.choice(["a", 'b"; DROP TABLE x', "NULL", "ç☃"], ROWS).tolist(),
        "âge (années)": rng.integers(18, 90, ROWS).tolist(),
        "age": rng.integers(18, 90, ROWS).tolist(),
        "sex": rng.choice(["f", "m"], ROWS).tolist(),
        "Sex ": rng.choice(["f", "m"], ROWS).tolist(),
        "SEX": rng.choice(["f", "m"], ROWS).tolist(),
        "none": [None] * ROWS,
        "same": ["x"] * ROWS,
        "一": value.tolist(),
        "copy": (value * 2).tolist(),
        "huge": (value * 1e305).tolist(),
        "tiny": (value * 1e-300).tolist(),
        "infinite": [float("inf"), float("-inf"), float("nan"), *value[3:].tolist()],
        "big": (2**60 + rng.integers(0, 1000, ROWS)).tolist(),
        "seen": rng.choice([20090131, 20100228, 20101231], ROWS).tolist(),
        "a\n[columns.b]": rng.choice(["y", "z"], ROWS).tolist(),
    }


def test_a_hostile_table_is_drafted_and_published_as_it_stands(tmp_path: Path) -> None:
    table = hostile()
    text = draft(tmp_path, table)
    policy = parse_policy(text)
    assert policy.person == "id"
    assert '# type = "date"' in text.split("[columns.seen]")[1].split("[columns")[0]  # left out, and one edit away
    assert {policy.column(name).role for name in ("none", "same", "huge", "infinite", "big")} == {"withheld"}
    assert sum(policy.column(name).role == "quasi-identifier" for name in ("sex", "SEX", "Sex ")) == 1
    assert policy.column("copy").role == "withheld"
    assert "Nearly a copy of" in text

    report = put(new_site(tmp_path), text, table)
    assert report.measured.k >= 10
    assert not report.warnings


@pytest.mark.parametrize(
    "table",
    [
        {"age": [40, 50] * 20},
        {"sex": ["f", "m"] * 20},
        {"x": np.arange(40.0)},
        {"x": [None] * 40},
        {"x": [1] * 40, "y": ["a"] * 40},
        {"when": [20090131] * 20 + [20100131] * 20},
        {"sbp": [120.5, None] * 20, "died": [True, False] * 20},
    ],
    ids=["age", "sex", "numbers", "missing", "constant", "dates", "nothing that others know"],
)
def test_a_small_table_is_drafted(tmp_path: Path, table: Table) -> None:
    """As a policy, or as a file that says what is lacking."""
    text = draft(tmp_path, table)
    drafted = tomllib.loads(text)
    assert set(drafted["columns"]) == set(table)
    if any(column["role"] == "quasi-identifier" for column in drafted["columns"].values()):
        assert put(new_site(tmp_path), text, table).measured.k >= drafted["k"]
    else:
        assert "a policy needs a quasi-identifier, codes or a sequence" in text.replace("\n# ", " ")


@pytest.mark.parametrize(("rows", "words"), [(0, "no rows"), (1, "one row: too few")])
def test_without_rows_there_is_nothing_to_propose(tmp_path: Path, rows: int, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        draft(tmp_path, {"age": [40] * rows, "sex": ["f"] * rows})


def test_a_column_more_takes_little_work(tmp_path: Path) -> None:
    """So that 500 of them take seconds: twice as many take about twice the work."""
    rng, work = np.random.default_rng(5), []
    for columns in (16, 32):
        table: Table = {f"x{i}": np.round(rng.normal(i, 9, 300), 2) for i in range(columns // 2)}
        table |= {f"c{i}": rng.choice(["a", "b", "c"], 300).tolist() for i in range(columns // 2)}
        table |= {"age": rng.integers(18, 90, 300), "sex": rng.choice(["f", "m"], 300).tolist()}
        policy, calls = count_calls(lambda table=table: parse_policy(draft(tmp_path, table)))  # type: ignore[misc]
        assert [column.name for column in policy.named("quasi-identifier")] == ["age", "sex"]
        work.append(calls)
    assert work[1] < 2.5 * work[0], work


def test_numbers_with_a_decimal_comma_are_drafted(tmp_path: Path) -> None:
    table: Table = {
        "age": [20 + n % 60 for n in range(60)],
        "bmi": [f"{18 + n % 20},{n % 10}" for n in range(60)],
        "sbp": ["999,9", *(f"{100 + n},5" for n in range(59))],
    }
    assert "[columns.bmi]" in draft(tmp_path, table)
