"""Risks that views do not rule out, measured while they are made: belief in values, and exposure by people who reveal
theirs.

Only some frame cells are measured, drawn by a fixed rule, so that publishing takes little longer and the result is the
same every time. The figures depend on sensitive values: they are for the custodian.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.methods.views import CellRelease, RecordTable, SensitiveColumn
from querygate.methods.views.belief import beliefs
from querygate.methods.views.colluders import not_shown_safe

MOST_RECORDS = 3_000
"""The most records in all measured frame cells together."""

SEED = 20060627
TELLING = (0.01, 0.05)
"""Shares of people who reveal their values."""

DRAWS = 4
"""The number of draws of people who reveal theirs, since it matters a great deal who they are."""


@dataclass(frozen=True, slots=True)
class CellRisk:
    """One unit in one frame cell: the sum and the greatest belief in the true bin over its records; and by share of
    people who tell, and by draw, how many there are, and how many others are no longer proved safe any more.
    """

    records: int
    belief: float
    highest: float
    telling: tuple[tuple[int, ...], ...]
    exposed: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Colluders:
    """An attacker learns a share of all records, `telling` of them; this many others are then no longer proved safe:
    the mean of several draws, and the most.
    """

    share: float
    telling: float
    exposed: float
    most: int


@dataclass(frozen=True, slots=True)
class UnitRisk:
    """One unit over the cells that were measured, `records` of them where something is told. None: nothing is."""

    unit: tuple[str, ...]
    records: int
    mean: float | None
    highest: float | None
    colluders: tuple[Colluders, ...]


def measured_cells(sizes: Ints) -> frozenset[int]:
    """The frame cells to measure: those that fit, drawn in a fixed order; the smallest one if none fits."""
    order = np.random.default_rng(SEED).permutation(sizes.size)
    chosen: list[int] = []
    for cell in order.tolist():
        if sizes[[*chosen, cell]].sum() <= MOST_RECORDS:
            chosen.append(cell)
    return frozenset(chosen or [int(np.argmin(sizes))])


def cell_risk(table: RecordTable, made: CellRelease, values: int, place: int) -> tuple[CellRisk, ...]:
    """The risk of each unit; the same people reveal all their units."""
    drawn = np.random.default_rng([SEED, place]).random((DRAWS, made.records.size))
    return tuple(_unit(column, made, values, drawn) for column in table.sensitive)


def _unit(column: SensitiveColumn, made: CellRelease, values: int, drawn: Floats) -> CellRisk:
    labels = [label for view in range(len(made.counts)) if (label := made.labels(view, column.name)) is not None]
    if not labels:
        return CellRisk(0, 0.0, 0.0, (), ())
    found = beliefs(np.stack(labels), column.bins[made.records])
    telling = tuple(tuple((drawn < share).sum(axis=1).tolist()) for share in TELLING)
    exposed = tuple(
        tuple(int(not_shown_safe(column, made, values, one < share).sum()) for one in drawn) for share in TELLING
    )
    return CellRisk(made.records.size, float(found.sum()), float(found.max()), telling, exposed)


def gathered_risk(units: Sequence[tuple[str, ...]], cells: Sequence[tuple[CellRisk, ...]]) -> tuple[UnitRisk, ...]:
    """The risk of each unit over all measured cells."""
    return tuple(_gathered(unit, [cell[place] for cell in cells]) for place, unit in enumerate(units))


def _gathered(unit: tuple[str, ...], cells: Sequence[CellRisk]) -> UnitRisk:
    told = [cell for cell in cells if cell.records]
    records = sum(cell.records for cell in told)
    colluders = []
    for place, share in enumerate(TELLING):
        telling, exposed = (
            [sum(draw) for draw in zip(*parts, strict=True)] or [0]
            for parts in ([cell.telling[place] for cell in told], [cell.exposed[place] for cell in told])
        )
        mean = sum(exposed) / len(exposed)
        colluders.append(Colluders(share, sum(telling) / len(telling), mean, max(exposed)))
    return UnitRisk(
        unit,
        records,
        round(sum(cell.belief for cell in told) / records, 4) if told else None,
        round(max(cell.highest for cell in told), 4) if told else None,
        tuple(colluders),
    )
