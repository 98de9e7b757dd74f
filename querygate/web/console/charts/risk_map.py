"""The map of risk and utility as a picture: how likely it is at most that somebody is found, from left to right, and
how much of what a paper would ask is usable, from bottom to top. Better is up and to the left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from querygate.web.console.charts.chart import AXIS, RIGHT, TOP, UPRIGHT_HEIGHT, UPRIGHT_LEFT, WIDTH
from querygate.web.console.charts.chart_scale import Tick, linear_scale

MARGIN = 1.08
"""Room beside the outermost point."""

LABEL_STEP = 13


@dataclass(frozen=True, slots=True)
class MapDot:
    """A version or an alternative; `label_y` is where its name stands, clear of the others."""

    name: str
    k: int
    is_version: bool
    is_served: bool
    x: float
    y: float
    low: float
    high: float
    label_y: float
    text: str

    @property
    def is_left(self) -> bool:
        """Whether the name stands left of the dot, where there is no room on its right."""
        return self.x > WIDTH - RIGHT - 110


@dataclass(frozen=True, slots=True)
class MapChart:
    """All that the template needs; `problems` are alternatives that could not be published, and why."""

    dots: tuple[MapDot, ...]
    ticks: tuple[Tick, ...]
    across: tuple[Tick, ...]
    problems: tuple[tuple[str, str], ...]
    width: float = WIDTH
    height: float = UPRIGHT_HEIGHT


def make_risk_map(body: Mapping[str, Any]) -> MapChart:
    """From what the worker measured."""
    points = [(one, one["standing"]) for one in body["points"]]
    drawn = [(one, found) for one, found in points if found["share"] is not None]
    most = max((1 / one["k"] for one, _ in drawn), default=0.1)
    along, across = linear_scale(0.0, most * MARGIN, UPRIGHT_LEFT, WIDTH - RIGHT)
    place, ticks = linear_scale(0.0, 1.0, UPRIGHT_HEIGHT - AXIS, TOP)
    taken: list[tuple[float, float]] = []
    dots = []
    for one, found in drawn:
        share, off = found["share"], found["error"] or 0.0
        x, y = along(1 / one["k"]), place(share)
        label = _free(x, y, taken)
        taken.append((x, label))
        text = f"{one['name']}: at most one in {one['k']} is found, {share:.0%} usable"
        ends = place(max(share - off, 0.0)), place(min(share + off, 1.0))
        is_version = one["version"] is not None
        dots.append(MapDot(one["name"], one["k"], is_version, one["is_served"], x, y, *ends, label, text))
    named = tuple(Tick(tick.at, f"{float(tick.text):.0%}") for tick in ticks)
    chances = tuple(Tick(tick.at, f"{100 * float(tick.text):g}%") for tick in across)
    problems = tuple((one["name"], found["problem"]) for one, found in points if found["problem"])
    return MapChart(tuple(dots), named, chances, problems)


def _free(x: float, y: float, taken: list[tuple[float, float]]) -> float:
    """The place for a name beside a dot that none has taken."""
    at = y
    while any(abs(x - other) < 120 and abs(at - height) < LABEL_STEP for other, height in taken):
        at += LABEL_STEP
    return at
