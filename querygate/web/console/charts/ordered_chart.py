"""Groups that have an order, from left to right: a ribbon, and a histogram where they are counted."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from querygate.core.answer_bodies import ColumnBody
from querygate.web.console.charts.chart import (
    AXIS,
    RIGHT,
    TOP,
    UPRIGHT_HEIGHT,
    UPRIGHT_LEFT,
    WIDTH,
    Chart,
    Figure,
    make_mark,
    points,
)
from querygate.web.console.charts.chart_scale import Tick, linear_scale

LEAST_RIBBON, LEAST_BINS = 4, 3
"""From so many groups on, an order is drawn."""

MOST_BINS = 60
MOST_LABELS = 12

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_BELOW = re.compile(r"\s*(?:<|≤|under|below|up to|less|younger)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a group stands in the order: `at` is on a scale of numbers, or which one it is."""

    figure: Figure
    at: float


def draw_ordered(
    column: ColumnBody, key: ColumnBody, figures: Sequence[Figure], left_out: int, *, counts: bool
) -> Chart | None:
    """A histogram of counts, a ribbon of other figures; None where the groups have no order, or are too few. The group
    of missing values has no place in an order: a histogram has it apart."""
    ranked = [one for one in figures if one.keys[0] is not None]
    without = [one for one in figures if one.keys[0] is None]
    found = _numbers(ranked) or _named(key, ranked)
    if found is None:
        return None
    bins = _bins(found) if counts else None
    if bins is not None and len(ranked) >= LEAST_BINS:
        return _histogram(column["name"], bins, without, left_out)
    return _ribbon(column["name"], found, left_out) if len(ranked) >= LEAST_RIBBON and not without else None


# -- orders ----------------------------------------------------------------------------------------------------------


def _numbers(figures: Sequence[Figure]) -> list[_Place] | None:
    if not all(_is_number(one.keys[0]) for one in figures):
        return None
    return sorted((_Place(one, float(str(one.keys[0]))) for one in figures), key=lambda place: place.at)


def _is_number(key: object) -> bool:
    return isinstance(key, (int, float)) and not isinstance(key, bool) and math.isfinite(key)


def _named(key: ColumnBody, figures: Sequence[Figure]) -> list[_Place] | None:
    """Days by the calendar; bands such as '40-49', 'under 40' and '60+' by their first number."""
    texts = [one.keys[0] for one in figures]
    if not all(isinstance(text, str) for text in texts):
        return None
    if key["type"] in ("date", "timestamp"):
        orders: list[tuple[float, int, str]] = [(0.0, 0, str(text)) for text in texts]
    else:
        found = [band_order(str(text)) for text in texts]
        if None in found or len(set(found)) < len(found):
            return None
        orders = [(*one, "") for one in found if one is not None]
    ranked = sorted(zip(orders, figures, strict=True), key=lambda pair: pair[0])
    return [_Place(one, float(i)) for i, (_, one) in enumerate(ranked)]


def band_order(text: str) -> tuple[float, int] | None:
    """Where a band stands among others; None of a text that is no band.

    >>> sorted(["60+", "40-59", "under 40"], key=band_order)
    ['under 40', '40-59', '60+']
    >>> band_order("never")
    """
    number = _NUMBER.search(text)
    if number is None:
        return None
    return float(number.group()), 0 if _BELOW.match(text) else 1


def _bins(found: list[_Place]) -> list[_Place] | None:
    """The same places counted in bins from the first; None where the distances are not of one size."""
    gaps = [after.at - before.at for before, after in itertools.pairwise(found)]
    width = min(gaps, default=1.0)
    if width <= 0 or (found[-1].at - found[0].at) / width >= MOST_BINS:
        return None
    steps = [(one.at - found[0].at) / width for one in found]
    if any(abs(step - round(step)) > 1e-6 for step in steps):
        return None
    return [_Place(one.figure, float(round(step))) for one, step in zip(found, steps, strict=True)]


# -- pictures --------------------------------------------------------------------------------------------------------


def _ribbon(name: str, found: list[_Place], left_out: int) -> Chart:
    """The scale goes from bottom to top."""
    figures = [one.figure for one in found]
    place, ticks = linear_scale(min(f.low for f in figures), max(f.high for f in figures), _BOTTOM, TOP)
    if isinstance(figures[0].keys[0], str):
        step = (WIDTH - RIGHT - UPRIGHT_LEFT) / len(found)
        at = [UPRIGHT_LEFT + step * (one.at + 0.5) for one in found]
        across = _labels(found, at)
    else:
        along, across = linear_scale(found[0].at, found[-1].at, UPRIGHT_LEFT, WIDTH - RIGHT)
        at = [along(one.at) for one in found]
    marks = tuple(make_mark(one, x, place) for one, x in zip(figures, at, strict=True))
    upper = [(mark.at, mark.high) for mark in marks]
    lower = [(mark.at, mark.low) for mark in reversed(marks)]
    likely = [(mark.at, mark.estimate) for mark in marks if mark.estimate is not None]
    area, line = points(upper + lower), points(likely)
    return Chart(name, "ribbon", UPRIGHT_HEIGHT, marks, ticks, across, None, left_out, area=area, line=line)


def _histogram(name: str, bins: list[_Place], without: Sequence[Figure], left_out: int) -> Chart:
    """Bars beside each other; a bin that is not in the answer leaves a gap, and so does the group of missing values."""
    apart = [_Place(one, bins[-1].at + 2 + i) for i, one in enumerate(without)]
    drawn = [*bins, *apart]
    thickness = (WIDTH - RIGHT - UPRIGHT_LEFT) / (drawn[-1].at + 1)
    place, ticks = linear_scale(0.0, max(one.figure.high for one in drawn), _BOTTOM, TOP)
    at = [UPRIGHT_LEFT + thickness * (one.at + 0.5) for one in drawn]
    marks = tuple(make_mark(one.figure, x, place) for one, x in zip(drawn, at, strict=True))
    across, zero = _labels(bins, at[: len(bins)]) + _labels(apart, at[len(bins) :]), place(0.0)
    return Chart(name, "histogram", UPRIGHT_HEIGHT, marks, ticks, across, zero, left_out, thickness=thickness)


_BOTTOM = UPRIGHT_HEIGHT - AXIS


def _labels(found: list[_Place], at: list[float]) -> tuple[Tick, ...]:
    """As many as have room."""
    longest = max((len(one.figure.label) for one in found), default=0)
    most = min(MOST_LABELS, max(int(90 / max(longest, 1)), 2))
    every = math.ceil(len(found) / most) or 1
    return tuple(Tick(x, one.figure.label[:24]) for one, x in list(zip(found, at, strict=True))[::every])
