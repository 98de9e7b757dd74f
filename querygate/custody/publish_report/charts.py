"""The charts of the report. Matplotlib is an extra: without it the report has only its tables.

Figures are made without `pyplot`, so that nothing is shared with other code that draws in the same process.
"""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from querygate.core.types import Column, Floats, Ints
from querygate.custody.code_lists.code_items import CodeReport
from querygate.custody.code_lists.code_measures import CodeMeasures
from querygate.custody.publish_report.example_answers import CountAnswer, StatisticAnswer
from querygate.custody.publish_report.k_sweep import SweepPoint
from querygate.custody.publish_report.report_case import ReportCase, scale_of
from querygate.custody.publish_report.report_fields import PublishReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

TEAL, RED, GREY, DARK, PALE = "#0f766e", "#c2410c", "#a3b1ae", "#16211f", "#99d0c9"
COLOURS = (TEAL, RED, "#1d4ed8", "#7e22ce", "#a16207", "#be185d", "#4d7c0f", "#0e7490")
SHOWN_RECORDS = 200
SHOWN_COLUMNS = 6
SHOWN_COUNTS = 30
DAY_ZERO = datetime(1970, 1, 1, tzinfo=UTC)


def can_draw() -> bool:
    return importlib.util.find_spec("matplotlib") is not None


def draw(figure: Figure) -> bytes:
    """The figure as a PNG, without a trace of when or by what it was made."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", metadata={"Software": None})
    return stream.getvalue()


def new_figure(
    height: float, rows: int = 1, columns: int = 1, *, ratios: Sequence[float] | None = None, share_y: bool = False
) -> tuple[Figure, list[list[Axes]]]:
    """A figure with its panels, row by row."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.6, height), dpi=130, layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(rows, columns, squeeze=False, sharey=share_y, height_ratios=ratios).tolist()
    for axes in chain(*panels):
        axes.tick_params(labelsize=8, colors=DARK)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    return figure, panels


def percent_axis(axis: Axis) -> None:
    """Ticks as percentages, with as many digits as they need to differ."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.3g} %"))


# -- classes and widths --------------------------------------------------------------------------------------------


def class_sizes(case: ReportCase, body: PublishReport) -> Figure:
    """How many classes there are of each size."""
    from matplotlib.ticker import MaxNLocator

    figure, panels = new_figure(2.9)
    axes, bars = panels[0][0], body.class_sizes.histogram
    beside = max(0.0, (8 - len(bars)) / 2)  # keeps a single bar from filling the chart
    axes.bar(range(len(bars)), [bar.classes for bar in bars], width=0.85, color=TEAL)
    labels = [str(bar.from_) if bar.from_ >= bar.to else f"{bar.from_:,}–{bar.to:,}" for bar in bars]
    turned = max(map(len, labels)) > 3
    axes.set_xticks(range(len(bars)), labels, rotation=45 if turned else 0, ha="right" if turned else "center")
    axes.set_xlim(-0.7 - beside, len(bars) - 0.3 + beside)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("records in a class", fontsize=9)
    axes.set_ylabel("classes", fontsize=9)
    return figure


def widths(case: ReportCase, body: PublishReport) -> Figure | None:
    """The share of its domain that each column covers: the middle half of the records, the median and the mean."""
    lines = [line for line in body.widths if line.domain and line.role != "public"]
    if not lines:
        return None
    figure, panels = new_figure(0.9 + 0.34 * len(lines))
    axes = panels[0][0]
    for place, line in enumerate(reversed(lines)):
        single = 1.0 if line.unit == "values" else 0.0  # a single value is published exactly
        first, middle, third = (0.0 if q <= single else q / (line.domain or 1) for q in line.quartiles)
        colour = TEAL if line.role == "quasi-identifier" else GREY
        axes.barh(place, third - first, left=first, height=0.5, color=colour, alpha=0.55)
        axes.plot([middle, middle], [place - 0.25, place + 0.25], color=DARK, linewidth=1.6)
        axes.plot(line.share, place, "o", color=RED, markersize=5, clip_on=False, zorder=3)
    axes.set_yticks(range(len(lines)), [_short(line.column) for line in reversed(lines)])
    axes.set_xlim(0, None)
    axes.margins(x=0.04)
    percent_axis(axes.xaxis)
    axes.set_xlabel("share of the domain (bar: middle half of the records; line: median; dot: mean)", fontsize=9)
    return figure


# -- raw values in their intervals ---------------------------------------------------------------------------------


def values(case: ReportCase, body: PublishReport) -> Figure | None:
    """Circles and segments: raw values of some records in the intervals that are published for them."""
    columns = [c for c in case.catalog.columns if c.is_numeric and c.role != "public"][:SHOWN_COLUMNS]
    if not columns:
        return None
    classes, raw = case.rows.sample([column.name for column in columns], SHOWN_RECORDS)
    figure, panels = new_figure(2.7 * -(-len(columns) // 2), -(-len(columns) // 2), min(2, len(columns)))
    for axes, column in zip(chain(*panels), columns, strict=False):
        known = ~np.isnan(raw[column.name])
        value, low, high = _with_intervals(case, column, classes[known], raw[column.name][known])
        order = np.lexsort((value, low + high))
        places = np.arange(order.size)
        axes.hlines(places, low[order], high[order], color=PALE, linewidth=1.6)
        axes.plot(value[order], places, "o", color=TEAL, markersize=2.6, markerfacecolor="white", markeredgewidth=0.8)
        axes.set_title(f"{_short(column.name)} ({column.role})", fontsize=9, loc="left")
        axes.set_ylabel(f"{order.size} records", fontsize=8)
        axes.set_yticks([])
        if column.type in ("date", "timestamp"):
            _as_dates(axes)
    for axes in list(chain(*panels))[len(columns) :]:
        axes.set_visible(False)
    return figure


def _with_intervals(case: ReportCase, column: Column, classes: Ints, value: Floats) -> tuple[Floats, Floats, Floats]:
    """The interval of the record's class that holds its value."""
    low, high, known = case.ends(column)
    order = np.argsort(case.cells["class"], kind="stable")
    sorted_classes = np.asarray(case.cells["class"])[order]
    places = np.empty(value.size, dtype=np.int64)
    for i, (of, x) in enumerate(zip(classes, value, strict=True)):
        here = order[slice(*np.searchsorted(sorted_classes, [of, of + 1]))]
        places[i] = here[np.argmax(known[here] & (low[here] <= x) & (x <= high[here]))]
    scale = scale_of(column)
    return value / scale, low[places] / scale, high[places] / scale


