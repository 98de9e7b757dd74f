"""Figures for the custodian on a publication of views: classes, what was joined and why, what is withheld."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from querygate.custody.publish.joined_classes import JoinedClass, most_people
from querygate.custody.publish.step_state import PublicationState
from querygate.custody.publish.view_cells import ANYTHING, MarginCells, margins_of
from querygate.custody.publish.view_division import Coarsening, MadeViews
from querygate.custody.publish.view_records import code_size, units_of
from querygate.custody.publish.view_risk import UnitRisk, gathered_risk


@dataclass(frozen=True, slots=True)
class MarginFigures:
    """One margin: a view's counts, or some sensitive columns in it.

    `withheld` is the share of records in whose frame cell nothing is published about these columns. `shares` is, by
    quasi-identifier of the view, the mean share of its codes that a record's class has.
    """

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    classes: int
    cells: int
    smallest: int
    largest: int
    withheld: float
    shares: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ViewFigures:
    """All margins. `most_classes` is the largest number of classes of counts that all views together have in one frame
    cell. `least_cut` is the smallest number of people in any combination of classes: k or more.
    """

    frame_cells: int
    smallest_cell: int
    largest_cell: int
    most_classes: int
    least_cut: float
    margins: tuple[MarginFigures, ...]
    coarsened: tuple[Coarsening, ...]
    joined: tuple[JoinedClass, ...] = ()
    """The joined classes with most people."""
    measured_records: int = 0
    """The records in the frame cells whose risk was measured."""
    risk: tuple[UnitRisk, ...] = ()


def summarise(state: PublicationState, views: MadeViews) -> ViewFigures:
    records = [cell.records for cell in views.cells]
    counts = [place for place, margin in enumerate(margins_of(state)) if not margin.sensitive]
    margins = []
    for place, margin in enumerate(margins_of(state)):
        parts = [cell.margins[place] for cell in views.cells]
        sizes = np.concatenate([np.bincount(part.label, part.n) for part in parts]).astype(np.int64)
        silent = sum(int(part.n.sum()) for part in parts if _is_silent(part))
        shares = {name: _share(state, parts, name) for name in margin.quasi}
        margins.append(
            MarginFigures(
                margin.quasi,
                margin.sensitive,
                classes=int(sizes.size),
                cells=sum(part.label.size for part in parts),
                smallest=int(sizes.min()),
                largest=int(sizes.max()),
                withheld=silent / state.rows,
                shares=shares,
            )
        )
    return ViewFigures(
        frame_cells=len(records),
        smallest_cell=min(records),
        largest_cell=max(records),
        most_classes=max(sum(cell.margins[place].classes for place in counts) for cell in views.cells),
        least_cut=min(cell.least_cut for cell in views.cells),
        margins=tuple(margins),
        coarsened=views.coarsenings(units_of(state.policy)),
        joined=most_people([one for cell in views.cells for one in cell.joined]),
        measured_records=sum(cell.records for cell in views.cells if cell.risk is not None),
        risk=gathered_risk(
            [unit.names for unit in units_of(state.policy)],
            [cell.risk for cell in views.cells if cell.risk is not None],
        ),
    )


def _is_silent(part: MarginCells) -> bool:
    return any((codes == ANYTHING).all() for codes in part.codes.values())


def _share(state: PublicationState, parts: list[MarginCells], name: str) -> float:
    """The mean share of a column's codes in a record's class, where a single code counts as zero."""
    column = state.policy.column(name)
    total = 0
    for part in parts:
        box = part.boxes[name]
        size = np.bincount(part.label, part.n, box.missing.size).astype(np.int64)
        low, high = box.ends
        more = high - low if column.is_numeric else np.maximum(np.diff(box.starts) - 1, 0)
        total += int((more * size).sum())
    return total / state.rows / max(1, code_size(state, column) - 1)
