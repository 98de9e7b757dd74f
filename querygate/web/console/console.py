"""The console: pages for people who would rather look than read. Each method is a page, called as its route's name.

Everything here goes through the same gate as the API does; a page only decodes a form and draws what came back.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from flask import Response, render_template, request

from querygate.control.log.log_search import asked_models
from querygate.control.log.query_entries import QueryLine
from querygate.control.sessions import Session
from querygate.core.answer_bodies import AnswerBody, DescriptionBody
from querygate.core.errors import NotPermitted, QueryGateError
from querygate.core.jobs import JobUnderway
from querygate.core.types import Principal, QueryOptions, Request
from querygate.gate import render
from querygate.gate.answer import ask, read_budget
from querygate.gate.dataset_list import make_summary, served_catalogs
from querygate.gate.description import describe_version
from querygate.gate.dry_run import check
from querygate.gate.grant_check import check_known, known_datasets
from querygate.gate.query_state import MODES, NOISY
from querygate.gate.width_explanation_text import explanation_lines
from querygate.site.open_gate import OpenSite
from querygate.site.saved_work import SavedWork
from querygate.sql.aggregates import NAMES
from querygate.web.console.charts.answer_charts import make_charts
from querygate.web.console.charts.chart import Chart
from querygate.web.console.navigation import DATASETS, first_page
from querygate.web.console.page import go, make_download, make_page, make_part, wants_part
from querygate.web.console.page_session import PageRoute, inside
from querygate.web.console.table_builder import (
    MEASURES,
    TableChoice,
    grouping_columns,
    measured_columns,
    write_statement,
)
from querygate.web.job_routes import JobViews
from querygate.web.problems import malformed, status_of
from querygate.web.query_routes import read_moment

PAGES: Final = (
    PageRoute("start", "GET", "/", rights=()),
    PageRoute("datasets", "GET", DATASETS, rights=("ask", "look")),
    PageRoute("dataset", "GET", "/datasets/<dataset>", rights=("ask", "look")),
    PageRoute("ask", "POST", "/datasets/<dataset>/answer"),
    PageRoute("price", "POST", "/datasets/<dataset>/price"),
    PageRoute("build_table", "POST", "/datasets/<dataset>/statement"),
    PageRoute("budget", "GET", "/datasets/<dataset>/budget"),
    PageRoute("job", "GET", "/jobs/<job_id>", rights=()),
    PageRoute("cancel", "POST", "/jobs/<job_id>/cancel", rights=()),
    PageRoute("follow", "GET", "/jobs/<job_id>/events", rights=()),
    PageRoute("answer", "GET", "/answers/<query_id>"),
    PageRoute("download", "GET", "/answers/<query_id>/<any(csv, json, parquet, arrow):form>"),
    PageRoute("chart", "GET", "/answers/<query_id>/chart-<int:number>.svg"),
    PageRoute("history", "GET", "/history"),
)

NO_WORKER = "QG314"
MOST_HISTORY = 500
SHOWN_HISTORY = 100


@dataclass(frozen=True, slots=True)
class Shown:
    """An answer as a page shows it."""

    body: AnswerBody
    sql: str
    headings: list[str]
    rows: list[list[str]]
    charts: tuple[Chart, ...]
    explanation: tuple[str, ...]
    suggested: frozenset[str]


class Console:
    def __init__(self, opened: OpenSite, jobs: JobViews) -> None:
        self._opened, self._gate, self._jobs, self._saved = opened, opened.gate, jobs, SavedWork(opened)

    # -- looking around ----------------------------------------------------------------------------------

    def start(self, session: Session) -> Response:
        """Where somebody begins depends on what they may do."""
        first = first_page(session.principal)
        return self.datasets(session) if first == DATASETS else go(first)

    def datasets(self, session: Session) -> Response:
        store, grants = self._gate.store, self._gate.grants
        known = known_datasets(session.principal, store.datasets(), grants)
        found = served_catalogs(store, broken=lambda error: None, among=known)
        listed = sorted(map(make_summary, found), key=lambda one: -(one["rows"] or 0))  # the largest first
        return make_page("datasets.html", session=session, datasets=listed)

    def dataset(self, session: Session, dataset: str) -> Response:
        if asked := request.args.get("asked", ""):
            return self._asked(session, dataset, asked)
        saved = request.args.get("saved", "")
        sql = self._saved.read(session.principal, saved).sql if saved else request.args.get("sql", "")
        return self._ask_page(session, dataset, sql)

    def history(self, session: Session) -> Response:
        """Your own questions, newest first; nobody sees those of others here."""
        wanted, name = request.args.get("q", "").strip(), session.principal.name
        limit = MOST_HISTORY if wanted else SHOWN_HISTORY
        lines = list(self._opened.log.queries(user=name, limit=limit, before=read_moment("before")))[::-1]
        found = [line for line in lines if _is_found(line, wanted)]
        shown, more = found[:SHOWN_HISTORY], found[SHOWN_HISTORY:]
        older = shown[-1]["time"] if more else lines[-1]["time"] if len(lines) == limit else None
        models = asked_models(self._opened.log.database, name)
        return make_page("history.html", session=session, lines=shown, wanted=wanted, models=models, older=older)

    # -- asking ------------------------------------------------------------------------------------------

    def ask(self, session: Session, dataset: str) -> Response:
        """The answer, as a part of the page for a script and as a whole page for a browser without one."""
        question = _question(session.principal, dataset)
        try:
            shown = _shown(ask(question, self._gate), question.sql)
        except QueryGateError as error:
            return self._refused(session, question, error)
        except JobUnderway as underway:
            job = self._jobs.body_of(session.principal, underway.job_id)
            return self._part_or_page(session, question, "job_part.html", 202, job=job)
        response = self._part_or_page(session, question, "answer_part.html", shown=shown)
        response.headers["HX-Trigger"] = "answered"  # what shows a budget looks again
        return response

    def price(self, session: Session, dataset: str) -> Response:
        """What a question would cost and how precise it would be, before it is asked."""
        question = _question(session.principal, dataset)
        try:
            verdict = check(question, self._gate)
        except QueryGateError as error:
            return self._refused(session, question, error)
        return self._part_or_page(session, question, "price_part.html", verdict=verdict)

    def build_table(self, session: Session, dataset: str) -> Response:
        described = self._describe(session.principal, dataset)
        sql = write_statement(TableChoice.read(request.form), described)
        if wants_part():
            return make_part("statement_part.html", sql=sql)
        return self._ask_page(session, dataset, sql)

    def budget(self, session: Session, dataset: str) -> Response:
        """What is left for noisy answers. It is asked of whoever has the ledger, so the page does not wait for it."""
        try:
            return make_part("budget_part.html", budget=read_budget(session.principal, dataset, self._gate))
        except NotPermitted as refused:
            if refused.code != NO_WORKER:  # whoever asks a question is told that; this only stands beside it
                raise
            return make_part("budget_part.html", budget=None)

    def job(self, session: Session, job_id: str) -> Response:
        """How work behind the scenes stands; its answer, once it is there."""
        job = self._jobs.body_of(session.principal, job_id)
        query_id = job.get("result", {}).get("query_id")
        wanted = request.args.get("next", "")
        following = inside(wanted) if wanted else ""
        if not wants_part():
            return (
                go(f"/answers/{query_id}")
                if query_id
                else make_page("job.html", session=session, job=job, next=following)
            )
        if following and job["state"] == "done":
            return Response(status=204, headers={"HX-Redirect": following})
        if not query_id:
            return make_part("job_part.html", session=session, job=job, next=following)
        line, body = self._find(session.principal, query_id)
        return make_part("answer_part.html", session=session, shown=_shown(body, line["sql"]))

    def cancel(self, session: Session, job_id: str) -> Response:
        """Back to the page that shows the job, which says that it was cancelled."""
        self._jobs.cancel_job(session.principal, job_id)
        wanted = request.form.get("next", "")
        return go(inside(wanted) if wanted else f"/jobs/{job_id}")

    def follow(self, session: Session, job_id: str) -> Response:
        """The job as it goes on, for a script that listens."""
        return self._jobs.follow_job(session.principal, job_id)

    def answer(self, session: Session, query_id: str) -> Response:
        line, body = self._find(session.principal, query_id)
        return make_page("answer.html", session=session, line=line, shown=_shown(body, line["sql"]))

    def download(self, session: Session, query_id: str, form: str) -> Response:
        _, body = self._find(session.principal, query_id)
        media, write = render.FORMATS[form]
        return make_download(write(body), media, f"{query_id}.{form}")

    def chart(self, session: Session, query_id: str, number: int) -> Response:
        line, body = self._find(session.principal, query_id)
        charts = _shown(body, line["sql"]).charts
        if not 0 <= number < len(charts):
            raise NotPermitted("QG307", "There is no such picture.", "Open the answer again.")
        drawn = render_template("console/charts/chart.svg", chart=charts[number], standalone=True)
        return make_download(drawn.encode(), "image/svg+xml", f"{query_id}-{number}.svg")

    # -- along the way -----------------------------------------------------------------------------------

    def _asked(self, session: Session, dataset: str, query_id: str) -> Response:
        """The page as it was once this was asked: whoever loads it again, or comes back to it, asks nothing again."""
        line = self._opened.log.query(query_id)
        if line is None or (line["user"], line["dataset"]) != (session.principal.name, dataset):
            return self._ask_page(session, dataset, "")
        if line["answer"] is None:
            return self._ask_page(session, dataset, line["sql"])
        shown = _shown(line["answer"], line["sql"])
        return self._ask_page(session, dataset, line["sql"], part="answer_part.html", shown=shown)

    def _refused(self, session: Session, question: Request, error: QueryGateError) -> Response:
        return self._part_or_page(session, question, "refusal_part.html", status_of(error), problem=error.to_dict())

    def _part_or_page(
        self, session: Session, question: Request, template: str, status: int = 200, **values: object
    ) -> Response:
        values |= {"question": question}
        if wants_part():
            return make_part(template, status, session=session, **values)
        return self._ask_page(session, question.dataset, question.sql, status, part=template, **values)

    def _ask_page(self, session: Session, dataset: str, sql: str, status: int = 200, **values: object) -> Response:
        described = self._describe(session.principal, dataset)
        if not session.principal.may("ask"):
            return make_page("dataset_look.html", session=session, described=described)
        return make_page(
            "dataset.html",
            status,
            session=session,
            described=described,
            sql=sql or described["examples"][-1 if len(described["examples"]) < 3 else 2],
            words=editor_words(described),
            measures=MEASURES,
            groupings=grouping_columns(described),
            measured=measured_columns(described),
            **values,
        )

    def _describe(self, principal: Principal, dataset: str) -> DescriptionBody:
        gate = self._gate
        check_known(principal, dataset, gate.grants)
        return describe_version(gate.store.current(dataset), gate.native, gate.limits, gate.clock_s)

    def _find(self, principal: Principal, query_id: str) -> tuple[QueryLine, AnswerBody]:
        """A question of one's own and its answer. Of others' nothing is said, not even that there are any."""
        line = self._opened.log.query(query_id)
        if line is None or line["answer"] is None or line["user"] != principal.name:
            raise NotPermitted(
                "QG304", "There is no answer with this id, or you may not see it.", "Send the query again."
            )
        return line, line["answer"]


def _question(principal: Principal, dataset: str) -> Request:
    form = request.form
    mode = form.get("mode") or None
    if mode not in (None, *MODES):
        raise malformed(f"mode: must be one of {', '.join(MODES)}.")
    try:
        epsilon = float(form["epsilon"]) if form.get("epsilon") and mode == NOISY else None
    except ValueError:
        raise malformed("epsilon: must be a number above 0.") from None
    if epsilon is not None and not 0 < epsilon < float("inf"):
        raise malformed("epsilon: must be a number above 0.")
    options = QueryOptions(mode=mode, epsilon=epsilon, explain=form.get("explain") == "true")
    return Request(principal, dataset, form.get("sql", "").replace("\r\n", "\n"), options)


def _shown(body: AnswerBody, sql: str) -> Shown:
    headings, rows = render.readable(body)
    explanation = body.get("explanation")
    lines = tuple(explanation_lines(explanation)) if explanation else ()
    suggested = frozenset(one["sql"] for one in explanation["suggestions"]) if explanation else frozenset()
    return Shown(body, sql, headings, rows, make_charts(body, rows, sql), lines, suggested)


def editor_words(described: DescriptionBody) -> str:
    """What the editor completes, as JSON."""
    columns = {column["name"]: column["title"] or column["type"] for column in described["columns"]}
    functions = sorted(name.upper() for name in NAMES)
    return json.dumps({"dataset": described["dataset"], "columns": columns, "functions": functions})


def _is_found(line: QueryLine, wanted: str) -> bool:
    told = f"{line['sql']} {line['dataset']} {line['code'] or ''} {line['id']}".lower()
    return all(word in told for word in wanted.lower().split())
