"""Groups below each other, the scale from left to right: bars of counts, intervals, and forest plots of ratios."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from querygate.web.console.charts.chart import (
    AXIS,
    LABELS,
    RIGHT,
    STEP,
    TOP,
    WIDTH,
    Chart,
    Figure,
    Kind,
    Mark,
    make_mark,
)
from querygate.web.console.charts.chart_scale import linear_scale, ratio_scale

BEYOND = 1.6
"""By so much a scale of ratios goes on beyond its ends, where a range has none."""


def draw_rows(name: str, kind: Kind, figures: Sequence[Figure], left_out: int) -> Chart:
    ends = [end for one in figures for end in one.reach]
    ends += [0.0] if kind == "bars" else []
    place, ticks = linear_scale(min(ends), max(ends), LABELS, WIDTH - RIGHT)
    marks = tuple(make_mark(one, _row(i), place) for i, one in enumerate(figures))
    zero = place(0.0) if kind == "bars" else None
    return Chart(name, kind, _height(figures), marks, ticks, zero=zero, left_out=left_out)


def draw_ratios(name: str, figures: Sequence[Figure], left_out: int) -> Chart:
    """On a scale where twice and half are equally far from 1. A ratio of 0, or one without an upper end, goes on beyond
    the picture."""
    ends = [1.0, *(end for one in figures for end in one.reach if 0 < end < math.inf)]
    low, high = min(ends), max(ends)
    low = low / BEYOND if any(one.reach[0] <= 0 for one in figures) or low == high else low
    high = high * BEYOND if any(one.reach[1] == math.inf for one in figures) or low == high else high
    place, ticks = ratio_scale(low, high, LABELS, WIDTH - RIGHT)

    def mark(at: float, one: Figure) -> Mark:
        return replace(make_mark(one, at, place), open_low=one.low < low, open_high=one.high > high)

    marks = tuple(mark(_row(i), one) for i, one in enumerate(figures))
    return Chart(name, "ratios", _height(figures), marks, ticks, zero=place(1.0), left_out=left_out)


def _row(number: int) -> float:
    return TOP + STEP * (number + 0.5)


def _height(figures: Sequence[Figure]) -> float:
    return TOP + STEP * len(figures) + AXIS
