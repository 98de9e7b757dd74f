"""The map of risk and utility of a version of views: what could be printed against how strongly values are believed.

Duncan, Keller-McNulty, Stokes, "Disclosure risk vs. data utility: the R-U confidentiality map", 2001.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from querygate.custody.publish_report.charts import GREY, RED, TEAL, new_figure, percent_axis
from querygate.custody.publish_report.view_worth import WayToPublish

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def risk_and_utility(ways: Sequence[WayToPublish]) -> Figure | None:
    """A point for each way to publish; None if there is nothing to compare."""
    points = [(way, way.believed, way.printed) for way in ways]
    known = [(way, risk, use) for way, risk, use in points if risk is not None and use is not None]
    if len(known) < 2:
        return None
    figure, panels = new_figure(3.2)
    axes = panels[0][0]
    for place, (way, risk, use) in enumerate(known):
        colour = RED if way.name == "classes" else TEAL if place == 0 else GREY
        axes.plot(risk, use, "o", color=colour, markersize=9 if place == 0 else 7, clip_on=False, zorder=3)
        told = f"{way.name}, k = {way.k}" + (" (published)" if place == 0 else "")
        axes.annotate(told, (risk, use), xytext=(8, 5), textcoords="offset points", fontsize=8)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    percent_axis(axes.xaxis)
    percent_axis(axes.yaxis)
    axes.set_xlabel("risk: mean belief in a person's true value", fontsize=9)
    axes.set_ylabel("utility: figures that could be printed", fontsize=9)
    return figure
