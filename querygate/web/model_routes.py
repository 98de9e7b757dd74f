"""Models over HTTP: decode a question for a model, call the gate, give its table."""

from __future__ import annotations

import math
from typing import Any

from flask import Response

from querygate.core.answer_bodies import ReadableBody
from querygate.core.model_question import FAMILIES, LONGEST_FORMULA, ModelQuestion
from querygate.core.types import Principal
from querygate.gate import render
from querygate.gate.models.model_answer import ask_model
from querygate.gate.width_explanation_text import explanation_lines
from querygate.site.open_gate import OpenSite
from querygate.web.problems import malformed
from querygate.web.query_routes import give
from querygate.web.request_body import LONGEST_NAME, check_fields, read_object, read_text

FIELDS = ("dataset", "family", "formula", "where", "exposure", "reference", "weights", "readable", "explain")
MOST_NAMED = 2_000


class Models:
    """The route of models, called as its name."""

    def __init__(self, opened: OpenSite) -> None:
        self._gate = opened.gate

    def fit_model(self, principal: Principal) -> Response:
        sent = read_object('Send {"dataset": "...", "family": "logistic", "formula": "outcome ~ a + b"}.')
        body = ask_model(make_model_question(principal, sent), self._gate)
        if sent.get("readable"):
            headings, rows = render.readable(body)
            readable: ReadableBody = {"headings": headings, "rows": rows}
            if "explanation" in body:
                readable["explanation"] = list(explanation_lines(body["explanation"]))
            return give({**body, "readable": readable})
        return give(body)


def make_model_question(principal: Principal, body: dict[str, Any]) -> ModelQuestion:
    """The body of a question for a model: exactly these fields, of these types."""
    check_fields(body, "", FIELDS)
    dataset, family, formula = (read_text(body, name) for name in ("dataset", "family", "formula"))
    if family not in FAMILIES:
        raise malformed(f"family: must be one of {', '.join(FAMILIES)}.")
    if len(dataset) > LONGEST_NAME:
        raise malformed(f"dataset: must have at most {LONGEST_NAME} characters.")
    if len(formula) > LONGEST_FORMULA:
        raise malformed(f"formula: must have at most {LONGEST_FORMULA:,} characters.")
    where, exposure = (read_text(body, name) if name in body else "" for name in ("where", "exposure"))
    for name in ("readable", "explain"):
        if not isinstance(body.get(name, False), bool):
            raise malformed(f"{name}: must be true or false.")
    return ModelQuestion(
        principal, dataset, family, formula, where, exposure, _texts(body), _numbers(body),
        bool(body.get("explain", False)),
    )  # fmt: skip


def _named(body: dict[str, Any], name: str) -> dict[str, Any]:
    found = body.get(name, {})
    if not isinstance(found, dict) or len(found) > MOST_NAMED:
        raise malformed(f"{name}: must be an object.")
    return found


def _texts(body: dict[str, Any]) -> dict[str, str]:
    found = _named(body, "reference")
    if not all(isinstance(level, str) for level in found.values()):
        raise malformed("reference: must name a level of each factor, as text.")
    return found


def _numbers(body: dict[str, Any]) -> dict[str, float]:
    found = _named(body, "weights")
    numbers = [n for n in found.values() if isinstance(n, (int, float)) and not isinstance(n, bool)]
    if len(numbers) < len(found) or not all(0 <= n < math.inf for n in numbers) or (found and not sum(numbers) > 0):
        raise malformed("weights: must be numbers that are not below zero, and not all zero.")
    try:
        return {name: float(number) for name, number in found.items()}
    except OverflowError:
        raise malformed("weights: must be numbers of ordinary size.") from None
