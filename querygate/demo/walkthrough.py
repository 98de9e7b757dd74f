"""The differencing attack, against a naive system and against the gate."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

from querygate.core.range_ends import shown
from querygate.core.types import Principal, Request
from querygate.custody.publish_report.kept_report import KeptReport
from querygate.gate.answer import answer
from querygate.gate.query_state import Gate
from querygate.gate.render import make_body, range_text

WALKER = Principal("demo", "custodian")
TEN = "SELECT AVG(systolic) FROM clinic WHERE age BETWEEN 40 AND 50"
ELEVEN = "SELECT AVG(systolic) FROM clinic WHERE age BETWEEN 40 AND 51"
SURVEY: dict[str, tuple[str, Callable[[dict[str, str]], bool]]] = {
    "everybody": ("TRUE", lambda r: True),
    "women in their forties and fifties": (
        "sex = 'female' AND age BETWEEN 40 AND 59",
        lambda r: r["sex"] == "female" and 40 <= int(r["age"]) <= 59,
    ),
    "Mexican Americans aged 60 and over": (
        "ethnicity = 'Mexican American' AND age >= 60",
        lambda r: r["ethnicity"] == "Mexican American" and int(r["age"]) >= 60,
    ),
    "everybody aged 43 to 57": ("age BETWEEN 43 AND 57", lambda r: 43 <= int(r["age"]) <= 57),
}
"""Who is asked about: in SQL, and as the custodian finds them in the rows."""

PRINTED = ("counts, prevalences and means, aligned", "counts, prevalences and means, free")
WAYS = {"views": "published as certified views, as here", "classes": "published as classes over all columns"}


def attack(gate: Gate, source: Path) -> str:
    """The two averages of a naive system and the value they betray; the gate's two ranges and what they leave open."""
    patients = _rows(source)
    ten = [int(p["systolic"]) for p in patients if 40 <= int(p["age"]) <= 50]
    eleven = [int(p["systolic"]) for p in patients if 40 <= int(p["age"]) <= 51]
    mean_ten, mean_eleven = sum(ten) / len(ten), sum(eleven) / len(eleven)
    secret = len(eleven) * mean_eleven - len(ten) * mean_ten
    range_ten, range_eleven = _ask(gate, TEN)["avg_systolic"], _ask(gate, ELEVEN)["avg_systolic"]
    column = gate.store.current("clinic").catalog.column("systolic")
    low, high = (column.low, column.high) if column else (None, None)
    # The attacker knows both group sizes, so the last value lies in 11 x second range - 10 x first range.
    least = len(eleven) * range_eleven["low"] - len(ten) * range_ten["high"]
    most = len(eleven) * range_eleven["high"] - len(ten) * range_ten["low"]
    left = shown(max(least, low or least), min(most, high or most))
    inside = all(r["low"] <= truth <= r["high"] for r, truth in ((range_ten, mean_ten), (range_eleven, mean_eleven)))
    lines = [
        "",
        "The differencing attack, on eleven patients of a small clinic",
        "-------------------------------------------------------------",
        f"  1. {TEN}",
        f"  2. {ELEVEN}",
        "",
        "A system that answers exactly:",
        f"  1. the mean of {len(ten)} patients aged 40 to 50 is {mean_ten:g}",
        f"  2. the mean of {len(eleven)} patients aged 40 to 51 is {mean_eleven:g}",
        f"  so the one patient aged 51 has {len(eleven)} x {mean_eleven:g} - {len(ten)} x {mean_ten:g}"
        f" = {secret:g} mmHg.",
        "",
        "QueryGate, on the same data and the same two queries:",
        f"  1. {range_text(range_ten)}",
        f"  2. {range_text(range_eleven)}",
        f"  Both ranges contain the true mean: {'yes' if inside else 'NO'}.",
        f"  The same subtraction leaves {left[0]} .. {left[1]} mmHg, out of the public domain {low} .. {high}.",
        "",
    ]
    return "\n".join(lines)


def survey(gate: Gate, source: Path) -> str:
    """What the same gate says about real people, beside the truth only the custodian can see."""
    people, k = _rows(source), gate.store.current("survey").catalog.k
    title = f"The same gate on {len(people):,} real people (NHANES 2015-16, k = {k})"
    heading = f"  {'':<36}{'people':<16}{'mean systolic, mmHg':<24}{'estimate':<10}true mean"
    lines, inside = [title, "-" * len(title), heading], []
    for who, (where, chosen) in SURVEY.items():
        values = [int(p["systolic"]) for p in people if chosen(p) and p["systolic"]]
        row = _ask(gate, f"SELECT COUNT(*) AS people, AVG(systolic) AS mean FROM survey WHERE {where}")  # noqa: S608
        count, mean, truth = row["people"], row["mean"], sum(values) / len(values)
        inside.append(mean["low"] <= truth <= mean["high"])
        texts = [range_text(each).split(" (about")[0] for each in (count, mean)]
        lines.append(f"  {who:<36}{texts[0]:<16}{texts[1]:<24}{mean['estimate']:<10.2f}{truth:.2f}")
    told = f"  Every range contains the true mean: {'yes' if all(inside) else 'NO'}. Estimates are not guaranteed."
    return "\n".join([*lines, told, ""])


def printable(report: KeptReport) -> str:
    """How much of an ordinary table could be printed, beside what one division over all columns would allow."""
    lines = [
        "Share of counts, prevalences and means (by columns of one view) that are narrow enough to print",
        f"  {'':<42}{'by decades':<14}by any ages",
    ]
    for way in report["worth"]["ways"]:
        shares = {one["name"]: one["share"] for one in way["parts"][0]["shares"]}
        aligned, free = (f"{shares.get(name) or 0:.0%}" for name in PRINTED)
        lines.append(f"  {WAYS.get(way['name'], way['name']):<42}{aligned:<14}{free}")
    return "\n".join([*lines, ""])


def _ask(gate: Gate, sql: str) -> dict[str, Any]:
    dataset = sql.split(" FROM ")[1].split()[0]
    return make_body(answer(Request(WALKER, dataset, sql), gate))["rows"][0]


def _rows(source: Path) -> list[dict[str, str]]:
    with source.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))
