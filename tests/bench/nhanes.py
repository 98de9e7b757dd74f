"""Ranges on NHANES 2009-10 for every way of telling systolic pressure: 7,814 records, four quasi-identifiers.

Widths of guaranteed ranges as the gate answers them: mean and variance of all and of ages 40 to 60 (which public cuts
hold), and the count above 140 by decade of age, as the mean width over decades. Rounded and exact moments are guarded:
all members of a class but one keep a range of `guard` for the last (exact: of nobody).
"""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path
from typing import Any

from querygate.core.types import Principal, Request
from querygate.custody.use_cases.publish_version import publish_to
from querygate.gate.answer import answer
from querygate.methods.anonymise import ANONYMISERS
from querygate.site.layout import init_site
from querygate.site.open_gate import OpenSite, open_gate
from tests.places import DATA
from tests.policies import AGE, SBP, make_policy, quasi
from tests.report import row

SURVEY = DATA / "nhanes_2009_10.csv.gz"
KS = (5, 10, 50)
TARGET = {5: 2.0, 10: 1.0, 50: 0.3}
"""mmHg: the mean with bins and rounded means, where the question goes with the cuts."""

WAYS = (
    ("bins", "none", 10),
    ("hull", "none", 10),
    ("bins", "rounded", 5),
    ("hull", "rounded", 5),
    ("bins", "rounded", 10),
    ("hull", "rounded", 10),
    ("hull", "exact", 10),
    ("univariate", "none", 10),
    ("univariate", "rounded", 5),
    ("joint", "none", 10),
    ("joint", "rounded", 5),
)
"""carry, class_moments, guard. Bins are 10 wide: a guard of half a bin lets a cell of a sum cut a bin."""

POLICY = make_policy(
    "survey",
    {
        "age": AGE | {"cuts": [20, 30, 40, 61, 70], "weight": 2},
        **dict.fromkeys(("gender", "race", "education"), quasi("category")),
        "sbp": SBP | {"grid": 5},
    },
)
STATISTICS = ("AVG(sbp)", "VAR_POP(sbp)")
AGED = "age BETWEEN 40 AND 60"
BY_DECADE = "SELECT age // 10 AS decade, COUNT(*) FILTER (WHERE sbp > 140) AS x FROM survey GROUP BY age // 10"


def run() -> list[dict[str, Any]]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "nhanes.csv"
        with gzip.open(SURVEY, "rt", encoding="utf-8", newline="") as packed:
            source.write_text(packed.read(), encoding="utf-8")
        for k in KS:
            for carry, moments, guard in WAYS:
                if moments != "exact" or k >= 10:
                    rows += _measured(Path(folder), source, k, carry, moments, guard)
        rows += _directed(Path(folder), source)
    return rows


def _measured(folder: Path, source: Path, k: int, carry: str, moments: str, guard: int) -> list[dict[str, Any]]:
    opened = _published(folder, source, k, carry, moments, guard)
    told = carry if moments == "none" else f"{carry}, {moments}, guard {guard}"
    name = f"NHANES k={k}, {told}:"
    aimed = (carry, moments, guard) == ("bins", "rounded", 5)
    rows = []
    for statistic, unit in zip(STATISTICS, ("mmHg", "mmHg^2"), strict=True):
        for where in ("", AGED):
            width = _width(opened, f"SELECT {statistic} AS x FROM survey" + (f" WHERE {where}" if where else ""))
            target = TARGET[k] if aimed and unit == "mmHg" else None
            met = None if target is None else width <= target
            rows.append(row(f"{name} {statistic} {where}".strip(), width, unit, target=target, met=met))
    rows.append(row(f"{name} count above 140 by decade", _width(opened, BY_DECADE), "records"))
    return rows


def _directed(folder: Path, source: Path) -> list[dict[str, Any]]:
    """Boxes that follow the statistics against boxes that do not, by the width of the mean of ages 40 to 60."""
    if "boxes" not in ANONYMISERS:
        return []
    asked = f"SELECT AVG(sbp) AS x FROM survey WHERE {AGED}"
    rows = []
    for k in KS:
        widths = {}
        for method in ("mondrian", "boxes"):
            opened = _published(folder, source, k, "joint", "none", 10, method=method)
            widths[method] = _width(opened, asked)
        against = f"undirected {widths['mondrian']:.3g} mmHg"
        ratio = widths["boxes"] / widths["mondrian"]
        rows.append(row(f"NHANES k={k}, directed boxes: {asked}", widths["boxes"], "mmHg", against, ratio=ratio))
    return rows


def _published(
    folder: Path, source: Path, k: int, carry: str, moments: str, guard: int, method: str = "mondrian"
) -> OpenSite:
    site = Path(tempfile.mkdtemp(dir=folder)) / "site"
    sbp = {"carry": carry, "guard": guard, "bins": 10 if carry == "bins" else None}
    wanted = ["mean(sbp)", "var(sbp)"] if method == "boxes" else None
    anonymise = {"method": method, "class_moments": moments, "statistics": wanted}
    opened = open_gate(init_site(site))
    publish_to(opened, POLICY.but(k=k, columns={"sbp": sbp}, anonymise=anonymise).parsed(), str(source), user="bench")
    return opened


def _width(opened: OpenSite, sql: str) -> float:
    """The mean width of the ranges of an answer."""
    given = answer(Request(Principal("bench", "researcher"), "survey", sql), opened.gate)
    ranges = [group.ranges[-1] for group in given.groups]
    return sum(float(r.high or 0) - float(r.low or 0) for r in ranges) / len(ranges)
