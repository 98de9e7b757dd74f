"""What is not promised of views, measured while they are made: belief in values, and whom those who tell theirs expose.

Only some frame cells are measured, drawn by a fixed rule, so that publishing takes little longer and measures the same
every time. The figures depend on sensitive values: they are for the custodian.
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
"""Of the frame cells that are measured, together."""

SEED = 20060627
TELLING = (0.01, 0.05)
"""Shares of people who tell their values."""

DRAWS = 4
"""Who tells is drawn so many times: it makes a great difference who does."""


@dataclass(frozen=True, slots=True)
class CellRisk:
    """One unit in one frame cell: over its records the sum and the greatest belief in the true bin; and by share of
    people who tell, and by draw, how many there are, and how many others are no longer proved safe any more.
    """

    records: int
    belief: float
    highest: float
    telling: tuple[tuple[int, ...], ...]
    exposed: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Colluders:
    """A share of all records is told to an attacker, `telling` of them; so many others are no longer proved safe any
    more, the mean of several draws and the most.
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
    """Frame cells to measure: those that fit, drawn in a fixed order; the smallest where none does."""
    order = np.random.default_rng(SEED).permutation(sizes.size)
    chosen: list[int] = []
    for cell in order.tolist():
        if sizes[[*chosen, cell]].sum() <= MOST_RECORDS:
            chosen.append(cell)
    return frozenset(chosen or [int(np.argmin(sizes))])


def cell_risk(table: RecordTable, made: CellRelease, values: int, place: int) -> tuple[CellRisk, ...]:
    """Of each unit; the same people tell of all."""
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
    """Of each unit over all cells that were measured."""
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
