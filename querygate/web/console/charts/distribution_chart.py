"""The distribution of a column as an answer bounds it, a p-box: several quantiles of it, or the share above several
thresholds, drawn as the steps between which the true curve runs.

Between two shares p < q every quantile lies between the quantile of p and that of q, so it is at least the lowest value
of the one and at most the highest of the other. Nothing is drawn beyond the outermost shares: nothing is told there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from querygate.core.answer_bodies import AnswerBody, ColumnBody
from querygate.sql.written_measures import WrittenMeasure
from querygate.web.console.charts.chart import (
    AXIS,
    RIGHT,
    TOP,
    UPRIGHT_HEIGHT,
    UPRIGHT_LEFT,
    WIDTH,
    Chart,
    Figure,
    Mark,
    points,
    read_figure,
)
from querygate.web.console.charts.chart_scale import linear_scale

LEAST_LEVELS = 3
MOST_GROUPS = 3
"""A picture for each group, of so few."""

SHARES = {"min": 0.0, "median": 0.5, "max": 1.0}
FAMILIES = {
    "quantile_cont": ("quantile_cont", "median", "min", "max"),
    "quantile_disc": ("quantile_disc", "min", "max"),
    "exceedance": ("exceedance",),
}
"""Which statistics are of one curve."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Columns of an answer that describe one distribution, by their place, with the share or threshold of each."""

    of: str
    family: str
    places: tuple[tuple[float, int], ...]


def find_curves(measures: Sequence[WrittenMeasure | None]) -> list[Curve]:
    """Each distribution that several columns describe."""
    found = []
    for of in dict.fromkeys(one.of for one in measures if one is not None):
        for family, members in FAMILIES.items():
            levels = {
                level: place
                for place, one in enumerate(measures)
                if one is not None and one.of == of and one.statistic in members
                if (level := _level(one)) is not None
            }
            if len(levels) >= LEAST_LEVELS and any(m and m.of == of and m.statistic == family for m in measures):
                found.append(Curve(of, family, tuple(sorted(levels.items()))))
                break
    return found


def _level(one: WrittenMeasure) -> float | None:
    return SHARES.get(one.statistic, one.parameter)


def draw_curves(curve: Curve, body: AnswerBody, texts: Sequence[Sequence[str]]) -> list[Chart]:
    """A picture for each group; none where there are many, or an end is missing."""
    keys = [column for column in body["columns"] if column["kind"] == "key"]
    if not 0 < len(body["rows"]) <= MOST_GROUPS:
        return []
    charts = []
    for number in range(len(body["rows"])):
        figures = [_figure(body, keys, number, place, texts) for _, place in curve.places]
        known = [one for one in figures if one is not None and one.is_finite]
        if len(known) < len(figures):
            return []
        title = f"{curve.of}, {known[0].label}" if keys else curve.of
        levels = [level for level, _ in curve.places]
        draw = _draw_shares if curve.family == "exceedance" else _draw_quantiles
        charts.append(draw(title, levels, known))
    return charts


def _figure(
    body: AnswerBody, keys: Sequence[ColumnBody], number: int, place: int, texts: Sequence[Sequence[str]]
) -> Figure | None:
    return read_figure(body["rows"][number], keys, body["columns"][place]["name"], texts[number][place])


def _draw_quantiles(title: str, levels: list[float], figures: list[Figure]) -> Chart:
    """Values from left to right, the share of records that do not exceed them from bottom to top."""
    lows = list(accumulate((one.low for one in figures), max))
    highs = list(accumulate((one.high for one in reversed(figures)), min))[::-1]
    along, across = linear_scale(min(lows), max(highs), UPRIGHT_LEFT, WIDTH - RIGHT)
    place, ticks = linear_scale(0.0, 1.0, UPRIGHT_HEIGHT - AXIS, TOP)
    left = [(along(lows[0]), place(levels[0]))]
    right = [(along(highs[0]), place(levels[0]))]
    for (before, after), (low, next_low), high in zip(pairwise(levels), pairwise(lows), highs[1:], strict=True):
        left += [(along(low), place(after)), (along(next_low), place(after))]
        right += [(along(high), place(before)), (along(high), place(after))]
    marks = tuple(
        Mark(f"{level:g}", place(level), along(low), along(high), _about(one, along), one.text, True)
        for level, low, high, one in zip(levels, lows, highs, figures, strict=True)
    )
    likely = points([(mark.estimate, mark.at) for mark in marks if mark.estimate is not None])
    area = points(left + right[::-1])
    return Chart(f"Distribution of {title}", "steps", UPRIGHT_HEIGHT, marks, ticks, across, area=area, line=likely)


def _draw_shares(title: str, levels: list[float], figures: list[Figure]) -> Chart:
    """Thresholds from left to right, the share of records above them from bottom to top: it never rises."""
    highs = list(accumulate((one.high for one in figures), min))
    lows = list(accumulate((one.low for one in reversed(figures)), max))[::-1]
    along, across = linear_scale(levels[0], levels[-1], UPRIGHT_LEFT, WIDTH - RIGHT)
    place, ticks = linear_scale(0.0, max(1.0, *highs), UPRIGHT_HEIGHT - AXIS, TOP)
    upper, lower = [(along(levels[0]), place(highs[0]))], [(along(levels[0]), place(lows[0]))]
    for i in range(1, len(levels)):
        upper += [(along(levels[i]), place(highs[i - 1])), (along(levels[i]), place(highs[i]))]
        lower += [(along(levels[i - 1]), place(lows[i])), (along(levels[i]), place(lows[i]))]
    marks = tuple(
        Mark(f"{level:g}", along(level), place(low), place(high), _about(one, place), one.text, True)
        for level, low, high, one in zip(levels, lows, highs, figures, strict=True)
    )
    likely = points([(mark.at, mark.estimate) for mark in marks if mark.estimate is not None])
    area = points(upper + lower[::-1])
    # Marks stand upright here, as those of a ribbon do.
    return Chart(f"Share with {title} above", "ribbon", UPRIGHT_HEIGHT, marks, ticks, across, area=area, line=likely)


def _about(one: Figure, place: Callable[[float], float]) -> float | None:
    return None if one.estimate is None else place(one.estimate)
