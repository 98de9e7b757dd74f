"""What is published of sums: the cell that holds each, counted from the least sum that its bins allow.

Every cell is as wide as the step, or all that the bins allow. So a sum at the edge of what is possible pins nobody
down, and which cells there are follows from the histogram, which is told anyway.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from querygate.core.types import Bools, Ints
from querygate.methods.views.table import Measure


@dataclass(frozen=True)
class SumCells:
    """By class: the least and the greatest sum of its cell, and whether that is an end of what bins allow."""

    low: Ints
    high: Ints
    is_first: Bools
    is_last: Bools

    @classmethod
    def of(cls, measure: Measure, totals: Ints, least: Ints, greatest: Ints, known: Ints) -> SumCells:
        """The cells of these totals of `known` numbers each; `least` and `greatest` are what their bins allow."""
        step = max(1, measure.step)
        cells = np.where((known >= measure.fewest) & (measure.step > 0), (greatest - least + 1) // step, 1)
        last = np.maximum(cells, 1) - 1
        place = np.minimum((totals - least) // step, last)
        is_last = place == last
        low = least + place * step
        return cls(low, np.where(is_last, greatest, low + step - 1), place == 0, is_last)

    def margins(self, totals: Ints, unlimited: int) -> Ints:
        """How far these totals lie inside; numbers in their bins never lie beyond what bins allow."""
        below = np.where(self.is_first, unlimited, totals - self.low)
        left: Ints = np.minimum(below, np.where(self.is_last, unlimited, self.high - totals))
        return left
