"""The charts of a risk report: raw, Safe Harbor and the release in the same colours everywhere.

Matplotlib is an extra: without it the report has only its tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from querygate.custody.publish_report.charts import DARK, GREY, RED, TEAL, can_draw, draw, new_figure, percent_axis
from querygate.custody.risk_report.risk_body import Sides
from querygate.custody.risk_report.risk_measures import LIMITS
from querygate.methods.risk import THRESHOLDS, Attack

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIDES = (("raw records", GREY), ("Safe Harbor", RED), ("the release", TEAL))
"""Their names and colours, in the order of the report."""

SHOWN_COLUMNS = 12
TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000, 100_000, 1_000_000)
LONGEST = 28


def make_pictures(sides: Sides) -> dict[str, bytes]:
    """PNG files by name; none without matplotlib."""
    if not can_draw():
        return {}
    made = {"sizes": _sizes, "curve": _curve, "thresholds": _thresholds, "drivers": _drivers}
    return {name: draw(make(sides)) for name, make in made.items()}


def _beside(axes: Axes, groups: Sequence[Sequence[float]], labels: Sequence[str]) -> None:
    """A group of three bars for each label."""
    places = np.arange(len(labels))
    for at, (name, colour) in enumerate(SIDES):
        axes.bar(places + (at - 1) * 0.27, [group[at] for group in groups], width=0.25, color=colour, label=name)
    axes.set_xticks(places, labels)
    percent_axis(axes.yaxis)


def _named(figure: Figure, axes: Axes) -> Figure:
    """With the names of the sides above the chart, where they hide nothing."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(SIDES), fontsize=8, frameon=False)
    return figure


def _sizes(sides: Sides) -> Figure:
    """The share of records in classes of each size."""
    figure, panels = new_figure(2.9)
    axes = panels[0][0]
    labels = [_label(bar.from_, bar.to) for bar in sides.raw.sizes]
    _beside(axes, [[side.sizes[at].share for side in sides.all] for at in range(len(labels))], labels)
    axes.set_xlabel("records in a class", fontsize=9)
    axes.set_ylabel("share of records", fontsize=9)
    return _named(figure, axes)


def _label(begin: int, end: int | None) -> str:
    return f"{begin}+" if end is None else f"{begin}" if begin == end else f"{begin}–{end}"


def _curve(sides: Sides) -> Figure:
    """The share of records at or above each risk."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    figure, panels = new_figure(3.1)
    axes = panels[0][0]
    least = min((point.risk for side in sides.all for point in side.curve), default=1.0)
    for side, (label, colour) in zip(sides.all, SIDES, strict=True):
        if side.curve:
            risks = [1.05, *(point.risk for point in side.curve), least / 1.2]
            shares = [0.0, *(point.share for point in side.curve), 1.0]
            axes.step(risks, shares, where="post", color=colour, lw=1.8, label=label)
    axes.set_xscale("log")
    axes.set_xlim(1.05, min(least / 1.2, 0.04))
    for limit, text in zip(THRESHOLDS, LIMITS, strict=True):
        axes.axvline(limit, color=DARK, lw=0.7, ls=":")
        axes.text(limit, 1.04, text, fontsize=7, ha="center", color=DARK)
    axes.set_ylim(0, 1.03)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda risk, _: f"1 in {1 / risk:,.0f}"))
    axes.xaxis.set_major_locator(FixedLocator([1 / size for size in TICKS]))
    axes.xaxis.set_minor_locator(NullLocator())
    percent_axis(axes.yaxis)
    axes.set_xlabel("chance of being found (dotted: thresholds)", fontsize=9)
    axes.set_ylabel("share of records at or above", fontsize=9)
    return _named(figure, axes)


def _thresholds(sides: Sides) -> Figure:
    """The share of records above each threshold, for each attacker who has one."""
    found: dict[str, list[Attack | None]] = {"prosecutor": [side.attackers.prosecutor for side in sides.all]}
    if sides.raw.attackers.journalist is not None:
        found["journalist"] = [side.attackers.journalist for side in sides.all]
    figure, panels = new_figure(2.8, 1, len(found), share_y=True)
    for axes, (who, attacks) in zip(panels[0], found.items(), strict=True):
        groups = [[0.0 if one is None else one.above[at].share for one in attacks] for at in range(len(LIMITS))]
        _beside(axes, groups, [f"above {limit}" for limit in LIMITS])
        axes.set_title(who, fontsize=9)
        axes.set_ylim(0, 1.02)
    panels[0][0].set_ylabel("share of records", fontsize=9)
    return _named(figure, panels[0][0])


def _drivers(sides: Sides) -> Figure:
    """By how much the average risk falls when a column is left out."""
    names = [line.column for line in sides.raw.drivers][:SHOWN_COLUMNS]
    figure, panels = new_figure(0.9 + 0.5 * len(names))
    axes, places = panels[0][0], np.arange(len(names))[::-1]
    for at, (side, (label, colour)) in enumerate(zip(sides.all, SIDES, strict=True)):
        falls = {line.column: line.average_fall for line in side.drivers}
        lengths = [falls.get(name, 0.0) for name in names]
        axes.barh(places + (1 - at) * 0.27, lengths, height=0.25, color=colour, label=label)
    axes.set_yticks(places, [name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…" for name in names])
    axes.set_xlim(0, None)
    percent_axis(axes.xaxis)
    axes.set_xlabel("reduction of the average risk (prosecutor) without the column", fontsize=9)
    return _named(figure, axes)
