"""What the page of patterns shows, all made up: an answer, a model, a dataset, and what came of a custodian's work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

from querygate.control.grants import Grant
from querygate.core.answer_bodies import AnswerBody, DescriptionBody, ModelBody, Row
from querygate.core.types import Principal
from querygate.gate import render
from querygate.web.console.charts.answer_charts import make_charts
from querygate.web.console.charts.chart import Chart
from querygate.web.console.console import Shown
from querygate.web.console.model_pages import ShownModel, show_model
from querygate.web.console.notebook_export import ShownAnswer
from querygate.web.console.rerun_tally import RerunTally, tally_rerun

Ends = tuple[float | None, float | None, float | None]
Groups = Sequence[tuple[tuple[object, ...], Ends]]

SQL: Final = "SELECT ward, AVG(systolic) AS mean FROM survey GROUP BY ward"
GROUP: Final = {"certain": True, "count": {"low": 1, "high": 9}}
WARDS: Final[Groups] = [
    (("north",), (4.0, 9.0, 6.0)),
    (("south",), (5.0, 5.0, 5.0)),
    (("a ward with a long name, abroad",), (0.0, 7.0, None)),
]


def make_answer(groups: Groups, column: str = "mean", kind: str = "category") -> AnswerBody:
    """Ranges by ward."""
    columns = [{"name": "ward", "kind": "key", "type": kind}, {"name": column, "kind": "range", "type": "number"}]
    rows = [
        {"ward": key, column: make_range(ends), "_group": {"certain": ends[0] != 0, "count": {"low": 1, "high": 9}}}
        for (key,), ends in groups
    ]
    told = {"query_id": "q_1", "dataset": "survey", "version": 2, "mode": "interval", "notes": []}
    return cast(AnswerBody, {**told, "columns": columns, "rows": rows})


def make_range(ends: Ends) -> Row:
    low, high, about = ends
    return {"low": low, "high": high, "estimate": about, "sharp": True, "may_be_null": False}


def shown_answer() -> Shown:
    body = make_answer(WARDS)
    headings, rows = render.readable(body)
    why = (
        "Most of the width comes from the condition on age.",
        "  Ask for whole decades:",
        "  SELECT COUNT(*) FROM survey",
    )
    return Shown(body, SQL, headings, rows, make_charts(body, rows, SQL), why, frozenset({why[-1].strip()}))


def notebook_answer() -> ShownAnswer:
    shown = shown_answer()
    return ShownAnswer("q_2", "2026-03-01T12:00", 2, None, shown.headings, shown.rows, shown.charts[:1], ["A note."])


def shown_model() -> ShownModel:
    """A forest plot: ratios with their confidence limits."""
    ratios: dict[tuple[str, str], tuple[Ends, float, float]] = {
        ("(intercept)", ""): ((0.1, 0.2, 0.15), 0.05, 0.4),
        ("sex", "male"): ((1.1, 1.6, 1.3), 0.8, 2.1),
        ("bands(age)", "60 to 69"): ((0.7, 0.9, 0.8), 0.5, 1.2),
        ("ward", "abroad"): ((0.2, None, 1.0), 0.1, 5.0),
    }
    names = ("odds_ratio", "low95", "high95")
    keys = [{"name": name, "kind": "key", "type": "text"} for name in ("term", "level")]
    columns = [*keys, *({"name": name, "kind": "range", "type": "number"} for name in names)]
    rows = []
    for (term, level), (ends, low, high) in ratios.items():
        limits = {"low95": make_range((low, low, low)), "high95": make_range((high, high, high))}
        rows.append({"term": term, "level": level, "odds_ratio": make_range(ends), **limits, "_group": GROUP})
    told_of = {"family": "logistic", "formula": "ill ~ sex + bands(age) + ward", "where": "", "statement": SQL}
    model = {**told_of, "reference": {"sex": "female"}}
    told = {"query_id": "q_3", "dataset": "survey", "version": 2, "mode": "interval", "notes": [], "model": model}
    return show_model(cast(ModelBody, {**told, "columns": columns, "rows": rows}))


def quantile_charts() -> tuple[Chart, ...]:
    quantiles: list[Ends] = [(90.0, 104.0, 98.0), (118.0, 127.0, 122.0), (139.0, 160.0, 150.0)]
    columns = [{"name": f"q{i}", "kind": "range", "type": "number"} for i in range(3)]
    row: Row = {f"q{i}": make_range(ends) for i, ends in enumerate(quantiles)} | {"_group": GROUP}
    body = cast(AnswerBody, {"columns": columns, "rows": [row], "mode": "interval", "notes": []})
    texts = [["90 .. 104", "118 .. 127", "139 .. 160"]]
    return make_charts(body, texts, "SELECT QUANTILE_CONT(systolic, [0.1, 0.5, 0.9]) FROM t")


def described() -> DescriptionBody:
    age = {"name": "age", "title": "Age in years", "role": "quasi-identifier", "type": "integer", "nullable": False}
    age |= {"domain": [18, 80], "cuts": [20, 30, 40, 50, 60, 70], "decided": 0.82}
    sex = {"name": "sex", "title": "", "role": "quasi-identifier", "type": "category", "values": ["female", "male"]}
    return cast(DescriptionBody, {"dataset": "survey", "columns": [age, sex | {"nullable": False}]})


def rerun() -> RerunTally:
    one = {"sql": SQL, "change": "wider", "width": 0.2, "before": "", "after": "", "times": 3}
    other = {**one, "change": "refused now", "width": None, "after": "refused, QG502", "times": 1}
    return tally_rerun({"questions": [one, other], "days": 90, "left_out": 2, "is_sample": False})


def predicted() -> dict[str, Any]:
    headings, rows = render.readable(make_answer(WARDS))
    answers = [
        {"sql": SQL, "code": "", "headings": headings, "rows": rows, "more": 2},
        {"sql": "SELECT name FROM survey", "code": "QG203", "refusal": "There is no such column."},
    ]
    return {"predicted": {"answers": answers, "is_sample": True}}


def grants() -> list[Grant]:
    when = "2026-03-01T12:00"
    return [
        Grant("g_1", "user", "ann", "survey", ("interval",), None, when, "carl"),
        Grant("g_2", "everyone", "", "*", ("interval", "laplace"), None, when, "carl"),
    ]


def kept(principal: Principal) -> list[dict[str, object]]:
    """Saved queries: one's own, and one that somebody shares."""
    one = {"id": "s_1", "name": "Table 1", "dataset": "survey", "owner": principal.name, "shared": "2026-03-01"}
    return [{**one, "changed": "2026-03-01T12:00"}, {**one, "owner": "bob", "changed": "2026-03-02T12:00"}]
