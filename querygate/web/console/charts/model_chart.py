"""The forest plot of a model: each coefficient or ratio from low to high, within its confidence limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from querygate.core.answer_bodies import AnswerBody, Row
from querygate.web.console.charts.chart import Chart, Figure, read_figure
from querygate.web.console.charts.row_chart import draw_ratios, draw_rows

DRAWN = ("odds_ratio", "rate_ratio", "risk_ratio", "coefficient", "rate")
"""What a table of a model is drawn by: the first of these that it has."""

INTERCEPT = "(intercept)"


def make_model_chart(body: AnswerBody, texts: Sequence[Sequence[str]]) -> Chart | None:
    """None where nothing can be drawn. The intercept is no effect, and is left out."""
    names = [column["name"] for column in body["columns"]]
    keys = [column for column in body["columns"] if column["kind"] == "key"]
    name = next((one for one in DRAWN if one in names), None)
    if name is None:
        return None
    is_ratio, place = name.endswith("_ratio"), names.index(name)
    found = [
        _figure(read_figure(row, keys, name, text[place]), row, name)
        for row, text in zip(body["rows"], texts, strict=True)
        if row["term"] != INTERCEPT
    ]
    figures = [one for one in found if one is not None and (one.high > 0 if is_ratio else one.is_finite)]
    if not figures:
        return None
    left_out = len(found) - len(figures)
    return draw_ratios(name, figures, left_out) if is_ratio else draw_rows(name, "intervals", figures, left_out)


def _figure(found: Figure | None, row: Row, name: str) -> Figure | None:
    """With its confidence limits, where both have an end."""
    if found is None:
        return None
    prefix = f"{name}_" if f"{name}_low95" in row else ""
    low, high = _end(row.get(f"{prefix}low95"), "low"), _end(row.get(f"{prefix}high95"), "high")
    return found if low is None or high is None else replace(found, outer=(low, high))


def _end(limit: Row | None, name: str) -> float | None:
    end = limit[name] if limit else None
    return float(end) if isinstance(end, (int, float)) and math.isfinite(end) else None
