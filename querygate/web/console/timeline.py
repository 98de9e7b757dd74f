"""Small pictures of what happened day by day: bars whose parts stand on each other. Geometry only; a template draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT, BOTTOM, GAP = 280, 72, 16, 2


@dataclass(frozen=True, slots=True)
class Bar:
    """A part of a day: its place in the picture, what it is called, and its number."""

    x: float
    y: float
    width: float
    height: float
    part: int
    text: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """All that the template needs. `labels` are the first and the last day."""

    title: str
    names: tuple[str, ...]
    bars: tuple[Bar, ...]
    labels: tuple[str, str]
    days: tuple[tuple[str, tuple[float, ...]], ...]

    @property
    def total(self) -> float:
        return sum(sum(values) for _, values in self.days)


def make_timeline(
    title: str, names: Sequence[str], days: Sequence[tuple[str, Sequence[float]]], form: str = "{:,.0f}"
) -> Timeline:
    """Bars for days, each a label and a number for each name.

    >>> picture = make_timeline("Questions", ["answered"], [("2026-03-01", [2]), ("2026-03-02", [4])])
    >>> [(bar.height, bar.text) for bar in picture.bars]
    [(28.0, '2026-03-01: 2 answered'), (56.0, '2026-03-02: 4 answered')]
    """
    most = max((sum(values) for _, values in days), default=0) or 1
    step = WIDTH / max(len(days), 1)
    bars = []
    for place, (day, values) in enumerate(days):
        top = float(HEIGHT - BOTTOM)
        for part, (name, value) in enumerate(zip(names, values, strict=True)):
            height = round((HEIGHT - BOTTOM) * value / most, 2)
            if height:
                top -= height
                bars.append(Bar(place * step, top, step - GAP, height, part, f"{day}: {form.format(value)} {name}"))
    kept = tuple((day, tuple(values)) for day, values in days)
    ends = (days[0][0][5:], days[-1][0][5:]) if days else ("", "")
    return Timeline(title, tuple(names), tuple(bars), ends, kept)
