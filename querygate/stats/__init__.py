"""Ranges of statistics over interval data: what every data set consistent with the cells can give.

>>> import numpy as np
>>> from querygate.core.types import Cells
>>> cells = Cells(np.array([40, 50]), np.array([49, 59]), np.array([5, 0]), np.array([5, 3]), integer=True)
>>> STATISTICS.get("avg").range(cells)
Range(low=40.0, high=52.75, attained_low=40.0, attained_high=52.75, sharp=True, may_be_null=False)
"""

from __future__ import annotations

from querygate.stats import extent, location, means, quantiles, spread, variation
from querygate.stats.registry import STATISTICS, Statistic

__all__ = ["STATISTICS", "Statistic", "extent", "location", "means", "quantiles", "spread", "variation"]
