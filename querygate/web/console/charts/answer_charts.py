"""Pictures of an answer: every range is drawn from low to high, with its estimate as a dot. What kind of picture suits
a column is read from the statement, and where that does not say, from the column's name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from querygate.core.answer_bodies import AnswerBody, ColumnBody
from querygate.sql.written_measures import WrittenMeasure, written_measures
from querygate.web.console.charts.chart import Chart, Figure, read_figure, with_whole_keys
from querygate.web.console.charts.distribution_chart import draw_curves, find_curves
from querygate.web.console.charts.ordered_chart import draw_ordered
from querygate.web.console.charts.row_chart import draw_ratios, draw_rows

MOST_ROWS = 60

_COUNTS = ("count", "sum_if", "n")
_RATIOS = ("odds_ratio", "risk_ratio", "rate_ratio", "hazard_ratio")


def make_charts(body: AnswerBody, texts: Sequence[Sequence[str]], sql: str = "") -> tuple[Chart, ...]:
    """A chart for each distribution, and for each other column of figures that can be drawn. `texts` are the cells as
    people read them."""
    measures = written_measures(sql) if sql else []
    if len(measures) != len(body["columns"]):  # SELECT *, a query around a query: names have to do
        measures = [None] * len(body["columns"])
    charts, drawn = [], set()
    # Only of guaranteed ranges does it follow that curves between them are bounded.
    for curve in find_curves(measures) if body["mode"] == "interval" else ():
        if pictures := draw_curves(curve, body, texts):
            charts += pictures
            drawn |= {place for _, place in curve.places}
    for place in range(len(body["columns"])):
        if place not in drawn and (chart := _draw_column(body, texts, place, measures[place])) is not None:
            charts.append(chart)
    return tuple(charts)


def _draw_column(
    body: AnswerBody, texts: Sequence[Sequence[str]], place: int, measure: WrittenMeasure | None
) -> Chart | None:
    column, keys = body["columns"][place], [one for one in body["columns"] if one["kind"] == "key"]
    if column["kind"] == "key":
        return None
    told = [read_figure(row, keys, column["name"], text[place]) for row, text in zip(body["rows"], texts, strict=True)]
    known = [one for one in told if one is not None]
    ratios = body["mode"] == "interval" and _is_one_of(_RATIOS, column, measure) and all(one.high > 0 for one in known)
    figures = with_whole_keys([one for one in known if ratios or one.is_finite][:MOST_ROWS])
    left_out = len(told) - len(figures)
    if not figures:
        return None
    if body["mode"] != "interval":
        return replace(_picture(column, keys, figures, left_out, counts=False), is_noisy=True)
    if ratios:
        return draw_ratios(column["name"], figures, left_out)
    counts = _is_one_of(_COUNTS, column, measure) and all(one.low >= 0 for one in figures)
    return _picture(column, keys, figures, left_out, counts=counts)


def _picture(
    column: ColumnBody, keys: Sequence[ColumnBody], figures: list[Figure], left_out: int, *, counts: bool
) -> Chart:
    ordered = draw_ordered(column, keys[0], figures, left_out, counts=counts) if len(keys) == 1 else None
    return ordered or draw_rows(column["name"], "bars" if counts else "intervals", figures, left_out)


def _is_one_of(names: tuple[str, ...], column: ColumnBody, measure: WrittenMeasure | None) -> bool:
    return (measure.statistic if measure is not None else column["name"].lower()).startswith(names)
