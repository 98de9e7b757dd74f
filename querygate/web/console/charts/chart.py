"""What a picture of an answer consists of, and what is drawn of a cell."""

from __future__ import annotations

import bisect
import itertools
import math
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from querygate.core.answer_bodies import ColumnBody, Row
from querygate.core.answer_forms.flat_table import is_rolled_up
from querygate.core.answer_forms.plain_text import ALL
from querygate.web.console.charts.chart_scale import Tick

Kind: TypeAlias = Literal["bars", "intervals", "ratios", "ribbon", "histogram", "steps"]

WIDTH, LABELS, RIGHT, TOP, STEP, AXIS = 720, 190, 20, 12, 26, 44
UPRIGHT_HEIGHT, UPRIGHT_LEFT = 280, 64
LABEL_ROOM, NARROW_ROOM = 178, 97
"""Room for a label, in units of letters 12 high; on a phone they are nearly twice as high."""

LARGEST = 1e300
"""Beyond this nothing is drawn to scale: differences would be infinite."""

HINTS: dict[Kind, str] = {
    "bars": "The solid part of a bar is certain; the pale part is possible.",
    "intervals": "Each bar runs from the lowest to the highest possible value.",
    "ratios": "Each bar runs from the lowest to the highest possible ratio, on a logarithmic scale. At 1 there is no "
    "difference.",
    "ribbon": "The true line runs inside the band.",
    "histogram": "The solid part of a bar is certain; the pale part, with its whisker, is possible.",
    "steps": "The true curve runs inside the band.",
}
"""How each kind of picture is read."""

NOISY_HINT = "The dot is the number with noise. In 95 of 100 answers, the true value is in the range drawn around it."
"""Of numbers with noise nothing is certain, whatever the kind."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One group: its place across the scale and along it, and the same in words. An open end is one that the picture
    does not reach."""

    label: str
    at: float
    low: float
    high: float
    estimate: float | None
    text: str
    certain: bool
    open_low: bool = False
    open_high: bool = False
    outer: tuple[float, float] | None = None  # where confidence limits end

    @property
    def short(self) -> str:
        return shortened(self.label, LABEL_ROOM)

    @property
    def shorter(self) -> str:
        return shortened(self.label, NARROW_ROOM)


@dataclass(frozen=True, slots=True)
class Chart:
    """All that the template needs. `zero` is where bars begin, or the line that ratios are compared with; `area` the
    outline of what is possible, `line` the likely values in it; `thickness` how wide an upright bar is."""

    column: str
    kind: Kind
    height: float
    marks: tuple[Mark, ...]
    ticks: tuple[Tick, ...]
    across: tuple[Tick, ...] = ()
    zero: float | None = None
    left_out: int = 0
    width: float = WIDTH
    area: str = ""
    line: str = ""
    thickness: float = 0.0
    is_noisy: bool = False

    @property
    def hint(self) -> str:
        return NOISY_HINT if self.is_noisy else HINTS[self.kind]


@dataclass(frozen=True, slots=True)
class Figure:
    """What can be drawn of a cell. Ends may be infinite."""

    keys: tuple[object, ...]
    low: float
    high: float
    estimate: float | None
    certain: bool
    text: str
    outer: tuple[float, float] | None = None
    """From the lowest that the lower confidence limit can be to the highest that the upper one can be."""

    @property
    def reach(self) -> tuple[float, float]:
        """All that is drawn of it."""
        low, high = self.outer or (self.low, self.high)
        return min(low, self.low), max(high, self.high)

    @property
    def is_finite(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def label(self) -> str:
        return ", ".join("NULL" if key is None else str(key) for key in self.keys)


def read_figure(row: Row, keys: Sequence[ColumnBody], name: str, text: str) -> Figure | None:
    """The figure of a cell; None where there is no number at all."""
    value = row[name]
    if "interval95" in value:  # a number with noise
        low, high = value["interval95"] or (value["value"], value["value"])
        estimate = value["value"]
    else:
        low, high, estimate = value["low"], value["high"], value.get("estimate")
    ends = _end(low, -math.inf), _end(high, math.inf)
    if not any(map(math.isfinite, ends)):
        return None
    about = float(estimate) if isinstance(estimate, (int, float)) else None
    state = row.get("_group", {})
    named = tuple(ALL if is_rolled_up(key["name"], state) else row[key["name"]] for key in keys)
    return Figure(named, *ends, about, bool(state.get("certain", True)), text)


def with_whole_keys(figures: list[Figure]) -> list[Figure]:
    """The same, with 80 in place of 80.0 where all numbers of a key are whole."""
    columns = [_whole(column) for column in zip(*(one.keys for one in figures), strict=True)]
    if not columns:
        return figures
    return [replace(one, keys=keys) for one, keys in zip(figures, zip(*columns, strict=True), strict=True)]


def _whole(keys: tuple[object, ...]) -> tuple[object, ...]:
    if all(key.is_integer() and abs(key) < 2**53 for key in keys if isinstance(key, float)):
        return tuple(int(key) if isinstance(key, float) else key for key in keys)
    return keys


def _end(value: object, without: float) -> float:
    """An end as a number; NaN, texts and what is too large to draw are no ends."""
    is_drawn = isinstance(value, (int, float)) and abs(value) < LARGEST
    return float(value) if is_drawn else without  # type: ignore[arg-type]


def make_mark(one: Figure, at: float, place: Callable[[float], float]) -> Mark:
    estimate = None if one.estimate is None else place(one.estimate)
    outer = None if one.outer is None else (place(one.outer[0]), place(one.outer[1]))
    return Mark(one.label, at, place(one.low), place(one.high), estimate, one.text, one.certain, outer=outer)


def shortened(label: str, room: float) -> str:
    """As much of a label as has room in letters 12 high, of a font that runs wide.

    >>> shortened("other or multiple", 178), shortened("other or multiple", 97)
    ('other or multiple', 'other or mult…')
    """
    reach = list(itertools.accumulate(map(_letter_width, label)))
    if not reach or reach[-1] <= room:
        return label
    return label[: bisect.bisect_right(reach, room - _letter_width("…"))].rstrip() + "…"


def _letter_width(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF" or letter in "mwMW…":
        return 12.0
    if letter in "fijlrtI.,:;'|()[] -":
        return 4.8
    return 8.8 if letter.isupper() else 7.6


def points(places: Sequence[tuple[float, float]]) -> str:
    """Places as an SVG outline has them.

    >>> points([(1, 2), (3.25, 4)])
    '1.0,2.0 3.2,4.0'
    """
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