def _as_dates(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda day, _: (DAY_ZERO + timedelta(days=day)).date().isoformat()))


# -- ranges and the map --------------------------------------------------------------------------------------------


def ranges(case: ReportCase, body: PublishReport) -> Figure | None:
    """Served ranges (bars) with the truth (dots): statistics as shares of their domains, counts of all records."""
    located = [
        (line.statistic, [(end - line.domain[0]) / ((line.domain[1] - line.domain[0]) or 1) for end in ends])
        for line in body.statistics
        if line.domain and (ends := _ends(line))
    ]
    counted = [
        (f"{line.column} = {'missing' if line.value is None else line.value}", [n / body.headline.rows for n in ends])
        for line in body.counts[:SHOWN_COUNTS]
        if (ends := _ends(line))
    ]
    rows = [part for part in (located, counted) if part]
    if not rows:
        return None
    heights = [0.7 + 0.3 * len(part) for part in rows]
    figure, panels = new_figure(sum(heights) + 0.3, len(rows), ratios=heights)
    for axes, part in zip(chain(*panels), rows, strict=True):
        _bars(axes, part)
    if located:
        panels[0][0].set_xlabel("place in the domain", fontsize=9)
    if counted:
        some = "" if len(counted) == len(body.counts) else f" (the first {SHOWN_COUNTS} counts)"
        panels[-1][0].set_xlabel(f"share of all records{some}", fontsize=9)
    return figure


def _ends(line: StatisticAnswer | CountAnswer) -> tuple[float, float, float] | None:
    """Low, high and truth; None where one is missing."""
    if line.low is None or line.high is None or line.truth is None:
        return None
    return line.low, line.high, line.truth


def _bars(axes: Axes, lines: Sequence[tuple[str, Sequence[float]]]) -> None:
    for place, (_, (low, high, truth)) in enumerate(reversed(lines)):
        axes.barh(place, max(high - low, 0.002), left=low, height=0.55, color=TEAL, alpha=0.5)
        axes.plot(truth, place, "o", color=RED, markersize=4.5, zorder=3, clip_on=False)
    axes.set_yticks(range(len(lines)), [_short(name) for name, _ in reversed(lines)])
    axes.set_ylim(-0.6, len(lines) - 0.4)
    axes.set_xlim(0, 1 if max(high for _, (_, high, _) in lines) > 0.6 else None)
    axes.xaxis.grid(True, color="#e5ecea", linewidth=0.8)
    axes.set_axisbelow(True)
    percent_axis(axes.xaxis)


