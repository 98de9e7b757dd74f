"""Code lists in extracts: items in place of codes, never a list as it is."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from querygate.core.errors import ExtractRefused
from querygate.methods.code_lists import hidden_patterns
from tests.policies import ROUGH_AGE, SBP, code_list, make_policy
from tests.unit.custody.extract.study import extract

CODES = ("250.00", "250.01", "250.02", "401.0", "401.1", "401.9", "493.00", "493.01", "V10.3")
DX = code_list("icd9cm", method="cba", protect={"kind": "k^m", "m": 2}, utility={"kind": "level", "level": 2})
POLICY = make_policy("trial", {"age": ROUGH_AGE, "dx": DX, "sbp": SBP})


def patients(rows: int = 250) -> pa.Table:
    rng = np.random.default_rng(5)
    shares = rng.dirichlet(np.ones(len(CODES)) * 2)
    lists = [sorted({str(code) for code in rng.choice(CODES, rng.integers(0, 5), p=shares)}) for _ in range(rows)]
    lists[0] = []
    spelt = [[code.replace(".", "").lower() if i % 3 else code for code in codes] for i, codes in enumerate(lists)]
    return pa.table(
        {
            "age": rng.integers(20, 80, rows),
            "dx": pa.array(spelt, pa.list_(pa.string())),
            "sbp": 100 + np.arange(rows) % 150,
            "row": np.arange(rows),
        }
    )


def read(folder: Path) -> list[tuple[Any, ...]]:
    return duckdb.sql(f"SELECT sbp, age_low, age_high, dx FROM '{folder / 'out' / 'extract.csv'}'").fetchall()


def test_items_stand_for_codes_and_keep_the_promise(tmp_path: Path) -> None:
    table = patients(150)
    body = extract(tmp_path, table=table, policy=POLICY, method="mondrian")
    published = [
        frozenset(frozenset(item.split("/")) for item in (dx or "").split("; ") if item) for *_, dx in read(tmp_path)
    ]
    together = Counter(
        pair for items in published for size in (1, 2) for pair in combinations(sorted(items, key=sorted), size)
    )
    assert together
    assert min(together.values()) >= 5
    items = {item for held in published for item in held}
    assert sum(len(item) for item in items) == len({code for item in items for code in item})  # one item for each code
    # Blood pressures tell these records apart, so that each is found again.
    by_sbp = {sbp: held for (sbp, *_), held in zip(read(tmp_path), published, strict=True)}
    dotted = {code.replace(".", "").lower(): code for code in CODES}
    for sbp, codes in zip(table["sbp"].to_pylist(), table["dx"].to_pylist(), strict=True):
        held = {dotted[code.replace(".", "").lower()] for code in codes}
        known = {code for item in items for code in item}
        assert by_sbp[sbp] == {item for item in items if item & held}
        assert all(any(code in item for item in by_sbp[sbp]) for code in held & known)
    [report] = body["codes"]
    assert report["occurring"] == report["exact"] + report["generalised"] + report["suppressed"]
    assert body["guarantees"][-1]["figure"] >= 5
    assert "Code lists" in (tmp_path / "out" / "report.html").read_text()


def test_a_pattern_is_hidden_in_the_records_that_leave(tmp_path: Path) -> None:
    """A record of which a code is unknown says so; the guarantee is counted on the extract."""
    table = patients(150)
    lists = [
        sorted({*codes, "250.00", "401.9"}) if row % 2 else codes for row, codes in enumerate(table["dx"].to_pylist())
    ]
    table = table.set_column(1, "dx", pa.array(lists, pa.list_(pa.string())))
    rule = {"known": ["250.00"], "secret": ["401.9"]}
    protect = {"kind": "patterns", "rules": [rule], "share": 0.2}
    body = extract(
        tmp_path, table=table, policy=POLICY.but(columns={"dx": {"protect": protect, "method": "unknowns"}}),
        method="mondrian",
    )  # fmt: skip
    held = [set((dx or "").split("; ")) for *_, dx in read(tmp_path)]
    known = [items for items in held if "250.00" in items]
    assert known
    assert sum("401.9" in items for items in known) <= 0.2 * len(known)
    assert any("401.9?" in items for items in held)
    assert "surest hidden pattern of dx" in {one["measure"] for one in body["guarantees"]}
    assert_marks_are_half_true(tmp_path, table)
    [report] = body["codes"]
    assert (report["generalised"], report["suppressed"]) == (0, 0)
    assert report["hidden"] == report["occurring"] - report["exact"] > 0
    told = sum(bool(item) and not {"?", "/"} & set(item) for items in held for item in items)
    entries = sum(len({code.replace(".", "").lower() for code in codes}) for codes in lists)
    assert report["untold"] == pytest.approx(1 - told / entries)


def assert_marks_are_half_true(folder: Path, table: pa.Table) -> None:
    """Blood pressures tell these records apart."""
    diagnoses = dict(zip(table["sbp"].to_pylist(), table["dx"].to_pylist(), strict=True))
    marked = ["401.9" in diagnoses[sbp] or "4019" in diagnoses[sbp] for sbp, *_, dx in read(folder) if "401.9?" in dx]
    assert 0 < 2 * sum(marked) <= len(marked)


def test_an_extract_whose_marks_tell_the_code_does_not_leave(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(hidden_patterns._Marks, "_cover", lambda marks, *_: np.zeros(marks.baskets.records, np.bool_))
    monkeypatch.setattr(hidden_patterns._Marks, "add_cover", lambda *_: False)
    table = patients(150)
    lists = [["250.00", "401.9"] if row % 3 else ["250.00"] for row in range(150)]
    table = table.set_column(1, "dx", pa.array(lists, pa.list_(pa.string())))
    protect = {"kind": "patterns", "rules": [{"known": ["250.00"], "secret": ["401.9"]}], "share": 0.2}
    policy = POLICY.but(columns={"dx": {"protect": protect, "method": "unknowns"}})
    with pytest.raises(ExtractRefused, match="at most half of the records in which a secret code of dx") as refused:
        extract(tmp_path, table=table, policy=policy, method="mondrian")
    assert refused.value.code == "QG605"
    assert not list((tmp_path / "out").glob("extract*"))


def test_a_condensed_extract_has_no_lists(tmp_path: Path) -> None:
    with pytest.raises(ExtractRefused) as refused:
        extract(tmp_path / "a", table=patients(), policy=POLICY, kind="condensed", k=10, columns=["age", "dx"])
    assert "dx" in refused.value.detail
    body = extract(tmp_path / "b", table=patients(), policy=POLICY, kind="condensed", k=10, method="improved")
    assert body["columns"] == ["age", "sbp"]


def test_all_formats_hold_lists(tmp_path: Path) -> None:
    extract(
        tmp_path, table=patients(60), policy=POLICY, method="mondrian", formats=["csv", "parquet", "arrow", "stata"]
    )
    assert {path.name for path in (tmp_path / "out").glob("extract.*")} == {
        "extract.csv", "extract.parquet", "extract.arrow", "extract.dta"
    }  # fmt: skip


def test_codes_are_told_by_k_of_the_records_that_leave(tmp_path: Path) -> None:
    """Records that are left out after codes were protected would take some below k."""
    table = patients(250)
    ages = [*range(100, 113), *table["age"].to_pylist()[13:]]  # nobody is like the first
    lists = [["042"] if row in (0, 1, 2, 100, 101) else codes for row, codes in enumerate(table["dx"].to_pylist())]
    table = table.set_column(0, "age", pa.array(ages)).set_column(1, "dx", pa.array(lists, pa.list_(pa.string())))
    body = extract(tmp_path, table=table, policy=POLICY, method="full-domain", suppress=0.1)
    assert body["left_out"] > 0
    [report] = body["codes"]
    assert 0 < report["alone"] <= 1
    held = [(dx or "").split("; ") if dx else [] for *_, dx in read(tmp_path)]
    assert len(held) == body["records"] == 250 - body["left_out"]
    together = Counter(pair for items in held for size in (1, 2) for pair in combinations(sorted(items), size))
    assert min(together.values()) >= 5


def test_records_are_not_selected_by_codes(tmp_path: Path) -> None:
    with pytest.raises(ExtractRefused, match="cannot be selected by code lists") as caught:
        extract(tmp_path, table=patients(60), policy=POLICY, where="has_code_under(DX, '250')")
    assert caught.value.code == "QG604"
