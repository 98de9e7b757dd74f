"""Worlds: numbers inside their bins that meet every published sum, with room to spare.

A swap of bins moves sums a little. In one view, the exact one, partners swap their very numbers and nothing moves; in a
class of another view the sum moves by no more than the widths of the two bins. So one world whose sums lie well inside
their cells serves for all people of a frame cell.

Proof: docs/explanation/proofs/views-witnesses.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, eye_array, hstack, vstack

from querygate.core.types import Ints
from querygate.methods.views.atoms import by_atom
from querygate.methods.views.holders import Holders
from querygate.methods.views.linear_programme import sums_below
from querygate.methods.views.sum_cells import SumCells
from querygate.methods.views.table import Measure
from querygate.methods.views.windows import GREATEST, LEAST

NUDGES = 12
"""Rounds of moving sums inwards before a programme is solved; two or three are enough most often."""

UNLIMITED = np.iinfo(np.int64).max


@dataclass(frozen=True)
class World:
    """Totals by measure and atom; `margins` by measure and class are how far the sums lie inside their cells."""

    exact: int
    totals: Ints
    margins: Ints

    def room(self, holders: Holders, own: Ints, other: Ints) -> Ints:
        """Per pair of bins and class how many swaps the sums allow; in the exact view and in the whole cell any."""
        atoms = holders.atoms
        most = np.full((own.size, sum(atoms.sizes)), UNLIMITED)
        for measure, margins in zip(holders.column.measures, self.margins, strict=True):
            moved = measure.widths[own] + measure.widths[other]
            allowed = margins[None, :] // np.maximum(moved, 1)[:, None]
            most = np.where(moved[:, None] > 0, np.minimum(most, allowed), most)
        for view, (begin, size) in enumerate(zip(atoms.offsets.tolist(), atoms.sizes, strict=True)):
            if view == self.exact or size == 1:  # the whole cell is a sum of classes of the exact view
                most[:, begin : begin + size] = UNLIMITED
        return most


def roomy_world(holders: Holders, exact: int) -> World:
    """A world with much room in all views but the exact one; that of the data where none is found."""
    return World(exact, *roomy_totals(holders, [exact]))


def roomy_totals(holders: Holders, exact: Sequence[int]) -> tuple[Ints, Ints]:
    """Totals by measure and atom, and margins by measure and class, with much room in all views but these."""
    totals, margins = [], []
    for number, measure in enumerate(holders.column.measures):
        true = by_atom(holders.atom, holders.totals[number], holders.atoms.number)
        cells = told_cells(holders, number, true)
        one = _nudged(holders, measure, true, cells, exact) if measure.step else true
        one = _searched(holders, measure, true, cells, exact) if one is None else one
        left = cells.margins(holders.atoms.sums(one), UNLIMITED)
        if (left < 0).any():
            one, left = true, cells.margins(holders.atoms.sums(true), UNLIMITED)
        totals.append(one)
        margins.append(left)
    classes = sum(holders.atoms.sizes)
    return (
        np.array(totals, dtype=np.int64).reshape(len(totals), holders.atoms.number),
        np.array(margins, dtype=np.int64).reshape(len(totals), classes),
    )


def atom_bounds(holders: Holders, measure: Measure) -> tuple[Ints, Ints]:
    """The least and greatest total of each atom."""
    low, high = (by_atom(holders.atom, holders.count * end[holders.bin], holders.atoms.number) for end in measure.ends)
    return low, high


def told_cells(holders: Holders, number: int, true: Ints) -> SumCells:
    """What is told of the sums of all classes: by public bins, however windows divide them. The first views are those
    of earlier versions, where there are any, and have told what they told.
    """
    measure, public = holders.windows.told.measures[number], holders.windows.public[holders.bin]
    parts = (*(end[public] for end in measure.ends), measure.has_number[public].astype(np.int64))
    least, greatest, known = (
        holders.atoms.sums(by_atom(holders.atom, holders.count * part, holders.atoms.number)) for part in parts
    )
    cells = SumCells.of(measure, holders.atoms.sums(true), least, greatest, known)
    finer = holders.windows.finer
    if finer is None:
        return cells
    low, high = cells.low.copy(), cells.high.copy()
    is_first, is_last = cells.is_first.copy(), cells.is_last.copy()
    atom = holders.atom[holders.row_group]
    for view, (begin, end) in enumerate(zip(finer.least[number], finer.most[number], strict=True)):
        place = holders.atoms.labels[view][atom] + holders.atoms.offsets[view]
        is_first[place], is_last[place] = begin == LEAST, end == GREATEST
        low[place] = np.where(begin == LEAST, least[place], begin)
        high[place] = np.where(end == GREATEST, greatest[place], end)
    return SumCells(low, high, is_first, is_last)


def _nudged(holders: Holders, measure: Measure, true: Ints, cells: SumCells, exact: Sequence[int]) -> Ints | None:
    """Totals by atom that leave every class its room, found by moving the sums of one view after another inwards; None
    if that leads nowhere soon.
    """
    atoms = holders.atoms
    low, high = atom_bounds(holders, measure)
    enough = np.full(cells.low.size, min(2 * int(measure.widths.max()), (measure.step - 1) // 2))
    for view in exact:
        enough[atoms.offsets[view] : atoms.offsets[view] + atoms.sizes[view]] = 0
    inner = (cells.high - cells.low - 2 * enough) / 4.0
    least = np.where(cells.is_first, -np.inf, cells.low + enough + inner)
    most = np.where(cells.is_last, np.inf, cells.high - enough - inner)
    totals, found = true.astype(np.float64), true
    for _ in range(NUDGES):
        if (cells.margins(atoms.sums(found), UNLIMITED) >= enough).all():
            return found
        for labels, offset, size in zip(atoms.labels, atoms.offsets.tolist(), atoms.sizes, strict=True):
            own = slice(offset, offset + size)
            sums, up, down = (np.bincount(labels, part, size) for part in (totals, high - totals, totals - low))
            more, less = np.maximum(least[own] - sums, 0.0), np.maximum(sums - most[own], 0.0)
            raised, lowered = np.minimum(more / np.maximum(up, 1.0), 1.0), np.minimum(less / np.maximum(down, 1.0), 1.0)
            totals += raised[labels] * (high - totals) - lowered[labels] * (totals - low)
        found = np.clip(np.rint(totals).astype(np.int64), low, high)
    return None


def _searched(holders: Holders, measure: Measure, true: Ints, cells: SumCells, exact: Sequence[int]) -> Ints:
    """Totals by atom from a programme that makes the sum of margins as large as can be, rounded to whole numbers."""
    atoms, step = holders.atoms, float(measure.step)
    low, high = atom_bounds(holders, measure)
    base = atoms.sums(low)
    wanted = _wanted(holders, measure, exact) / step
    matrix = atoms.incidence
    number, classes = atoms.number, matrix.shape[0]
    margins = eye_array(classes)
    above = hstack([-matrix, margins])
    below = hstack([matrix, margins])
    # Beyond the ends of what bins allow is room without end.
    free = wanted.max(initial=0.0)
    limits = np.concatenate(
        [(base - cells.low) / step + cells.is_first * free, (cells.high - base) / step + cells.is_last * free]
    )
    goal = np.concatenate([np.zeros(number), -np.ones(classes)])
    upper = np.concatenate([(high - low) / step, wanted])
    found = sums_below(goal, csr_array(vstack([above, below])), limits, upper)
    if found is None:
        return true
    return np.clip(low + np.rint(found[:number] * step).astype(np.int64), low, high)


def _wanted(holders: Holders, measure: Measure, exact: Sequence[int]) -> Ints:
    """The margin that is enough for each class: two bins wide, and what rounding may take."""
    atoms = holders.atoms
    rounding = atoms.sums(np.ones(atoms.number, dtype=np.int64))
    widest = int(measure.widths.max())
    wanted = rounding + 2 * widest
    for view in exact:
        begin = int(atoms.offsets[view])
        own = slice(begin, begin + atoms.sizes[view])
        wanted[own] = rounding[own]
    return np.minimum(wanted, measure.step // 2)
