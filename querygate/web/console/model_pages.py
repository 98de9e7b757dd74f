"""Models in the console: a family and a formula, and the table of ranges that comes of them, drawn as a forest plot.

A model is fitted when somebody asks for it. To look at it again, save it or draw it reads what is on record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, cast

from flask import Response, render_template, request

from querygate.control.sessions import Session
from querygate.core.answer_bodies import ModelBody
from querygate.core.errors import NotPermitted, QueryGateError
from querygate.core.model_question import FAMILIES, ModelQuestion
from querygate.core.types import Principal
from querygate.gate import render
from querygate.gate.models.model_answer import MODEL, ask_model
from querygate.site.open_gate import OpenSite
from querygate.web.console.charts.chart import Chart
from querygate.web.console.charts.model_chart import make_model_chart
from querygate.web.console.page import make_download, make_page, make_part, wants_part
from querygate.web.console.page_session import PageRoute
from querygate.web.model_routes import make_model_question
from querygate.web.problems import status_of

PAGES: Final = (
    PageRoute("fit", "POST", "/datasets/<dataset>/model"),
    PageRoute("model", "GET", "/models/<query_id>"),
    PageRoute("model_file", "GET", "/models/<query_id>/<any(csv, json, parquet, arrow):form>"),
    PageRoute("model_picture", "GET", "/models/<query_id>/chart.svg"),
)

FIELDS = ("family", "formula", "where")


@dataclass(frozen=True, slots=True)
class ShownModel:
    """A model as a page shows it."""

    body: ModelBody
    headings: list[str]
    rows: list[list[str]]
    chart: Chart | None


class ModelPages:
    def __init__(self, opened: OpenSite) -> None:
        self._gate, self._log = opened.gate, opened.log

    def fit(self, session: Session, dataset: str) -> Response:
        """The table, as a part of the page for a script and as a page of its own without one."""
        try:
            body = ask_model(_question(session.principal, dataset), self._gate)
        except QueryGateError as error:
            problem = error.to_dict() | {"span": None}  # a place in the formula, which the editor of SQL has not
            return _page("refusal_part.html", status_of(error), session=session, dataset=dataset, problem=problem)
        return _page("model_part.html", 200, session=session, dataset=dataset, shown=show_model(body))

    def model(self, session: Session, query_id: str) -> Response:
        body = self._find(session.principal, query_id)
        return _page("model_part.html", 200, session=session, dataset=body["dataset"], shown=show_model(body))

    def model_file(self, session: Session, query_id: str, form: str) -> Response:
        media, write = render.FORMATS[form]
        return make_download(write(self._find(session.principal, query_id)), media, f"{query_id}-model.{form}")

    def model_picture(self, session: Session, query_id: str) -> Response:
        chart = show_model(self._find(session.principal, query_id)).chart
        if chart is None:
            raise NotPermitted("QG307", "There is no such picture.", "Open the model again.")
        drawn = render_template("console/charts/chart.svg", chart=chart, standalone=True)
        return make_download(drawn.encode(), "image/svg+xml", f"{query_id}-model.svg")

    def _find(self, principal: Principal, query_id: str) -> ModelBody:
        """A model of one's own. Of others' nothing is said, not even that there are any."""
        noted = self._log.noted(query_id, MODEL)
        if noted is None or noted["user"] != principal.name or not noted["body"].get("table"):
            raise NotPermitted("QG304", "There is no model with this id, or you may not see it.", "Fit it again.")
        return cast(ModelBody, noted["body"]["table"])


def _question(principal: Principal, dataset: str) -> ModelQuestion:
    wanted = {name: text for name in FIELDS if (text := request.form.get(name, "").strip())}
    return make_model_question(principal, {"dataset": dataset, "family": FAMILIES[0], "formula": "", **wanted})


def show_model(body: ModelBody) -> ShownModel:
    headings, rows = render.readable(body)
    return ShownModel(body, headings, rows, make_model_chart(body, rows))


def _page(template: str, status: int, **values: object) -> Response:
    if wants_part():
        return make_part(template, status, **values)
    return make_page("model.html", status, part=template, **values)
