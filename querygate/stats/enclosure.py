"""The result of a statistic of interval data: a readable range, with the cells it came from."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from querygate.core.range_ends import in_words
from querygate.core.types import Cells, Range
from querygate.stats.comparison import GroupCells
from querygate.stats.exposure_tables import TableCells
from querygate.stats.pairs import PairCells
from querygate.stats.plots.enclosure_plot import draw

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Enclosure:
    """The range of a statistic over every data set that the intervals allow; it unpacks as (low, high).

    `low` and `high` are guaranteed, NaN where the statistic is undefined for certain; `range` has the rest: values that
    are attained, whether the range is sharp, whether the statistic may be undefined.

    >>> found = Enclosure("avg", Range(40.0, 52.75, 40.0, 52.75))
    >>> found
    avg: 40 .. 52.8, sharp
    >>> low, high = found
    >>> 45 in found, found.width
    (True, 12.75)
    """

    statistic: str
    range: Range
    cells: Cells | PairCells | GroupCells | TableCells | None = field(default=None, compare=False)

    @property
    def low(self) -> int | float:
        return math.nan if self.range.low is None else self.range.low

    @property
    def high(self) -> int | float:
        return math.nan if self.range.high is None else self.range.high

    @property
    def width(self) -> int | float:
        return self.high - self.low

    @property
    def attained(self) -> tuple[int | float | None, int | float | None]:
        """Values that some data set really reaches, None where none is known: the range cannot be narrower than
        these."""
        return self.range.attained_low, self.range.attained_high

    @property
    def sharp(self) -> bool:
        """Whether both ends are attained, up to rounding."""
        return self.range.sharp

    @property
    def may_be_null(self) -> bool:
        """Whether the statistic may be undefined, because too few records may be selected."""
        return self.range.may_be_null

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __iter__(self) -> Iterator[int | float]:
        return iter((self.low, self.high))

    def __repr__(self) -> str:
        return f"{self.statistic}: {', '.join([self._ends(), *self._remarks()])}"

    def _ends(self) -> str:
        if self.range.low is None or self.range.high is None:
            return "undefined"
        return in_words(self.range.low, self.range.high)

    def _remarks(self) -> list[str]:
        """Remarks in words: whether the range is sharp, and whether it may be undefined."""
        if self.range.low is None:
            return []
        remarks = [] if self.range.low == self.range.high else ["sharp" if self.sharp else "not sharp"]
        return [*remarks, "may be undefined"] if self.may_be_null else remarks

    def plot(self, figure: Figure | None = None) -> Figure:
        """Draw the intervals and, below them, the range. Needs matplotlib: `pip install 'querygate[plot]'`."""
        return draw(self, figure)
