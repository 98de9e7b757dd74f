"""Certified views: several partitions of the same records over few columns each, which together tell of nobody."""

from __future__ import annotations

from querygate.methods.views.frame import FrameColumn
from querygate.methods.views.make import TooFewPeople, ViewPlan, cell_records, certified_cell, certified_views, gathered
from querygate.methods.views.release import CellRelease, ClassFigures, ColumnRelease, ViewsRelease
from querygate.methods.views.table import NULL, ClassGuard, Measure, QuasiIdentifier, RecordTable, SensitiveColumn

__all__ = [
    "certified_views",
    "cell_records",
    "certified_cell",
    "gathered",
    "ViewPlan",
    "FrameColumn",
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
