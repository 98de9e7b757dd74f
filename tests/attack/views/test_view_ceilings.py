"""Belief and colluders are not promised, so they are kept below what was measured, with a little room.

Certified views stay below these ceilings on two studies; the same views without certificates break through them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from querygate.core.types import Floats
from querygate.methods.views import CellRelease, SensitiveColumn
from querygate.methods.views.belief import beliefs
from querygate.methods.views.colluders import not_shown_safe
from querygate.methods.views.column_frontiers import ColumnFrontiers
from querygate.methods.views.frontier import Frontier
from tests.attack.views.test_certified_views import certified, made, unchecked

TELLING, DRAWS = 0.05, 4

CEILINGS = {
    ("demo study", "smoked"): (0.677, 0.9995, 80),
    ("demo study", "systolic"): (0.25, 0.90, 8),
    ("made-up survey", "sbp"): (0.215, 0.95, 8),
    ("made-up survey", "bmi"): (0.228, 0.90, 7),
    ("made-up survey", "diabetes"): (0.848, 0.995, 60),
}
"""By study and column: mean and highest belief in the true bin; others not shown safe if one in twenty tells,
the mean of some draws: it makes a great difference who tells."""

CASES = [pytest.param(study, column, id=f"{study}, {column}") for study, column in CEILINGS]


@cache
def cells(study: str, column: str) -> tuple[SensitiveColumn, tuple[CellRelease, ...], int]:
    table, release = made(study)
    return next(one for one in table.sensitive if one.name == column), release.cells, release.values


def believed(study: str, column: str, *, is_certified: bool) -> Floats:
    one, found, _ = cells(study, column)
    labels = certified if is_certified else unchecked
    return np.concatenate([beliefs(labels(cell, column), one.bins[cell.records]) for cell in found])


def exposed(study: str, column: str, *, is_certified: bool) -> float:
    """Others who are not shown safe, in all cells."""
    one, found, values = cells(study, column)
    number = 0
    for draw in range(DRAWS):
        rng = np.random.default_rng(draw)
        for cell in found:
            told = rng.random(cell.records.size) < TELLING
            number += int(not_shown_safe(one, cell if is_certified else without(cell), values, told).sum())
    return number / DRAWS


def without(cell: CellRelease) -> CellRelease:
    """The cell with the smallest classes of k people, as they come."""
    finest = ColumnFrontiers(tuple(Frontier.finest(view.tree) for view in cell.counts))
    return replace(cell, columns=tuple(replace(column, safe=finest) for column in cell.columns))


@pytest.mark.parametrize(("study", "column"), CASES)
def test_belief_stays_below_its_ceiling(study: str, column: str) -> None:
    mean, highest, _ = CEILINGS[study, column]
    found = believed(study, column, is_certified=True)
    assert found.mean() < mean
    assert found.max() < highest


@pytest.mark.parametrize(("study", "column"), CASES)
def test_views_without_certificates_break_through(study: str, column: str) -> None:
    mean, highest, others = CEILINGS[study, column]
    found = believed(study, column, is_certified=False)
    assert found.mean() > mean
    assert found.max() > highest
    assert exposed(study, column, is_certified=False) > others


@pytest.mark.parametrize(("study", "column"), CASES)
def test_colluders_expose_few(study: str, column: str) -> None:
    assert exposed(study, column, is_certified=True) < CEILINGS[study, column][2]
