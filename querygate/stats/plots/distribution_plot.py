"""Pictures of a whole distribution: a band of cumulative shares, and bars. Imported only when somebody draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from querygate.stats.plots.enclosure_plot import BLUE, GREY, one_panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from querygate.stats.api.whole_distribution import Band, Histogram


def draw_band(found: Band, figure: Figure | None = None) -> Figure:
    """Both curves as steps, with what lies between them shaded."""
    figure, axes = one_panel(figure, repr(found))
    axes.set_ylim(-0.03, 1.03)
    axes.set_ylabel("cumulative share", fontsize=9)
    finite = np.isfinite(found.pbox.at)
    at, low, high = (column[finite].astype(np.float64) for column in (found.pbox.at, found.pbox.low, found.pbox.high))
    if at.size:
        margin = 0.05 * (at[-1] - at[0]) or 1.0
        # an infinite lower end comes first: it applies from the left edge of the picture
        before = [0.0, float(found.pbox.high[0]) if not finite[0] else 0.0]
        at = np.concatenate([[at[0] - margin], at, [at[-1] + margin]])
        low, high = (np.concatenate([[start], c, c[-1:]]) for start, c in zip(before, (low, high), strict=True))
        axes.fill_between(at, low, high, step="post", color=BLUE, alpha=0.25)
        for curve in (low, high):
            axes.step(at, curve, where="post", color=BLUE, linewidth=1.2)
    figure.tight_layout()
    return figure


def draw_histogram(found: Histogram, figure: Figure | None = None) -> Figure:
    """A bar per bin: solid up to the least number of records, pale up to the most."""
    figure, axes = one_panel(figure, "histogram")
    places = np.arange(len(found))
    low, high = (np.array([getattr(one, end) for one in found.bins]) for end in ("low", "high"))
    axes.bar(places, high, color=BLUE, alpha=0.3, width=0.9)
    axes.bar(places, low, color=BLUE, width=0.9)
    axes.set_xticks(places, found.labels)
    axes.set_ylabel("records", fontsize=9)
    axes.axhline(0, color=GREY, linewidth=0.8)
    figure.tight_layout()
    return figure
