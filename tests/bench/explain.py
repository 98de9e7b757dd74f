"""Wide answers and the first question that an explanation offers instead: is it accepted, and how much narrower?

30 statements of different kinds about the demo study and NHANES 2009-10, each published as classes (with and without
sums of classes) and as views. A suggestion is asked anew, as a researcher would. The target is of all of them: at least
five times as narrow. How many keep the statistic is counted too: where values are published in bins and no sums are, a
mean cannot become narrow, and the share above a cut is offered in its place.

These statements were chosen by hand. So others are drawn from the standing workload (ends that follow no cut), whatever
they ask for: they have no target.
"""

from __future__ import annotations

import math
import random
import statistics
import tempfile
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from querygate.core.errors import Refusal
from querygate.core.types import Principal, QueryOptions, Request
from querygate.custody.policy import Policy
from querygate.custody.use_cases.publish_version import publish_to
from querygate.custody.workload import Question, public_cuts, standing_workload
from querygate.custody.workload.usable_share import PAPER
from querygate.custody.workload.workload_sample import SEED
from querygate.gate.answer import answer, ask
from querygate.gate.widths import mean_widths
from querygate.site.layout import init_site
from querygate.site.open_gate import OpenSite, open_gate
from tests.bench.views import NHANES
from tests.places import DATA, ROOT
from tests.policies import PolicyText
from tests.report import row

ANN = Principal("ann", "researcher")
TARGET = 5.0
DRAWN = 14
"""Questions of each study and form."""
DEMO = ROOT / "querygate" / "demo"

SURVEY_CLASSES = (
    "SELECT COUNT(*) FROM survey WHERE age BETWEEN 45 AND 54",
    "SELECT COUNT(*) FROM survey WHERE age >= 65",
    "SELECT sex, COUNT(*) FROM survey WHERE age < 35 GROUP BY sex",
    "SELECT COUNT(*) FROM survey WHERE systolic >= 135",
    "SELECT 100.0 * COUNT(*) FILTER (WHERE bmi >= 31) / COUNT(*) AS share FROM survey",
    "SELECT AVG(systolic) FROM survey WHERE age BETWEEN 25 AND 44",
    "SELECT sex, AVG(bmi) FROM survey WHERE age > 55 GROUP BY sex",
    "SELECT ODDS_RATIO(smoked, systolic >= 144) FROM survey",
)
SURVEY_VIEWS = (
    "SELECT COUNT(*) FROM survey WHERE age BETWEEN 45 AND 54",
    "SELECT ethnicity, COUNT(*) FROM survey WHERE age > 64 GROUP BY ethnicity",
    "SELECT education, ethnicity, sex, COUNT(*) FROM survey GROUP BY ALL",
    "SELECT AVG(bmi) FROM survey WHERE age > 62",
    "SELECT AVG(diastolic) FROM survey WHERE age BETWEEN 25 AND 44",
    "SELECT 100.0 * COUNT(*) FILTER (WHERE systolic >= 135) / COUNT(systolic) AS share FROM survey WHERE age >= 40",
    "SELECT SUM(bmi) FROM survey WHERE age < 33",
)
NHANES_CLASSES = (
    "SELECT COUNT(*) FROM nhanes WHERE age BETWEEN 36 AND 64",
    "SELECT gender, COUNT(*) FROM nhanes WHERE age <= 44 GROUP BY gender",
    "SELECT COUNT(*) FROM nhanes WHERE bmi BETWEEN 24 AND 29 AND age >= 40",
    "SELECT COUNT(*) FILTER (WHERE diabetes = 'Yes' AND age > 57) AS n FROM nhanes",
    "SELECT AVG(cholesterol) FROM nhanes WHERE age > 45",
    "SELECT SUM(sbp) FROM nhanes WHERE age BETWEEN 33 AND 66",
    "SELECT RISK_RATIO(diabetes = 'Yes', sbp > 136) FROM nhanes",
    "SELECT MEDIAN(sbp) FROM nhanes WHERE age > 64",
)
NHANES_VIEWS = (
    "SELECT COUNT(*) FROM nhanes WHERE age BETWEEN 36 AND 64",
    "SELECT COUNT(*) FROM nhanes WHERE diabetes = 'Yes' AND age > 57",
    "SELECT AVG(sbp) FROM nhanes WHERE age BETWEEN 33 AND 57",
    "SELECT gender, AVG(bmi) FROM nhanes WHERE age < 44 GROUP BY gender",
    "SELECT COUNT(*) FROM nhanes WHERE cholesterol >= 5.2",
    "SELECT STDDEV(sbp) FROM nhanes WHERE age BETWEEN 36 AND 64",
    "SELECT CASE WHEN age < 45 THEN 'young' ELSE 'old' END AS part, COUNT(*) FROM nhanes GROUP BY part",
)
CLASSES: dict[str, Any] = {"anonymise": {"class_moments": "rounded"}}
VIEWS: dict[str, Any] = {"views": {"mode": "auto"}}


