"""Models in the console: a family and a formula, and the table of ranges that comes of them, drawn as a forest plot."""

from __future__ import annotations

from typing import Final, cast

from flask import Response, render_template, request
from werkzeug.datastructures import MultiDict

from querygate.control.sessions import Session
from querygate.core.answer_bodies import AnswerBody
from querygate.core.errors import NotPermitted, QueryGateError
from querygate.core.model_question import FAMILIES, ModelQuestion
from querygate.core.types import Principal
from querygate.gate import render
from querygate.gate.model_answer import ask_model
from querygate.site.open_gate import OpenSite
from querygate.web.console.charts.model_chart import make_model_chart
from querygate.web.console.page import make_download, make_page, make_part, wants_part
from querygate.web.console.page_session import PageRoute
from querygate.web.model_routes import make_model_question
from querygate.web.problems import STATUSES

PAGES: Final = (
    PageRoute("fit", "POST", "/datasets/<dataset>/model"),
    PageRoute("model_picture", "GET", "/datasets/<dataset>/model.svg"),
)

FIELDS = ("family", "formula", "where")


class ModelPages:
    def __init__(self, opened: OpenSite) -> None:
        self._gate = opened.gate

    def fit(self, session: Session, dataset: str) -> Response:
        """The table, as a part of the page for a script and as a page of its own without one."""
        asked = {name: request.form.get(name, "").strip() for name in FIELDS}
        try:
            body = cast(AnswerBody, ask_model(_question(session.principal, dataset, request.form), self._gate))
        except QueryGateError as error:
            status = STATUSES.get(error.code, error.meaning.status)
            return _shown(
                "refusal_part.html", status, session=session, dataset=dataset, asked=asked, problem=error.to_dict()
            )
        headings, rows = render.readable(body)
        chart = make_model_chart(body, rows)
        values: dict[str, object] = {"body": body, "headings": headings, "rows": rows, "chart": chart}
        return _shown("model_part.html", 200, session=session, dataset=dataset, asked=asked, **values)

    def model_picture(self, session: Session, dataset: str) -> Response:
        """The same question once more, on record as any other, drawn for a file."""
        body = cast(AnswerBody, ask_model(_question(session.principal, dataset, request.args), self._gate))
        chart = make_model_chart(body, render.readable(body)[1])
        if chart is None:
            raise NotPermitted("QG307", "There is no such picture.", "Fit the model again.")
        drawn = render_template("console/charts/chart.svg", chart=chart, standalone=True)
        return make_download(drawn.encode(), "image/svg+xml", f"{dataset}-model.svg")


def _question(principal: Principal, dataset: str, sent: MultiDict[str, str]) -> ModelQuestion:
    wanted = {name: text for name in FIELDS if (text := sent.get(name, "").strip())}
    return make_model_question(principal, {"dataset": dataset, "family": FAMILIES[0], "formula": "", **wanted})


def _shown(template: str, status: int, **values: object) -> Response:
    if wants_part():
        return make_part(template, status, **values)
    return make_page("model.html", status, part=template, **values)
