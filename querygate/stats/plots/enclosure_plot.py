"""The picture of an enclosure: intervals as lines, the range as a bar below. Imported only when somebody draws."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from querygate.core.types import Cells
from querygate.stats.comparison import GroupCells
from querygate.stats.exposure_tables import TableCells
from querygate.stats.pairs import PairCells

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from querygate.stats.enclosure import Enclosure

BLUE, RED, GREEN, GREY = "#2b6cb0", "#c53030", "#2f855a", "#a0aec0"
ON_THE_AXIS = frozenset(
    {"mean", "avg", "min", "max", "median", "quantile_cont", "quantile_disc", "geometric_mean", "harmonic_mean"}
)
"""Statistics that are values of the column themselves, so that the range can stand under the intervals."""


def draw(found: Enclosure, figure: Figure | None = None) -> Figure:
    """Two panels: the cells sorted by their middle (pale where no record is certain), and the range with its ends.

    Dots mark the values that are known to be attained.
    """
    figure = figure or _new_figure()
    shared = found.statistic in ON_THE_AXIS
    upper, lower = figure.subplots(2, 1, sharex=shared, gridspec_kw={"height_ratios": [4, 1]})
    match found.cells:
        case PairCells():
            _draw_boxes(upper, found.cells)
        case GroupCells():
            _draw_cells(upper, found.cells.first, label="first group")
            _draw_cells(upper, found.cells.second, GREEN, found.cells.size.size, "second group")
            upper.legend(fontsize=8, frameon=False)
        case TableCells():
            _draw_table(upper, found.cells)
        case Cells():
            _draw_cells(upper, found.cells)
    _draw_range(lower, found)
    upper.set_title(repr(found), fontsize=10, loc="left")
    for axes in (upper, lower):
        if axes is lower or not isinstance(found.cells, PairCells):
            axes.set_yticks([])
        _lighten(axes, "top", "right", "left")
    figure.tight_layout()
    return figure


def one_panel(figure: Figure | None, title: str) -> tuple[Figure, Axes]:
    """A picture with a single pair of axes."""
    figure = figure or _new_figure()
    axes = figure.subplots()
    axes.set_title(title, fontsize=10, loc="left")
    _lighten(axes, "top", "right")
    return figure, axes


def _new_figure() -> Figure:
    try:
        import matplotlib.pyplot as plt
    except ImportError as missing:
        raise ImportError("plot() needs matplotlib: pip install 'querygate[plot]'") from missing
    return plt.figure(figsize=(7.2, 3.6), dpi=100)


def _lighten(axes: Axes, *sides: str) -> None:
    axes.tick_params(axis="x", labelsize=8)
    for side in sides:
        axes.spines[side].set_visible(False)


def _draw_cells(axes: Axes, cells: Cells, colour: str = BLUE, start: int = 0, label: str | None = None) -> None:
    kept = np.flatnonzero(cells.most > 0)
    low, high = cells.low[kept].astype(np.float64), cells.high[kept].astype(np.float64)
    order = np.argsort(low + high, kind="stable")
    places = start + np.arange(kept.size)
    certain = cells.least[kept][order] > 0
    for chosen, alpha in ((certain, 0.9), (~certain, 0.3)):
        axes.hlines(places[chosen], low[order][chosen], high[order][chosen], color=colour, linewidth=1.5, alpha=alpha)
        points = chosen & (low[order] == high[order])
        axes.plot(low[order][points], places[points], ".", color=colour, markersize=4, alpha=alpha)
    if label:
        axes.plot([], [], color=colour, label=label)


def _draw_table(axes: Axes, cells: TableCells) -> None:
    """Per class, in a frame of all records: how many are exposed and how many have the outcome, solid where certain."""
    places = np.arange(cells.most.size)
    for most, others, shift, colour, label in (
        (cells.exposed, cells.unexposed, 0.2, BLUE, "exposed"),
        (cells.with_outcome, cells.without, -0.2, GREEN, "with the outcome"),
    ):
        axes.barh(places + shift, cells.most, height=0.34, facecolor="none", edgecolor=GREY, linewidth=0.8)
        axes.barh(places + shift, np.minimum(most, cells.most), height=0.34, color=colour, alpha=0.3)
        axes.barh(places + shift, np.maximum(cells.least - others, 0), height=0.34, color=colour, label=label)
    axes.legend(fontsize=8, frameon=False)


def _draw_boxes(axes: Axes, cells: PairCells) -> None:
    """Two columns: rectangles in the plane."""
    from matplotlib.collections import PolyCollection

    for chosen, alpha in ((cells.least > 0, 0.35), ((cells.least == 0) & (cells.most > 0), 0.12)):
        left, right, bottom, top = (
            ends[chosen].astype(np.float64) for ends in (cells.x_low, cells.x_high, cells.y_low, cells.y_high)
        )
        corners = np.stack([[left, bottom], [right, bottom], [right, top], [left, top]]).transpose(2, 0, 1)
        axes.add_collection(PolyCollection(list(corners), facecolor=BLUE, edgecolor=BLUE, alpha=alpha))
    axes.autoscale_view()
    axes.set_ylabel("y", fontsize=9)


def _draw_range(axes: Axes, found: Enclosure) -> None:
    low, high = found.low, found.high
    axes.axhline(0, color=GREY, linewidth=0.8, zorder=0)
    axes.set_xlabel(found.statistic, fontsize=9)
    if not (math.isfinite(low) and math.isfinite(high)):
        axes.text(0.5, 0.6, repr(found), transform=axes.transAxes, fontsize=8, ha="center")
        return
    axes.plot([low, high], [0, 0], color=RED, linewidth=9, solid_capstyle="butt", alpha=0.45)
    axes.plot([low, high], [0, 0], "|", color=RED, markersize=12)
    attained = [value for value in found.attained if value is not None]
    axes.plot(attained, [0] * len(attained), "o", color=RED, markersize=4)
