"""How wide the ranges of an answer are."""

from __future__ import annotations

import math

from querygate.core.types import Answer, Range

_ROUNDED = 1e-12  # of the larger end: what outward rounding makes of an exact quotient


def range_width(found: Range) -> float:
    """How far its ends are apart; nothing where that is only how doubles are rounded.

    >>> range_width(Range(3, 7)), range_width(Range(33.333333333333329, 33.333333333333336)), range_width(Range.null())
    (4.0, 0.0, 0.0)
    """
    if found.low is None or found.high is None or found.low >= found.high:
        return 0.0
    width = float(found.high) - float(found.low)
    return 0.0 if width <= _ROUNDED * max(abs(found.low), abs(found.high)) < math.inf else width


def range_names(answer: Answer) -> tuple[str, ...]:
    """The columns of an answer that are ranges."""
    return tuple(column.name for column in answer.columns if column.kind == "range")


def mean_widths(answer: Answer) -> tuple[float, ...]:
    """The width of each of them, on average over the rows; dates in days, timestamps in seconds."""
    found = []
    for column in answer.columns:
        if column.kind == "range":
            unit = 1e6 if column.type == "timestamp" else 1
            widths = [range_width(group.ranges[column.source]) / unit for group in answer.groups]
            found.append(sum(widths) / len(widths) if widths else 0.0)
    return tuple(found)


def width_number(width: float) -> int | float | str:
    """A width with the digits that are worth reading; JSON has no infinity.

    >>> width_number(458.0), width_number(1 / 3), width_number(math.inf)
    (458, 0.333333, 'inf')
    """
    if not math.isfinite(width):
        return str(width)
    rounded = float(f"{width:.6g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 2**53 else rounded


def told_widths(answer: Answer) -> dict[str, int | float | str]:
    """The widths by the names of their columns."""
    return {name: width_number(width) for name, width in zip(range_names(answer), mean_widths(answer), strict=True)}
