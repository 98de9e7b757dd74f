"""`querygate codes disassociate`: what leaves is counted from the file alone, and bad input leaves nothing."""

from __future__ import annotations

import csv
import json
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.policies import IDENTIFIER, code_list, make_policy

CODES = ["008", "250.00", "401.9", "493.00", "ä"]
LISTS = ["250.00;401.9", "401.9;250.00;250.00", "", "401.9", "25000", "493.00;401.9", "ä", "008", *["401.9;250.00"] * 6]
POLICY = make_policy("t", {"mrn": IDENTIFIER, "dx": code_list("flat", values=CODES, separator=";")}, k=3, person="mrn")


def files(folder: Path, lists: list[str], people: list[str] | None = None) -> tuple[Path, Path]:
    policy, source = folder / "bio.toml", folder / "bio.csv"
    policy.write_text(POLICY, encoding="utf-8")
    with source.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("mrn", "dx"), *zip(people or map(str, range(len(lists))), lists, strict=True)])
    return policy, source


def words(folder: Path, lists: list[str], *more: Any, people: list[str] | None = None) -> tuple[Any, ...]:
    policy, source = files(folder, lists, people)
    return "codes", "disassociate", "--policy", policy, "--source", source, "--out", folder / "out", *more


def test_what_is_written_keeps_k_to_the_m(run: Any, tmp_path: Path) -> None:
    done = run(*words(tmp_path, LISTS, "--column", "dx"))
    assert done.exit_code == 0, done.output
    with (tmp_path / "out" / "codes.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    chunks: dict[tuple[str, ...], list[list[str]]] = {}
    for row in rows:
        if row["chunk"] != "terms":
            key = row["joint_cluster"], row["cluster"], row["chunk"]
            chunks.setdefault(key, []).append(row["codes"].split("; "))
    for parts in chunks.values():
        held = Counter(one for part in parts for size in (1, 2) for one in combinations(part, size))
        assert min(held.values()) >= 3
    told = Counter(code for parts in chunks.values() for part in parts for code in part)
    assert (told["401.9"], told["250.00"]) == (10, 9)
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert (report["records"], report["k"], report["m"], report["codes"]) == (14, 3, 2, 5)
    assert report["counted"] == round(19 / 22, 4)


@pytest.mark.parametrize(
    ("lists", "more", "code", "people"),
    [
        (LISTS, ("--column", "mrn"), "QG806", None),
        (["401.9"] * 2, ("--column", "dx"), "QG", None),
        (["401.9", "?"] * 3, ("--column", "dx"), "QG802", None),
        (["401.9"] * 6, ("--column", "dx"), "QG803", ["1", "1", "2", "3", "4", "5"]),
    ],
    ids=["no codes", "too few", "unknown code", "repeated person"],
)
def test_bad_input_leaves_nothing(
    lists: list[str], more: tuple[str, ...], code: str, people: list[str] | None, run: Any, tmp_path: Path
) -> None:
    done = run(*words(tmp_path, lists, *more, people=people))
    assert done.exit_code != 0
    assert code in done.output
    assert "?" not in done.output
    assert not (tmp_path / "out").exists()
