"""Codes for missing values: proposed as missing where nobody has anything near them."""

from __future__ import annotations

import csv
from pathlib import Path

from querygate.custody.policy import parse_policy
from querygate.custody.use_cases.policy_draft import draft_from

BMI = [20 + i * 0.1 for i in range(150)]


def drafted(folder: Path, columns: dict[str, list[object]]) -> dict[str, tuple[str, ...]]:
    """What is read as missing, by column; the file is a policy as it stands."""
    path = folder / "clinic.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["sex", *columns])
        writer.writerows(["fm"[i % 2], *row] for i, row in enumerate(zip(*columns.values(), strict=True)))
    policy = parse_policy(draft_from(str(path)).text)
    return {column.name: column.absent for column in policy.columns if column.absent}


def test_codes_far_beyond_all_others_are_proposed_as_missing(tmp_path: Path) -> None:
    columns: dict[str, list[object]] = {
        "bmi": [*(f"{x:.1f}" for x in BMI), *["99"] * 10],
        "pain": [*(i % 11 for i in range(150)), *["88"] * 5, *["99"] * 5],
        "Größe_x": [*(i % 50 for i in range(150)), *["-99"] * 10],
        "wage_week": [*(f"{40 + 3.5 * i:.2f}" for i in range(150)), *["-9"] * 10],
        # farther from each other than from 99, but hardly anybody is where they end
        "ejection": [*(45 + i % 15 for i in range(138)), 10, 20, 30, 35, 40, 62, 66, 70, 73, 75, *["99"] * 12],
    }
    found = {"bmi": ("99",), "pain": ("88", "99"), "Größe_x": ("-99",), "wage_week": ("-9",), "ejection": ("99",)}
    assert drafted(tmp_path, columns) == found


def test_what_may_be_a_value_stays_one(tmp_path: Path) -> None:
    """Ages up to 99, what one record has, what lies among others, and differences below zero."""
    columns: dict[str, list[object]] = {
        "age": [*(20 + i % 70 for i in range(150)), *["99"] * 10],
        "bmi": [*(f"{x:.1f}" for x in BMI), "99", *["30.5"] * 9],
        "wait": [*(i % 60 for i in range(150)), *["77"] * 10],
        "change": [*(i % 21 - 10 for i in range(150)), *["-99"] * 10],
        "gain": [*(i % 21 - 2 for i in range(150)), *["-9"] * 10],
    }
    assert drafted(tmp_path, columns) == {}


def test_spellings_that_may_mean_something_else_are_kept(tmp_path: Path) -> None:
    """Genotypes, codes of two letters, and rare texts, which no draft names."""
    columns: dict[str, list[object]] = {
        "rs7412": ["AA", "Aa", "aa"] * 50,
        "unit": ["mg", "Mg"] * 75,
        "status": [*["stable", "Stable ", "STABLE"] * 48, *["Rare one", "rare one"] * 2, *["unstable"] * 2],
        "smoker": ["j", "J", "n"] * 50,
    }
    drafted(tmp_path, columns)
    policy = parse_policy(draft_from(str(tmp_path / "clinic.csv")).text)
    assert {column.name: dict(column.spelled) for column in policy.columns if column.spelled} == {
        "status": {"STABLE": ("Stable ", "stable")},
        "smoker": {"J": ("j",)},
    }
