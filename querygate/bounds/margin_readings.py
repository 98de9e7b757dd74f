"""A measure of one group, read from several margins of one version.

Frame cells hold the same records in every margin, so each may be read from any margin, and the ranges of a count are
intersected cell by cell. Proof: docs/explanation/proofs/views-answers.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import TypeAlias

import numpy as np

from querygate.core.cell_stack import CellStack, ClassStack, together
from querygate.core.frozen_classes import frozen
from querygate.core.plan import MeasureCells
from querygate.core.types import Bools, Cells, Ints


@frozen
class Readings:
    """Cells of one measure in one group; each reading describes all records that the measure selects.

    `met` has the intersected counts, without class sums; None if a measure has splits, or there is only one margin.
    If `settled`, it allows nothing that the counts and values of another reading exclude. `others` are the rows of
    the margins, preceded by a mosaic if it differs from all of them.
    """

    met: MeasureCells | None
    settled: bool
    others: tuple[MeasureCells, ...]

    @property
    def is_of_margin(self) -> bool:
        return self.others[0].frame is not None


Limits: TypeAlias = "tuple[Ints, Ints] | None"
"""The least and most records that a measure selects, by group and frame cell."""


@frozen
class StackedReadings:
    """The same for several groups; only those in `has_mosaic` have a mosaic."""

    met: CellStack | None
    settled: Bools
    mosaic: CellStack | None
    has_mosaic: Bools
    margins: tuple[CellStack, ...]

    def parts(self) -> list[Readings]:
        """Group by group."""
        margins = zip(*(margin.parts() for margin in self.margins), strict=True)
        met, mosaic = (None if each is None else each.parts() for each in (self.met, self.mosaic))
        return [
            Readings(
                None if met is None else met[i],
                bool(self.settled[i]),
                parts if mosaic is None or not self.has_mosaic[i] else (mosaic[i], *parts),
            )
            for i, parts in enumerate(margins)
        ]


def read_stacks(stacks: Sequence[CellStack], limits: Limits = None) -> StackedReadings:
    """The readings of a measure in several groups. Margins are intersected by frame cell, so all groups are read at
    once, each with its own frame cells."""
    groups = stacks[0].groups
    nothing = np.zeros(groups, dtype=np.bool_)
    if limits is None and len(stacks) == 1:
        return StackedReadings(None, nothing, None, nothing, tuple(stacks))
    frames = 1 + max(int(frame_of(stack.cells).max(initial=-1)) for stack in stacks)
    frames = frames if limits is None else max(frames, limits[0].shape[1])
    own = [_with_own_frames(stack, frames) for stack in stacks]
    wide = [stack.cells for stack in own]
    best = _best(own)
    chosen = [best[frame_of(part)] == i for i, part in enumerate(wide)]
    used = [np.bincount(stack.of[kept], minlength=groups) > 0 for stack, kept in zip(own, chosen, strict=True)]
    has_mosaic = np.sum(used, axis=0) > 1
    mosaic = _mosaic(own, chosen, used, best) if has_mosaic.any() else None
    if wide[0].splits:
        return StackedReadings(None, nothing, mosaic, has_mosaic, tuple(own))
    met, mixed = _met(wide, chosen, frames * groups)
    if limits is not None:
        ends = [_padded(counts, frames) for counts in limits]
        met, own = _limited(met, *ends), [replace(stack, cells=_limited(stack.cells, *ends)) for stack in own]
        mosaic = None if mosaic is None else replace(mosaic, cells=_limited(mosaic.cells, *ends))
    if (met.least > met.most).any():
        raise ValueError("margins of this version contradict each other: the store is damaged")
    is_mixed = mixed.reshape(groups, frames).any(axis=1)
    settled = nothing if any(part.among for part in wide) else np.logical_not(is_mixed)
    return StackedReadings(
        CellStack(met, frame_of(met) // frames, groups, (), frames), settled, mosaic, has_mosaic, tuple(own)
    )


def _with_own_frames(stack: CellStack, frames: int) -> CellStack:
    frame = frame_of(stack.cells) + stack.of * frames
    return replace(stack, cells=replace(stack.cells, frame=frame), frames=frames)


def _padded(counts: Ints, frames: int) -> Ints:
    """A table of groups and frame cells, padded to this many, one group after the other."""
    if counts.shape[1] == frames:
        return counts.ravel()
    padded = np.zeros((len(counts), frames), dtype=counts.dtype)
    padded[:, : counts.shape[1]] = counts
    return padded.ravel()


def added(places: Ints, numbers: Ints, size: int) -> Ints:
    """Sums by position. They are numbers of records, which doubles add exactly."""
    return np.bincount(places, numbers, size).astype(np.int64)


def frame_of(cells: MeasureCells) -> Ints:
    if cells.frame is None:
        raise ValueError("these cells do not belong to a margin")
    return cells.frame


# -- a mosaic: each frame cell from the margin that says most about it -------------------------------------------------


def _best(stacks: Sequence[CellStack]) -> Ints:
    """By frame cell the margin that leaves the fewest records undecided; of those, the one with the narrowest sums."""
    every = stacks[0].frames * stacks[0].groups
    undecided, loose = np.zeros((2, len(stacks), every))
    for i, stack in enumerate(stacks):
        part = stack.cells
        counts = [(part.least, part.most)] + [pair for s in part.splits for pair in (s[:2], s[2:])]
        undecided[i] = np.bincount(frame_of(part), sum(most - least for least, most in counts), every)
        for told in stack.classes:
            if told is not None and told.cells.frame is not None:
                width = np.where(told.is_told[told.selection], told.cells.sum_high - told.cells.sum_low, 0.0)
                loose[i] += np.bincount(_frames_of(told, stack.frames), width, every)
    best: Ints = np.where(undecided == undecided.min(axis=0), loose, np.inf).argmin(axis=0)
    return best


def _frames_of(told: ClassStack, frames: int) -> Ints:
    """The frame cell of each class, among those of all groups."""
    if told.cells.frame is None:
        raise ValueError("these classes do not belong to a margin")
    return told.cells.frame + told.selection * frames


def _mosaic(stacks: Sequence[CellStack], chosen: Sequence[Bools], used: Sequence[Bools], best: Ints) -> CellStack:
    """Each frame cell from the margin that is best there; `used` are the groups for which a margin is used."""
    cells = _joined([stack.cells for stack in stacks], chosen)
    of = np.concatenate([stack.of[kept] for stack, kept in zip(stacks, chosen, strict=True)])
    order = np.argsort(of, kind="stable")
    classes = tuple(
        _joined_classes(stacks, used, best, place) for place in range(max(len(stack.classes) for stack in stacks))
    )
    return CellStack(cells.take(order), of[order], stacks[0].groups, classes, stacks[0].frames)


def _joined(parts: Sequence[MeasureCells], chosen: Sequence[Bools]) -> MeasureCells:
    """These rows of each part, as the cells of one measure."""
    least, most, size, frame = (
        np.concatenate([getattr(part, name)[kept] for part, kept in zip(parts, chosen, strict=True)])
        for name in ("least", "most", "size", "frame")
    )
    values = []
    for each in zip(*(part.values for part in parts), strict=True):
        low, high = (
            np.concatenate([getattr(value, end)[kept] for value, kept in zip(each, chosen, strict=True)])
            for end in ("low", "high")
        )
        values.append(Cells(low, high, least, most, each[0].integer))
    splits = [
        tuple(
            np.concatenate([counts[kept] for counts, kept in zip(same, chosen, strict=True)])
            for same in zip(*each, strict=True)
        )
        for each in zip(*(part.splits for part in parts), strict=True)
    ]
    sets = tuple(
        part.sets[row] for part, kept in zip(parts, chosen, strict=True) if part.sets for row in np.flatnonzero(kept)
    )
    among = together(parts)
    if among is not None:
        among = replace(among, place=among.place[np.concatenate(chosen)])
    of_two = tuple((a, b, c, d) for a, b, c, d in splits)
    return MeasureCells(
        size, least, most, tuple(values), sets, of_two, free=False, solid=False, frame=frame, among=among
    )


def _joined_classes(stacks: Sequence[CellStack], used: Sequence[Bools], best: Ints, place: int) -> ClassStack | None:
    """The class sums of the chosen frame cells, which contain whole classes; only for groups for which all margins used
    have them."""
    is_told = np.ones(stacks[0].groups, dtype=np.bool_)
    found: ClassStack | None = None
    for i, (stack, here) in enumerate(zip(stacks, used, strict=True)):
        told = stack.classes[place] if place < len(stack.classes) else None
        if told is None or told.cells.frame is None:
            is_told &= ~here
            continue
        is_told &= ~here | told.is_told
        kept = told.some(best[_frames_of(told, stack.frames)] == i)
        found = kept if found is None else found.beside(kept)
    if found is None:
        return None
    has_classes = np.bincount(found.selection, minlength=is_told.size) > 0
    return replace(found, is_told=is_told & has_classes)


# -- counts intersected over all margins -------------------------------------------------------------------------------


def _met(parts: Sequence[MeasureCells], chosen: Sequence[Bools], frames: int) -> tuple[MeasureCells, Bools]:
    """Counts intersected by frame cell and value, and the frame cells in which that was not possible.

    If two rows of a frame cell have values that overlap without being equal, a record may have different values in two
    margins: there the rows of the mosaic are used.
    """
    everything = _joined(parts, [np.ones(part.least.size, dtype=np.bool_) for part in parts])
    frame = frame_of(everything)
    (first, box), mixed = _boxes(everything, frame, frames)
    whose = np.repeat(np.arange(len(parts)), [part.least.size for part in parts])
    at, boxes = whose * first.size + box, len(parts) * first.size
    counts = [added(at, told, boxes).reshape(len(parts), -1) for told in (everything.least, everything.most)]
    least, most = counts[0].max(axis=0), counts[1].min(axis=0)
    kept = ((most > 0) | (least > 0)) & ~mixed[frame[first]]
    comparable = _rows(everything, first[kept], least[kept], most[kept])
    if not mixed.any():
        return comparable, mixed
    rest = [rows & mixed[frame_of(part)] for part, rows in zip(parts, chosen, strict=True)]
    return _merged(_joined([*parts, comparable], [*rest, np.ones(comparable.least.size, dtype=np.bool_)])), mixed


def _merged(cells: MeasureCells) -> MeasureCells:
    """Rows of the same frame cell and values as one: they allow the same data sets."""
    frame = frame_of(cells)
    (first, box), _ = _boxes(cells, frame, 1 + int(frame.max(initial=-1)))
    return _rows(cells, first, *(added(box, told, first.size) for told in (cells.least, cells.most)))


def _alike(keys: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Where each distinct row of keys first occurs, in order; and which of them each row is.

    >>> first, which = _alike([np.array([1, 0, 1]), np.array([7, 9, 7])])
    >>> first.tolist(), which.tolist()
    ([1, 0], [1, 0, 1])
    """
    sizes = [1 + int(key.max(initial=0)) for key in keys]
    if prod(sizes) < 2**63:  # one number for a row sorts as its keys do, and much faster
        code = np.zeros_like(keys[0])
        for key, size in zip(keys, sizes, strict=True):
            code = code * size + key
        _, first, which = np.unique(code, return_index=True, return_inverse=True)
    else:
        _, first, which = np.unique(np.stack(keys), axis=1, return_index=True, return_inverse=True)
    return first, which.reshape(-1)