def ru_map(case: ReportCase, body: PublishReport) -> Figure | None:
    """Risk and loss for each k, and how the ranges of statistics grow with it."""
    points = body.sweep.points
    if len(points) < 2:
        return None
    figure, panels = new_figure(3.5, 1, 2)
    left, right = panels[0]
    risk, loss = [point.average for point in points], [point.ncp for point in points]
    left.plot(risk, loss, color=GREY, linewidth=1)
    places: dict[tuple[float, float], list[int]] = {}  # several k may give the same classes
    for point in points:
        places.setdefault((point.average, point.ncp), []).append(point.k)
    for place, ks in places.items():
        is_published = body.sweep.k in ks
        left.plot(*place, "o", color=RED if is_published else TEAL, markersize=6)
        shift, weight = ((-4, -14), "bold") if is_published else ((7, 4), "normal")
        text = f"k = {', '.join(f'{k:,}' for k in ks)}"
        left.annotate(text, place, shift, textcoords="offset points", fontsize=8, weight=weight)
    left.plot([], [], "o", color=RED, markersize=6, label="published")
    left.legend(fontsize=8, frameon=False)
    left.set_xlim(0, 1.2 * max(risk))
    left.set_ylim(-0.1 * (max(loss) or 1), 1.15 * (max(loss) or 1))
    percent_axis(left.xaxis)
    percent_axis(left.yaxis)
    left.set_xlabel("risk: mean chance of being found", fontsize=9)
    left.set_ylabel("loss: mean share of the domain (NCP)", fontsize=9)
    _growth(right, points, body.sweep.k)
    return figure


def _growth(axes: Axes, points: Sequence[SweepPoint], k: int) -> None:
    """Width of each statistic in terms of that with the published k."""
    base = next((point.widths for point in points if point.k == k), points[0].widths)
    grown = {
        name: [(point.widths[name] or 0) / width for point in points]
        for name, width in base.items()
        if width and all(point.widths[name] for point in points)
    }
    for (name, widths), colour in zip(grown.items(), COLOURS, strict=False):
        label = "counts" if name == "count" else _short(name)
        axes.plot([point.k for point in points], widths, "o-", color=colour, markersize=4, linewidth=1.3, label=label)
    axes.set_xscale("log")
    axes.set_xticks([point.k for point in points], [str(point.k) for point in points])
    axes.minorticks_off()
    axes.axhline(1, color=GREY, linewidth=0.8, zorder=0)
    axes.set_ylim(0, None)
    axes.set_xlabel("k", fontsize=9)
    axes.set_ylabel("width of the range, published = 1", fontsize=9)
    if grown:
        axes.legend(fontsize=7.5, frameon=False)


# -- lists of codes ------------------------------------------------------------------------------------------------


def codes(lines: Sequence[CodeReport]) -> Figure | None:
    """For each list: who can be found by some of their codes, before and after; and what was lost."""
    measured = [(line, line.measures) for line in lines if line.measures][:SHOWN_COLUMNS]
    if not measured:
        return None
    figure, panels = new_figure(0.3 + 2.6 * len(measured), len(measured), 2)
    for (left, right), (line, measures) in zip(panels, measured, strict=True):
        _found(left, line, measures)
        _lost(right, measures)
    panels[-1][0].set_xlabel("number of known codes", fontsize=9)
    return figure


def _found(axes: Axes, line: CodeReport, measures: CodeMeasures) -> None:
    points = measures.found
    places = range(len(points))
    for side, colour in (("before", GREY), ("after", TEAL)):
        axes.plot(places, [getattr(point, side) for point in points], "o-", color=colour, markersize=4, label=side)
    axes.set_xticks(places, [str(point.known or "all") for point in points])
    axes.set_ylim(-0.03, 1.03)
    axes.set_title(f"{_short(line.column)}: people among fewer than {line.k:,} records", fontsize=9, loc="left")
    axes.legend(fontsize=8, frameon=False)
    percent_axis(axes.yaxis)


def _lost(axes: Axes, figures: CodeMeasures) -> None:
    shares = {
        "entries suppressed": figures.suppressed_of_entries,
        "entries merged or unknown": figures.generalised_of_entries,
        "codes suppressed": figures.suppressed_of_codes,
        "codes merged or unknown": figures.generalised_of_codes,
        f"{figures.groups_are} not exact": 1 - figures.kept / max(1, figures.groups),
        "error of counts": figures.error or 0.0,
    }
    axes.barh(range(len(shares)), list(shares.values())[::-1], height=0.55, color=TEAL, alpha=0.6)
    axes.set_yticks(range(len(shares)), list(shares)[::-1])
    axes.set_xlim(0, max(1.0, *shares.values()))
    percent_axis(axes.xaxis)


def _short(name: str, most: int = 34) -> str:
    """A label that leaves room for the chart; a dollar sign would begin a formula."""
    text = name if len(name) <= most else f"{name[: most - 1]}…"
    return text.replace("$", r"\$")


PICTURES: dict[str, Callable[[ReportCase, PublishReport], Figure | None]] = {
    "class_sizes": class_sizes,
    "widths": widths,
    "values": values,
    "ranges": ranges,
    "ru_map": ru_map,
    "codes": lambda case, body: codes(body.codes),
}