@dataclass(frozen=True)
class Suggested:
    """What the first suggestion for a statement came to. `times` compares the columns as the explanation does."""

    sql: str
    before: float
    first: str
    times: float
    keeps_statistic: bool
    took_ms: float


def run() -> list[dict[str, Any]]:
    survey = PolicyText(tomllib.loads((DEMO / "survey.toml").read_text(encoding="utf-8"))).but(k=10, views=None)
    nhanes = DATA / "nhanes_2009_10_adults.csv.gz"
    studies = (
        ("demo study, classes", survey.but(**CLASSES), DEMO / "survey.csv", SURVEY_CLASSES),
        ("demo study, views", survey.but(**VIEWS), DEMO / "survey.csv", SURVEY_VIEWS),
        ("NHANES 2009-10, classes", NHANES.but(k=10, **CLASSES), nhanes, NHANES_CLASSES),
        ("NHANES 2009-10, views", NHANES.but(k=10, **VIEWS), nhanes, NHANES_VIEWS),
    )
    rows, every, drawn = [], [], []
    for name, policy, file, statements in studies:
        with tempfile.TemporaryDirectory() as folder:
            opened = open_gate(init_site(Path(folder) / "site"))
            publish_to(opened, policy.parsed(), str(file), user="bench")
            found = [_suggested(opened, policy.tables["dataset"], sql) for sql in statements]
            drawn += _drawn(opened, policy.parsed())
        every += found
        rows += [_line(name, one) for one in found]
    rows += _summary("chosen", every, target=True)
    rows += _summary("drawn, counts, prevalences, means", [one for kind, one in drawn if kind in PAPER])
    rows += _summary("drawn, all other statistics", [one for kind, one in drawn if kind not in PAPER])
    return rows + _times(every)


def _drawn(opened: OpenSite, policy: Policy) -> list[tuple[str, Suggested]]:
    """Wide answers to questions that nobody chose, each with its kind."""
    catalog = opened.store.current(policy.dataset).catalog
    free = [q for q in standing_workload(catalog, public_cuts(policy)) if q.ends == "free"]
    found = []
    for question in _of_each_kind(free, DRAWN):
        try:
            one = _suggested(opened, policy.dataset, question.sql)
        except Refusal:  # sensitive columns that no view has together
            continue
        if one.before > 0:
            found.append((question.kind, one))
    return found


def _of_each_kind(questions: Sequence[Question], most: int) -> list[Question]:
    """So many of the questions, in their order: as many of each kind as there are, by turns, spread over them all."""
    rng = random.Random(SEED)
    kinds = list(dict.fromkeys(question.kind for question in questions))
    places = [[i for i, question in enumerate(questions) if question.kind == kind] for kind in kinds]
    drawn = [rng.sample(each, len(each)) for each in places]
    turns = (place for turn in zip_longest(*drawn) for place in turn if place is not None)
    return [questions[place] for place in sorted(islice(turns, most))]


def _suggested(opened: OpenSite, dataset: str, sql: str) -> Suggested:
    before = mean_widths(answer(Request(ANN, dataset, sql), opened.gate))
    began = time.perf_counter()
    told = ask(Request(ANN, dataset, sql, QueryOptions(explain=True)), opened.gate)["explanation"]
    took_ms = (time.perf_counter() - began) * 1000
    if not told["suggestions"]:
        return Suggested(sql, sum(before), "none", 1.0, True, took_ms)
    first = told["suggestions"][0]
    after = mean_widths(answer(Request(ANN, dataset, first["sql"]), opened.gate))
    told_widths = map(float, first["widths"].values())
    if not all(math.isclose(*pair, rel_tol=1e-5) for pair in zip(after, told_widths, strict=True)):
        raise ValueError("a suggestion is not as wide as it was told")
    times = float("inf") if first["narrower"] is None else float(first["narrower"])
    kept = not any("NULLIF" in change for change in first["changes"])
    return Suggested(sql, sum(before), first["sql"], times, kept, took_ms)


def _line(name: str, one: Suggested) -> dict[str, Any]:
    met = one.times >= TARGET
    return row(
        f"{name}: {one.sql}", one.times, "times narrower", f"{one.before:.4g} wide; {one.first}", target=TARGET, met=met
    )


def _summary(name: str, found: Sequence[Suggested], *, target: bool = False) -> list[dict[str, Any]]:
    sharp = [one for one in found if one.times >= TARGET]
    kept = [one for one in sharp if one.keeps_statistic]
    exact = [one for one in sharp if one.times == math.inf]
    told = {"five times narrower": sharp, "of these, the same statistic": kept, "of these, exact": exact}
    rows = [row(f"explain: {name}: {what}", len(those), "answers", f"of {len(found)}") for what, those in told.items()]
    rows[0]["met"] = len(sharp) == len(found) if target else None
    return rows


def _times(found: Sequence[Suggested]) -> list[dict[str, Any]]:
    took = [one.took_ms for one in found]
    return [
        row("explain: time, median", statistics.median(took), "ms"),
        row("explain: time, longest", max(took), "ms"),
    ]
