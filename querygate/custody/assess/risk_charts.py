"""The pictures of a risk report: raw, Safe Harbor and the release in the same colours everywhere.

Matplotlib is an extra: without it the report has its tables alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from querygate.custody.assess.verdict import LIMITS
from querygate.custody.publish_report.charts import DARK, GREY, RED, TEAL, can_draw, draw, new_figure, percent_axis
from querygate.methods.risk import THRESHOLDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIDES = (("raw", "raw records", GREY), ("safe_harbor", "Safe Harbor", RED), ("after", "the release", TEAL))
SHOWN_COLUMNS = 12
TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000, 100_000, 1_000_000)
LONGEST = 28


def make_pictures(body: Mapping[str, Any]) -> dict[str, bytes]:
    """PNG files by name; none without matplotlib."""
    if not can_draw():
        return {}
    sides = body["sides"]
    made = {"sizes": _sizes, "curve": _curve, "thresholds": _thresholds, "drivers": _drivers}
    return {name: draw(make(sides)) for name, make in made.items()}


def _beside(axes: Any, groups: Sequence[Sequence[float]], labels: Sequence[str]) -> None:
    """A group of three bars for each label."""
    places = np.arange(len(labels))
    for at, (_, name, colour) in enumerate(SIDES):
        axes.bar(places + (at - 1) * 0.27, [group[at] for group in groups], width=0.25, color=colour, label=name)
    axes.set_xticks(places, labels)
    percent_axis(axes.yaxis)


def _named(figure: Figure, axes: Any) -> Figure:
    """With the names of the sides above everything, where they hide nothing."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(SIDES), fontsize=8, frameon=False)
    return figure


def _sizes(sides: Mapping[str, Any]) -> Figure:
    """The share of records in classes of each size."""
    figure, panels = new_figure(2.9)
    axes, bars = panels[0][0], [sides[name]["sizes"] for name, _, _ in SIDES]
    labels = [_label(bar["from"], bar["to"]) for bar in bars[0]]
    _beside(axes, [[one[at]["share"] for one in bars] for at in range(len(labels))], labels)
    axes.set_xlabel("records in a class", fontsize=9)
    axes.set_ylabel("share of records", fontsize=9)
    return _named(figure, axes)


def _label(begin: int, end: int | None) -> str:
    return f"{begin}+" if end is None else f"{begin}" if begin == end else f"{begin}–{end}"


def _curve(sides: Mapping[str, Any]) -> Figure:
    """The share of records at or above each risk."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    figure, panels = new_figure(3.1)
    axes = panels[0][0]
    least = min((point["risk"] for name, _, _ in SIDES for point in sides[name]["curve"]), default=1.0)
    for name, label, colour in SIDES:
        points = sides[name]["curve"]
        if points:
            risks = [1.05, *(point["risk"] for point in points), least / 1.2]
            shares = [0.0, *(point["share"] for point in points), 1.0]
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


def _thresholds(sides: Mapping[str, Any]) -> Figure:
    """The share of records above each threshold, for each attacker who has one."""
    whos = [who for who in ("prosecutor", "journalist") if sides["raw"]["attackers"][who] is not None]
    figure, panels = new_figure(2.8, 1, len(whos), share_y=True)
    for axes, who in zip(panels[0], whos, strict=True):
        found = [sides[name]["attackers"][who] for name, _, _ in SIDES]
        groups = [[0.0 if one is None else one["above"][at]["share"] for one in found] for at in range(len(LIMITS))]
        _beside(axes, groups, [f"above {limit}" for limit in LIMITS])
        axes.set_title(who, fontsize=9)
        axes.set_ylim(0, 1.02)
    panels[0][0].set_ylabel("share of records", fontsize=9)
    return _named(figure, panels[0][0])


def _drivers(sides: Mapping[str, Any]) -> Figure:
    """By how much the average risk falls when a column is left out."""
    names = [line["column"] for line in sides["raw"]["drivers"]][:SHOWN_COLUMNS]
    figure, panels = new_figure(0.9 + 0.5 * len(names))
    axes, places = panels[0][0], np.arange(len(names))[::-1]
    for at, (side, label, colour) in enumerate(SIDES):
        falls = {line["column"]: line["average_fall"] for line in sides[side]["drivers"]}
        lengths = [falls.get(name, 0.0) for name in names]
        axes.barh(places + (1 - at) * 0.27, lengths, height=0.25, color=colour, label=label)
    axes.set_yticks(places, [name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…" for name in names])
    axes.set_xlim(0, None)
    percent_axis(axes.xaxis)
    axes.set_xlabel("fall of the average risk (prosecutor) without the column", fontsize=9)
    return _named(figure, axes)
