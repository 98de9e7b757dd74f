"""What several margins of one version say of the same records: a measure of one group, read in each of them.

Frame cells hold the same records in every margin, so what is told of one may come from any margin, and counts of the
same thing may be met cell by cell. Proof: docs/explanation/proofs/views-answers.md.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TypeAlias

import numpy as np

from querygate.core.plan import MeasureCells, SelectedAmong
from querygate.core.types import Bools, Cells, ClassCells, Ints


@dataclass(frozen=True, slots=True)
class Readings:
    """Cells of one measure in one group; each of them describes all records that it selects.

    `met` has counts that all margins agree on, and nothing about classes; None where a measure has splits, or there is
    one margin. With `settled` it allows nothing that the counts and values of any other forbid. `others` are the rows
    of the margins, and first a mosaic of them where that is none of them.
    """

    met: MeasureCells | None
    settled: bool
    others: tuple[MeasureCells, ...]


Limits: TypeAlias = "tuple[Ints, Ints] | None"
"""Numbers of records by frame cell that a measure selects at least and at most."""


def read(parts: Sequence[MeasureCells], limits: Limits = None) -> Readings:
    """The readings of a measure in a group."""
    return read_groups([parts], [limits])[0]


def read_groups(groups: Sequence[Sequence[MeasureCells]], limits: Sequence[Limits]) -> list[Readings]:
    """The readings of a measure in several groups, each with its limits. Margins are met frame cell by frame cell, so
    groups are read at once, each in frame cells of its own."""
    alike = len({each is None for each in limits}) == 1 and not any(part.sets for parts in groups for part in parts)
    if len(groups) > 1 and not alike:
        return [read(*each) for each in zip(groups, limits, strict=True)]
    if limits[0] is None and len(groups[0]) == 1:
        return [Readings(None, False, tuple(parts)) for parts in groups]
    told = [each for each in limits if each is not None]
    frames = 1 + max(int(frame_of(part).max(initial=-1)) for parts in groups for part in parts)
    frames = max([frames, *(least.size for least, _ in told)])
    wide = [_together(own, frames) for own in zip(*groups, strict=True)]
    best = _best(groups, wide, frames)
    chosen = [best[frame_of(part)] == i for i, part in enumerate(wide)]
    split = [np.split(kept, np.cumsum([part.least.size for part in own])[:-1])
             for kept, own in zip(chosen, zip(*groups, strict=True), strict=True)]  # fmt: skip
    mosaics = [_mosaic(parts, own) for parts, own in zip(groups, zip(*split, strict=True), strict=True)]
    if groups[0][0].splits:
        return [Readings(None, False, (*mosaic, *parts)) for mosaic, parts in zip(mosaics, groups, strict=True)]
    met, mixed = _met(wide, chosen, frames * len(groups))
    if told:
        ends = _padded([least for least, _ in told], frames), _padded([most for _, most in told], frames)
        met, wide = _limited(met, *ends), [_limited(part, *ends) for part in wide]
        mosaics = [tuple(_limited(one, *own) for one in each) for each, own in zip(mosaics, told, strict=True)]
        groups = list(zip(*(_apart(part, own) for part, own in zip(wide, zip(*groups, strict=True), strict=True)),
                          strict=True))  # fmt: skip
    if (met.least > met.most).any():
        raise ValueError("margins of this version contradict each other: the store is damaged")
    settled = [not own.any() for own in np.split(mixed, len(groups))]
    return [
        Readings(own, is_settled and not any(part.among for part in parts), (*mosaic, *parts))
        for own, is_settled, mosaic, parts in zip(
            _by_group(met, frames, len(groups)), settled, mosaics, groups, strict=True
        )
    ]


def added(places: Ints, numbers: Ints, size: int) -> Ints:
    """The numbers of each place together: of records, so that doubles add them exactly."""
    return np.bincount(places, numbers, size).astype(np.int64)


def frame_of(cells: MeasureCells) -> Ints:
    if cells.frame is None:
        raise ValueError("these cells are of no margin")
    return cells.frame


# -- several groups as one ---------------------------------------------------------------------------------------------


def _together(parts: Sequence[MeasureCells], frames: int) -> MeasureCells:
    """The cells of several groups one after the other, without what is told of classes."""
    if len(parts) == 1:
        return replace(parts[0], classes=(), among=None)
    least, most, size = (np.concatenate([getattr(part, name) for part in parts]) for name in ("least", "most", "size"))
    values = tuple(
        Cells(
            np.concatenate([value.low for value in each]), np.concatenate([value.high for value in each]), least, most,
            each[0].integer,
        )
        for each in zip(*(part.values for part in parts), strict=True)
    )  # fmt: skip
    splits = [
        tuple(np.concatenate(same) for same in zip(*each, strict=True))
        for each in zip(*(part.splits for part in parts), strict=True)
    ]
    frame = np.concatenate([frame_of(part) + i * frames for i, part in enumerate(parts)])
    of_two = tuple((a, b, c, d) for a, b, c, d in splits)
    return MeasureCells(size, least, most, values, (), of_two, free=False, solid=False, frame=frame)


def _apart(wide: MeasureCells, parts: Sequence[MeasureCells]) -> list[MeasureCells]:
    """The parts of groups with the counts that were found for all of them together."""
    ends = np.cumsum([0, *(part.least.size for part in parts)]).tolist()
    found = []
    for part, (first, last) in zip(parts, itertools.pairwise(ends), strict=True):
        least, most = wide.least[first:last], wide.most[first:last]
        values = tuple(Cells(value.low, value.high, least, most, value.integer) for value in part.values)
        found.append(
            MeasureCells(part.size, least, most, values, part.sets, part.splits, part.free, part.solid, part.classes,
                         part.frame, part.among)
        )  # fmt: skip
    return found


def _by_group(met: MeasureCells, frames: int, groups: int) -> list[MeasureCells]:
    """Rows in the order of their frame cells, group by group."""
    if groups == 1:
        return [met]
    frame = frame_of(met)
    ends = np.searchsorted(frame, np.arange(groups + 1) * frames).tolist()
    found = []
    for group, (first, last) in enumerate(itertools.pairwise(ends)):
        least, most, size = (counts[first:last] for counts in (met.least, met.most, met.size))
        values = tuple(Cells(v.low[first:last], v.high[first:last], least, most, v.integer) for v in met.values)
        own = frame[first:last] - group * frames
        found.append(MeasureCells(size, least, most, values, (), free=False, solid=False, frame=own))
    return found


def _padded(limits: Sequence[Ints], frames: int) -> Ints:
    return np.concatenate([np.append(each, np.zeros(frames - each.size, dtype=np.int64)) for each in limits])


# -- a mosaic: each frame cell from the margin that says most of it ----------------------------------------------------


def _best(groups: Sequence[Sequence[MeasureCells]], wide: Sequence[MeasureCells], frames: int) -> Ints:
    """By frame cell the margin that leaves the fewest records undecided; of those, the one with the narrowest sums."""
    every = frames * len(groups)
    undecided, loose = np.zeros((2, len(wide), every))
    for i, part in enumerate(wide):
        counts = [(part.least, part.most)] + [pair for s in part.splits for pair in (s[:2], s[2:])]
        undecided[i] = np.bincount(frame_of(part), sum(most - least for least, most in counts), every)
        for place in range(max(len(parts[i].classes) for parts in groups)):
            told = [(g, parts[i].classes[place]) for g, parts in enumerate(groups) if place < len(parts[i].classes)]
            known = [(classes.frame + g * frames, classes.sum_high - classes.sum_low)
                     for g, classes in told if classes is not None and classes.frame is not None]  # fmt: skip
            if known:
                where, width = (np.concatenate(each) for each in zip(*known, strict=True))
                loose[i] += np.bincount(where, width, every)
    best: Ints = np.where(undecided == undecided.min(axis=0), loose, np.inf).argmin(axis=0)
    return best


def _mosaic(parts: Sequence[MeasureCells], chosen: Sequence[Bools]) -> tuple[MeasureCells, ...]:
    """Nothing where one margin is the best in every frame cell."""
    return () if sum(bool(kept.any()) for kept in chosen) < 2 else (_joined(parts, chosen),)


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
    places = range(max(len(part.classes) for part in parts))
    return MeasureCells(
        size,
        least,
        most,
        tuple(values),
        sets,
        tuple((a, b, c, d) for a, b, c, d in splits),
        free=False,
        solid=False,
        classes=tuple(_joined_classes(parts, chosen, place) for place in places),
        frame=frame,
        among=_joined_among(parts, chosen),
    )


def _joined_among(parts: Sequence[MeasureCells], chosen: Sequence[Bools]) -> SelectedAmong | None:
    """Where a part does not tell, its rows are by themselves."""
    if not any(part.among for part in parts):
        return None
    place, least, most, number = [], [], [], 0
    for part, kept in zip(parts, chosen, strict=True):
        told = part.among or SelectedAmong(np.arange(part.least.size), part.least, part.most)
        place.append(told.place[kept] + number)
        least.append(told.least)
        most.append(told.most)
        number += told.least.size
    return SelectedAmong(np.concatenate(place), np.concatenate(least), np.concatenate(most))


def _joined_classes(parts: Sequence[MeasureCells], chosen: Sequence[Bools], place: int) -> ClassCells | None:
    """What is told of the classes of the chosen frame cells, which are whole; None where a part cannot tell."""
    kept: list[ClassCells] = []
    for part, rows in zip(parts, chosen, strict=True):
        if not rows.any():
            continue
        told = part.classes[place] if part.classes else None
        if told is None or told.frame is None:
            return None
        kept.append(_of_classes(told, np.isin(told.frame, frame_of(part)[rows])))
    if not kept:
        return None
    classes = np.cumsum([0, *(each.sum_low.size for each in kept)])
    group = np.concatenate([each.group + first for each, first in zip(kept, classes[:-1], strict=True)])
    rest = {
        name: np.concatenate([getattr(each, name) for each in kept])
        for name in (*_OF_ROWS, *_OF_CLASSES)
        if name != "group"
    }
    totals = {}
    if all(each.total_least is not None for each in kept):
        totals = {name: np.concatenate([getattr(each, name) for each in kept]) for name in _TOTALS}
    return ClassCells(**rest, **totals, group=group, integer=kept[0].integer, apart=all(each.apart for each in kept))


_OF_ROWS = ("low", "high", "floor", "ceiling", "size", "least", "most", "group")
_OF_CLASSES = ("sum_low", "sum_high", "var_low", "var_high", "frame")
_TOTALS = ("total_least", "total_most")


def _of_classes(told: ClassCells, classes: Bools) -> ClassCells:
    """Some of the classes."""
    rows = classes[told.group]
    number = np.cumsum(classes) - 1
    kept = {name: getattr(told, name)[rows] for name in _OF_ROWS if name != "group"}
    kept |= {name: getattr(told, name)[classes] for name in _OF_CLASSES}
    if told.total_least is not None:
        kept |= {name: getattr(told, name)[classes] for name in _TOTALS}
    return ClassCells(**kept, group=number[told.group[rows]], integer=told.integer, apart=told.apart)


# -- counts that all margins agree on ----------------------------------------------------------------------------------


def _met(parts: Sequence[MeasureCells], chosen: Sequence[Bools], frames: int) -> tuple[MeasureCells, Bools]:
    """Counts met by frame cell and value, and the frame cells in which that was not possible.

    Where two rows of a frame cell have values that are neither the same nor apart, a record need not be under the same
    values in two margins: there the rows of the mosaic stand.
    """
    everything = _joined(parts, [np.ones(part.least.size, dtype=np.bool_) for part in parts])
    frame = frame_of(everything)
    key, mixed = _keys(everything, frame, frames)
    first, box = _alike(key)
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
    key, _ = _keys(cells, frame, 1 + int(frame.max(initial=-1)))
    first, box = _alike(key)
    return _rows(cells, first, *(added(box, told, first.size) for told in (cells.least, cells.most)))


def _alike(keys: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Of the different rows of keys, in order, where each is first; and which of them each row is.

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


def _keys(cells: MeasureCells, frame: Ints, frames: int) -> tuple[list[Ints], Bools]:
    """Numbers for each row that tell frame cell and values apart, and the frame cells in which values overlap without
    being the same."""
    mixed = np.zeros(frames, dtype=np.bool_)
    key = [frame]
    for value in cells.values:
        order = np.lexsort((value.high, value.low, frame))
        low, high, where = value.low[order], value.high[order], frame[order]
        same = (low[1:] == low[:-1]) & (high[1:] == high[:-1])
        mixed[where[1:][(where[1:] == where[:-1]) & ~same & (low[1:] <= high[:-1])]] = True
        key += [np.unique(end, return_inverse=True)[1].reshape(-1) for end in (value.low, value.high)]
    if cells.sets:
        number = {values: i for i, values in enumerate(dict.fromkeys(cells.sets))}
        key.append(np.array([number[values] for values in cells.sets], dtype=np.int64))
        found = set(zip(frame.tolist(), cells.sets, strict=True))
        held = Counter((cell, value) for cell, values in found for value in values)
        mixed[[cell for (cell, _), sets in held.items() if sets > 1]] = True
    return key, mixed


def _limited(cells: MeasureCells, least: Ints, most: Ints) -> MeasureCells:
    """Rows that leave room for no more records of a frame cell than there are, and for all that must be there."""
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