def _boxes(cells: MeasureCells, frame: Ints, frames: int) -> tuple[tuple[Ints, Ints], Bools]:
    """Which rows have the same frame cell and values, as in `_alike`; and the frame cells in which values overlap
    without being the same."""
    if len(cells.values) != 1 or cells.sets:
        key, mixed = _keys(cells, frame, frames)
        return _alike(key), mixed
    mixed = np.zeros(frames, dtype=np.bool_)  # sorted by key, the rows show both at once
    order, is_same, overlaps = _in_order(cells.values[0], frame)
    mixed[overlaps] = True
    starts = np.ones(order.size, dtype=np.bool_)
    np.logical_not(is_same, out=starts[1:])
    box = np.empty_like(order)
    box[order] = np.cumsum(starts) - 1
    return (order[starts], box), mixed


def _in_order(value: Cells, frame: Ints) -> tuple[Ints, Bools, Ints]:
    """Rows by frame cell and value; which of them is the same as the one before it; and the frame cells of those that
    overlap it without being the same."""
    order = np.lexsort((value.high, value.low, frame))
    low, high, where = value.low[order], value.high[order], frame[order]
    beside = where[1:] == where[:-1]
    same = (low[1:] == low[:-1]) & (high[1:] == high[:-1])
    return order, beside & same, where[1:][beside & ~same & (low[1:] <= high[:-1])]


