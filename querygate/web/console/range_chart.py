"""Pictures of answers: every range is drawn from low to high, with its estimate as a dot. Geometry only; the template
`chart.svg` draws it, so that a picture is text that a browser, a paper and a test can read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from querygate.core.answer_bodies import AnswerBody, ColumnBody, Row

Kind: TypeAlias = Literal["bars", "intervals", "ratios", "ribbon"]

WIDTH, LABELS, RIGHT, TOP, STEP, AXIS = 720, 190, 20, 12, 26, 44
RIBBON_HEIGHT, RIBBON_LEFT = 280, 64
MOST_ROWS = 60
LONGEST_LABEL = 28
LEAST_ORDERED = 4
"""From so many groups on, an ordered key is drawn as a line."""

LARGEST, LEAST_SPAN = 1e300, 1e-300
"""Beyond these nothing is drawn to scale: differences would be infinite, or nothing."""

_COUNTS = ("count", "sum_if", "n")
_RATIOS = ("odds_ratio", "risk_ratio", "rate_ratio", "hazard_ratio")


@dataclass(frozen=True, slots=True)
class Tick:
    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    """One group: its place across the scale and along it, and the same in words."""

    label: str
    at: float
    low: float
    high: float
    estimate: float | None
    text: str
    certain: bool

    @property
    def short(self) -> str:
        return self.label if len(self.label) <= LONGEST_LABEL else self.label[: LONGEST_LABEL - 1] + "…"


@dataclass(frozen=True, slots=True)
class Chart:
    """All that the template needs. `zero` is where bars begin, or the line that ratios are compared with."""

    column: str
    kind: Kind
    height: float
    marks: tuple[Mark, ...]
    ticks: tuple[Tick, ...]
    across: tuple[Tick, ...] = ()
    zero: float | None = None
    left_out: int = 0
    width: float = WIDTH

    @property
    def ribbon(self) -> str:
        """The outline of a ribbon: along the upper ends and back along the lower ones."""
        upper = [f"{mark.at:.1f},{mark.high:.1f}" for mark in self.marks]
        lower = [f"{mark.at:.1f},{mark.low:.1f}" for mark in reversed(self.marks)]
        return " ".join(upper + lower)

    @property
    def line(self) -> str:
        return " ".join(f"{mark.at:.1f},{mark.estimate:.1f}" for mark in self.marks if mark.estimate is not None)


@dataclass(frozen=True, slots=True)
class _Figure:
    keys: tuple[object, ...]
    low: float
    high: float
    estimate: float | None
    certain: bool


def make_charts(body: AnswerBody, texts: Sequence[Sequence[str]]) -> tuple[Chart, ...]:
    """A chart for each column of figures that can be drawn. `texts` are the cells as people read them."""
    keys = [column for column in body["columns"] if column["kind"] == "key"]
    charts = []
    for place, column in enumerate(body["columns"]):
        if column["kind"] != "key":
            told = [_figure(row, keys, column["name"]) for row in body["rows"]]
            cells = [row[place] for row in texts]
            drawn = [(one, cell) for one, cell in zip(told, cells, strict=True) if one is not None][:MOST_ROWS]
            if drawn:
                charts.append(_draw(column, keys, drawn, len(told) - len(drawn)))
    return tuple(charts)


def _figure(row: Row, keys: Sequence[ColumnBody], name: str) -> _Figure | None:
    """What can be drawn of a cell; None of one without ends, or with ends that are no finite numbers."""
    value = row[name]
    if "interval95" in value:  # a number with noise
        low, high = value["interval95"] or (value["value"], value["value"])
        estimate = value["value"]
    else:
        low, high, estimate = value["low"], value["high"], value.get("estimate")
    numbers = [end for end in (low, high) if isinstance(end, (int, float)) and abs(end) < LARGEST]  # NaN is not
    if len(numbers) < 2:
        return None
    about = float(estimate) if isinstance(estimate, (int, float)) else None
    certain = bool(row.get("_group", {}).get("certain", True))
    return _Figure(tuple(row[key["name"]] for key in keys), float(low), float(high), about, certain)


def _draw(column: ColumnBody, keys: Sequence[ColumnBody], drawn: list[tuple[_Figure, str]], left_out: int) -> Chart:
    ordered = len(keys) == 1 and len(drawn) >= LEAST_ORDERED and all(_is_number(one.keys[0]) for one, _ in drawn)
    if ordered:
        return _ribbon(column["name"], sorted(drawn, key=lambda pair: float(str(pair[0].keys[0]))), left_out)
    return _rows(column["name"], _kind(column, [one for one, _ in drawn]), drawn, left_out)


def _kind(column: ColumnBody, figures: Sequence[_Figure]) -> Kind:
    name = column["name"].lower()
    if name.startswith(_RATIOS) and all(one.low > 0 for one in figures):
        return "ratios"
    if name.startswith(_COUNTS) and all(one.low >= 0 for one in figures):
        return "bars"
    return "intervals"


def _rows(name: str, kind: Kind, drawn: list[tuple[_Figure, str]], left_out: int) -> Chart:
    """Groups below each other, the scale from left to right."""
    ends = [end for one, _ in drawn for end in (one.low, one.high)]
    ends += [0.0] if kind == "bars" else [1.0] if kind == "ratios" else []
    place, ticks = _scale(min(ends), max(ends), LABELS, WIDTH - RIGHT, logarithmic=kind == "ratios")
    marks = tuple(
        _mark(one, text, at=TOP + STEP * (i + 0.5), place=place, label=_label(one))
        for i, (one, text) in enumerate(drawn)
    )
    zero = place(0.0) if kind == "bars" else place(1.0) if kind == "ratios" else None
    return Chart(name, kind, TOP + STEP * len(drawn) + AXIS, marks, ticks, zero=zero, left_out=left_out)


def _ribbon(name: str, drawn: list[tuple[_Figure, str]], left_out: int) -> Chart:
    """Ordered groups from left to right, the scale from bottom to top."""
    bottom, keys = RIBBON_HEIGHT - AXIS, [float(str(one.keys[0])) for one, _ in drawn]
    place, ticks = _scale(min(one.low for one, _ in drawn), max(one.high for one, _ in drawn), bottom, TOP)
    across, key_ticks = _scale(keys[0], keys[-1], RIBBON_LEFT, WIDTH - RIGHT)
    marks = tuple(
        _mark(one, text, at=across(key), place=place, label=_label(one))
        for key, (one, text) in zip(keys, drawn, strict=True)
    )
    return Chart(name, "ribbon", RIBBON_HEIGHT, marks, ticks, across=key_ticks, left_out=left_out)


def _mark(one: _Figure, text: str, *, at: float, place: Callable[[float], float], label: str) -> Mark:
    estimate = None if one.estimate is None else place(one.estimate)
    return Mark(label, at, place(one.low), place(one.high), estimate, text, one.certain)


def _label(one: _Figure) -> str:
    return ", ".join("NULL" if key is None else str(key) for key in one.keys)


def _is_number(key: object) -> bool:
    return isinstance(key, (int, float)) and not isinstance(key, bool) and math.isfinite(key)


def _scale(
    low: float, high: float, first: float, last: float, *, logarithmic: bool = False
) -> tuple[Callable[[float], float], tuple[Tick, ...]]:
    """Where a number is drawn between two places of the picture, and round numbers along the way."""
    if logarithmic:
        place, ticks = _scale(math.log10(low), math.log10(high), first, last)
        steps = [m * 10.0**e for e in range(-6, 7) for m in (1, 2, 5) if low <= m * 10.0**e <= high]
        return lambda value: place(math.log10(value)), tuple(
            Tick(place(math.log10(s)), f"{s:g}") for s in steps
        ) or ticks
    if high - low <= max(1e-9 * max(abs(low), abs(high)), LEAST_SPAN):  # all alike: in the middle of something
        around = max(abs(low), abs(high)) / 10 if max(abs(low), abs(high)) > LEAST_SPAN else 1.0
        low, high = low - around, high + around
    step = _round_step((high - low) / 5)
    low, high = math.floor(low / step) * step, math.ceil(high / step) * step
    span = high - low

    def place_linear(value: float) -> float:
        return first + (value - low) / span * (last - first)

    values = [low + i * step for i in range(round(span / step) + 1)]
    return place_linear, tuple(
        Tick(place_linear(value), f"{0.0 if abs(value) < step / 2 else value:g}") for value in values
    )


def _round_step(about: float) -> float:
    """The smallest of 1, 2 or 5 times a power of ten that is no less.

    >>> _round_step(0.7), _round_step(12), _round_step(3)
    (1.0, 20.0, 5.0)
    """
    power = 10.0 ** math.floor(math.log10(about))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= about * (1 - 1e-12))
