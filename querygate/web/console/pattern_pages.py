"""A page with every part that pages are made of, in each state: for whoever changes them, and for tests of how they
look. What it shows is made up, and drawn by the same code as everywhere else."""

from __future__ import annotations

from typing import Final

from flask import Response

from querygate.control.sessions import Session
from querygate.core.errors import UnsupportedSQL
from querygate.core.jobs import Job
from querygate.core.rights import Right
from querygate.gate import render
from querygate.site.extract_requests.extract_figures import make_figures
from querygate.web.console import pattern_samples as samples
from querygate.web.console.charts.answer_charts import make_charts
from querygate.web.console.charts.chart import Chart
from querygate.web.console.charts.risk_map import make_risk_map
from querygate.web.console.console import editor_words
from querygate.web.console.page import make_page
from querygate.web.console.page_session import PageRoute
from querygate.web.console.publish_pages import STEP_NAMES
from querygate.web.console.table_builder import MEASURES
from querygate.web.console.timeline import make_timeline

RUN: tuple[Right, ...] = ("publish", "operate", "accounts")

PAGES: Final = (PageRoute("patterns", "GET", "/-/patterns", rights=RUN),)

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
        headings, rows = render.readable(samples.make_answer(samples.WARDS))
        answer, model, own = samples.shown_answer(), samples.shown_model(), samples.kept(session.principal)
        return make_page(
            "patterns.html",
            session=session,
            problem=problem.to_dict(),
            charts=_charts(),
            risk_map=make_risk_map({"points": _points()}),
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
            shown=answer,
            model=model,
            answer=samples.notebook_answer(),
            described=samples.described(),
            words=editor_words(samples.described()),
            measures=MEASURES,
            groupings=samples.described()["columns"],
            measured=samples.described()["columns"],
            text={"name": "Table 1", "description": "", "sql": samples.SQL, "dataset": "survey"},
            own=own[:1],
            shared=own[1:],
            grants=samples.grants(),
            result={
                **samples.predicted(),
                "map": {"points": _points(), "questions": 64, "used": 5735, "records": 5735},
            },
            rerun=samples.rerun(),
            sql=samples.SQL,
        )


def _charts() -> list[Chart]:
    """One picture of each kind."""
    ages = [
        ((decade,), (low, low + width, low + width / 2))
        for decade, low, width in ((30, 8, 3), (40, 14, 6), (50, 11, 0), (60, 4, 5))
    ]
    ratios: samples.Groups = [
        (("north",), (0.5, 1.8, 1.1)),
        (("south",), (1.2, None, 2.4)),
        (("abroad",), (0.0, 0.9, 0.4)),
    ]
    drawn = [
        _draw("SELECT ward, COUNT(*) AS count FROM t GROUP BY ward", "count", "category", samples.WARDS),
        _draw("SELECT ward, AVG(x) AS mean FROM t GROUP BY ward", "mean", "category", samples.WARDS),
        _draw("SELECT ward, ODDS_RATIO(a, b) AS ratio FROM t GROUP BY ward", "ratio", "category", ratios),
        _draw("SELECT ward, AVG(x) AS mean FROM t GROUP BY ward", "mean", "number", ages),
        _draw("SELECT ward, COUNT(*) AS count FROM t GROUP BY ward", "count", "number", ages),
    ]
    return [*drawn, *samples.quantile_charts()]


def _draw(sql: str, column: str, kind: str, groups: samples.Groups) -> Chart:
    body = samples.make_answer(groups, column, kind)
    return make_charts(body, render.readable(body)[1], sql)[0]


def _points() -> list[dict[str, object]]:
    def point(name: str, k: int, share: float, version: int | None = None) -> dict[str, object]:
        found = {"figures": 64, "share": share, "width": 1.0, "problem": "", "error": 0.08}
        return {"name": name, "version": version, "is_served": version == 2, "k": k, "standing": found}

    served, before = point("version 2", 10, 0.7, 2), point("version 1", 10, 0.55, 1)
    return [served, before, point("k = 5", 5, 0.85), point("k = 20", 20, 0.4)]
