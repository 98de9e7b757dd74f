"""A page with every part that pages are made of, in each state: for whoever changes them, and for tests of how they
look. What it shows is made up, and drawn by the same code as everywhere else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flask import Response

from querygate.control.sessions import Session
from querygate.core.answer_bodies import AnswerBody, Row
from querygate.core.errors import UnsupportedSQL
from querygate.core.jobs import Job
from querygate.core.rights import Right
from querygate.gate import render
from querygate.site.extract_requests.extract_figures import make_figures
from querygate.web.console.charts.answer_charts import make_charts
from querygate.web.console.charts.chart import Chart
from querygate.web.console.charts.risk_map import MapChart, make_risk_map
from querygate.web.console.page import make_page
from querygate.web.console.page_session import PageRoute
from querygate.web.console.publish_pages import STEP_NAMES
from querygate.web.console.timeline import make_timeline

RUN: tuple[Right, ...] = ("publish", "operate", "accounts")

PAGES: Final = (PageRoute("patterns", "GET", "/-/patterns", rights=RUN),)

Ends = tuple[float | None, float | None, float | None]


_FIGURES = {
    "k": 17,
    "records": 5735,
    "columns": ["age_low", "age_high", "sex"],
    "risk": {"words": ["Somebody known to be among the records is found with a probability of at most 1 in 17."]},
    "learnt": {"people": 1, "asked": 6, "answered": 5, "audit": "audited", "findings": 1, "isolating": 0},
}
_VERDICT = {
    "cost": {"epsilon": 0.1},
    "budget": {"left": 2.5},
    "accuracy": {"count": 30.0, "mean": None},
    "notes": ["Asked again in the same words, it costs nothing."],
}
_CASE = {
    "id": "c1",
    "severity": "exposed",
    "kinds": ["difference"],
    "users": ["ann"],
    "findings": [0],
    "records": 1,
    "queries": ["q_1", "q_2"],
    "first": "2026-03-01T12:00:00",
    "last": "2026-03-01T12:05:00",
    "signs": ["conditions that differ by one value"],
}
_FINDING = {"isolates": {"records": 1, "where": "age = 51"}, "severity": "exposed", "explanation": ""}
_STRIP = {"number": 2, "of": 6, "title": "The second question", "text": "Ask for one year more.", "next": 3}
_FAILED = Job("j_4", "publish.version", "", "carl", {"title": "visits.csv"}, "failed", "2026-03-01T11:00")


class PatternPages:
    def patterns(self, session: Session) -> Response:
        problem = UnsupportedSQL(
            "QG204",
            "This column is sensitive: it can be counted and averaged, not listed.",
            "Ask for a mean of it.",
            suggestion="SELECT AVG(systolic) FROM survey",
        )
        headings, rows = render.readable(
            _answer([("ward", "text")], [(("north",), (4, 9, 6)), (("south",), (5, 5, 5))])
        )
        return make_page(
            "patterns.html",
            session=session,
            problem=problem.to_dict(),
            charts=_charts(),
            risk_map=_risk_map(),
            timeline=make_timeline(
                "Questions", ("answered", "refused"), [("2026-03-01", [8, 2]), ("2026-03-02", [5, 0])]
            ),
            headings=headings,
            rows=rows,
            waiting={
                "job": "j_1",
                "finished": None,
                "problem": None,
                "progress": "reading the source",
                "fraction": 0.4,
            },
            failed={"job": "j_2", "finished": "2026-03-01", "problem": problem.to_dict()},
            figures=make_figures(_FIGURES),
            work=[Job("j_3", "publish.map", "survey", "carl", {}, "done", "2026-03-01T12:00"), _FAILED],
            step_names=STEP_NAMES,
            budget={"left": {"user": 2.5}, "limits": {"user": 10.0}},
            verdict=_VERDICT,
            case=_CASE,
            found={"dataset": "survey"},
            texts=[_FINDING],
            tour=_STRIP,
        )


def _charts() -> list[Chart]:
    """One picture of each kind."""
    groups = [
        (("north",), (4.0, 9.0, 6.0)),
        (("south",), (5.0, 5.0, 5.0)),
        (("a ward with a long name, abroad",), (0.0, 7.0, None)),
    ]
    ages = [
        ((decade,), (low, low + width, low + width / 2))
        for decade, low, width in ((30, 8, 3), (40, 14, 6), (50, 11, 0), (60, 4, 5))
    ]
    ratios = [(("north",), (0.5, 1.8, 1.1)), (("south",), (1.2, None, 2.4)), (("abroad",), (0.0, 0.9, 0.4))]
    drawn = [
        _draw("SELECT ward, COUNT(*) AS count FROM t GROUP BY ward", "count", "category", groups),
        _draw("SELECT ward, AVG(x) AS mean FROM t GROUP BY ward", "mean", "category", groups),
        _draw("SELECT ward, ODDS_RATIO(a, b) AS ratio FROM t GROUP BY ward", "ratio", "category", ratios),
        _draw("SELECT decade, AVG(x) AS mean FROM t GROUP BY decade", "mean", "number", ages),
        _draw("SELECT decade, COUNT(*) AS count FROM t GROUP BY decade", "count", "number", ages),
    ]
    quantiles: list[Ends] = [(90.0, 104.0, 98.0), (118.0, 127.0, 122.0), (139.0, 160.0, 150.0)]
    columns = [{"name": f"q{i}", "kind": "range", "type": "number"} for i in range(3)]
    row: Row = {f"q{i}": _range(ends) for i, ends in enumerate(quantiles)} | {"_group": {"certain": True}}
    body: AnswerBody = {"columns": columns, "rows": [row], "mode": "interval", "notes": []}  # type: ignore[typeddict-item]
    drawn += make_charts(
        body, [["90 .. 104", "118 .. 127", "139 .. 160"]], "SELECT QUANTILE_CONT(systolic, [0.1, 0.5, 0.9]) FROM t"
    )
    return drawn


def _draw(sql: str, column: str, kind: str, groups: Sequence[tuple[tuple[object, ...], Ends]]) -> Chart:
    body = _answer([("ward", kind)], groups, column)
    return make_charts(body, render.readable(body)[1], sql)[0]


def _answer(
    keys: list[tuple[str, str]], groups: Sequence[tuple[tuple[object, ...], Ends]], column: str = "count"
) -> AnswerBody:
    columns = [{"name": name, "kind": "key", "type": kind} for name, kind in keys]
    columns.append({"name": column, "kind": "range", "type": "number"})
    rows = [
        dict(zip((name for name, _ in keys), values, strict=True))
        | {column: _range(ends), "_group": {"certain": ends[0] != 0, "count": {"low": 1, "high": 9}}}
        for values, ends in groups
    ]
    return {"columns": columns, "rows": rows, "mode": "interval", "notes": []}  # type: ignore[typeddict-item]


def _range(ends: Ends) -> Row:
    low, high, about = ends
    return {"low": low, "high": high, "estimate": about, "sharp": True, "may_be_null": False}


def _risk_map() -> MapChart:
    def point(name: str, k: int, share: float, version: int | None = None) -> dict[str, object]:
        found = {"figures": 64, "share": share, "width": 1.0, "problem": "", "error": 0.08}
        return {"name": name, "version": version, "is_served": version == 2, "k": k, "standing": found}

    points = [
        point("version 2", 10, 0.7, 2),
        point("version 1", 10, 0.55, 1),
        point("k = 5", 5, 0.85),
        point("k = 20", 20, 0.4),
    ]
    return make_risk_map({"points": points})
