"""Certified views: several partitions of the same records over few columns each, which together tell of nobody.

Pure: arrays in, arrays out. The caller codes the columns; what is made of them carries its own certificates.

>>> import numpy as np
>>> ward, clinic = np.repeat([0, 1], 30), np.repeat([0, 1], [27, 33])
>>> table = RecordTable(
...     (QuasiIdentifier("ward", ward, 2), QuasiIdentifier("clinic", clinic, 2)),
...     (SensitiveColumn("ill", np.arange(60) % 2, 2),),
... )
>>> cell = certified_views(table, ViewPlan((("ward",), ("clinic",)), frame=(), k=5)).cells[0]
>>> [view.classes for view in cell.counts], cell.collapses[0].reason  # three people are between ward and clinic
([2, 1], 'together with the other view it would tell of fewer than k people')
"""

from __future__ import annotations

from querygate.methods.views.certificates import CellRelease, ClassFigures, ColumnRelease, ViewsRelease
from querygate.methods.views.certified_views import (
    TooFewPeople,
    ViewPlan,
    cell_records,
    certified_cell,
    certified_views,
    gathered,
)
from querygate.methods.views.earlier_versions import EarlierColumn, EarlierViews, Uncertified, certified_beside
from querygate.methods.views.frame import CellLimits, FrameColumn
from querygate.methods.views.table import NULL, ClassGuard, Measure, QuasiIdentifier, RecordTable, SensitiveColumn

__all__ = [
    "certified_views",
    "cell_records",
    "certified_cell",
    "certified_beside",
    "gathered",
    "EarlierViews",
    "EarlierColumn",
    "Uncertified",
    "ViewPlan",
    "FrameColumn",
    "CellLimits",
    "TooFewPeople",
    "RecordTable",
    "QuasiIdentifier",
    "SensitiveColumn",
    "Measure",
    "ClassGuard",
    "NULL",
    "ViewsRelease",
    "CellRelease",
    "ColumnRelease",
    "ClassFigures",
]