def _keys(cells: MeasureCells, frame: Ints, frames: int) -> tuple[list[Ints], Bools]:
    """Numbers for each row that identify frame cell and values, and the frame cells in which values overlap without
    being equal."""
    mixed = np.zeros(frames, dtype=np.bool_)
    key = [frame]
    for value in cells.values:
        mixed[_in_order(value, frame)[2]] = True
        key += [np.unique(end, return_inverse=True)[1].reshape(-1) for end in (value.low, value.high)]
    if cells.sets:
        number = {values: i for i, values in enumerate(dict.fromkeys(cells.sets))}
        key.append(np.array([number[values] for values in cells.sets], dtype=np.int64))
        found = set(zip(frame.tolist(), cells.sets, strict=True))
        held = Counter((cell, value) for cell, values in found for value in values)
        mixed[[cell for (cell, _), sets in held.items() if sets > 1]] = True
    return key, mixed


def _limited(cells: MeasureCells, least: Ints, most: Ints) -> MeasureCells:
    """Rows limited so that no frame cell has more records than there are, or fewer than there must be."""
    frame = frame_of(cells)
    sums = [added(frame, told, least.size) for told in (cells.least, cells.most)]
    others_least, others_most = sums[0][frame] - cells.least, sums[1][frame] - cells.most
    at_least = np.maximum(cells.least, least[frame] - others_most)
    at_most = np.minimum(cells.most, most[frame] - others_least)
    values = tuple(Cells(value.low, value.high, at_least, at_most, value.integer) for value in cells.values)
    return replace(cells, least=at_least, most=at_most, values=values)


def _rows(cells: MeasureCells, rows: Ints, least: Ints, most: Ints) -> MeasureCells:
    """Rows of a measure without splits, with counts of their own."""
    values = tuple(Cells(v.low[rows], v.high[rows], least, most, v.integer) for v in cells.values)
    sets = tuple(cells.sets[row] for row in rows.tolist()) if cells.sets else ()
    return MeasureCells(most, least, most, values, sets, free=False, solid=False, frame=frame_of(cells)[rows])
