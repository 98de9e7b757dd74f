"""Cells of several groups, one group after the other: what is computed of all of them is computed at once.

A statement has many groups with few cells each, and a step over an array costs about as much for all of them as for
one. So cells stay together from the block that they are read from to the ranges of means; whoever needs one group by
itself cuts it out.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from querygate.core.frozen_classes import frozen
from querygate.core.plan import MeasureCells, SelectedAmong
from querygate.core.types import Bools, Cells, ClassCells, Ints

OF_ROWS = ("low", "high", "floor", "ceiling", "size", "least", "most")
OF_CLASSES = ("sum_low", "sum_high", "var_low", "var_high")
OF_SOME_CLASSES = ("frame", "total_least", "total_most")


@frozen
class ClassStack:
    """Cells of several groups with the classes they belong to; `selection` is the group of each class, `is_told` says
    of which groups classes are told. A class of two groups is there twice."""

    cells: ClassCells
    selection: Ints
    is_told: Bools

    @property
    def selections(self) -> int:
        return self.is_told.size

    @classmethod
    def of_one(cls, cells: ClassCells) -> ClassStack:
        return cls(cells, np.zeros(cells.sum_low.size, dtype=np.int64), np.ones(1, dtype=np.bool_))

    @classmethod
    def of_groups(cls, told: Sequence[ClassCells | None]) -> ClassStack | None:
        """One group each; None where nothing is told of any."""
        known = next((each for each in told if each is not None), None)
        if known is None:
            return None
        nobody = np.zeros(known.sum_low.size, dtype=np.bool_)
        nothing = cls(_some(known, nobody), known.group[:0], np.zeros(1, dtype=np.bool_))
        return cls.joined([nothing if each is None else cls.of_one(each) for each in told])

    @classmethod
    def joined(cls, stacks: Sequence[ClassStack]) -> ClassStack:
        """The groups of all of them, one after the other."""
        if len(stacks) == 1:
            return stacks[0]
        first = itertools.accumulate((each.selections for each in stacks[:-1]), initial=0)
        selection = np.concatenate([each.selection + start for each, start in zip(stacks, first, strict=True)])
        cells = [each.cells for each in stacks]
        return cls(_together(cells), selection, np.concatenate([each.is_told for each in stacks]))

    def some(self, classes: Bools) -> ClassStack:
        """Without the other classes; the groups are the same."""
        return ClassStack(_some(self.cells, classes), self.selection[classes], self.is_told)

    def beside(self, other: ClassStack) -> ClassStack:
        """With other classes of the same groups."""
        selection = np.concatenate([self.selection, other.selection])
        return ClassStack(_together([self.cells, other.cells]), selection, self.is_told)

    def parts(self) -> list[ClassCells | None]:
        """Group by group."""
        stack = self._in_order()
        cells = stack.cells
        classes = stack.selection.searchsorted(np.arange(self.selections + 1))
        rows, ends = cells.group.searchsorted(classes).tolist(), classes.tolist()
        found: list[ClassCells | None] = []
        for i, is_told in enumerate(self.is_told.tolist()):
            if not is_told:
                found.append(None)
                continue
            a, b = slice(rows[i], rows[i + 1]), slice(ends[i], ends[i + 1])
            found.append(_picked(cells, a, b, cells.group[a] - ends[i]))
        return found

    def _in_order(self) -> ClassStack:
        """By rising groups."""
        if not (self.selection[1:] < self.selection[:-1]).any():
            return self
        order = np.argsort(self.selection, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        cells, group = self.cells, rank[self.cells.group]
        rows = np.argsort(group, kind="stable")
        made = _picked(cells, rows, order, group[rows])
        return ClassStack(made, self.selection[order], self.is_told)


def _some(cells: ClassCells, classes: Bools) -> ClassCells:
    """Some of the classes."""
    rows = classes[cells.group]
    return _picked(cells, rows, classes, (np.cumsum(classes) - 1)[cells.group[rows]])


def _picked(cells: ClassCells, rows: slice | Ints | Bools, classes: slice | Ints | Bools, group: Ints) -> ClassCells:
    """These rows and classes, and the class of each of the rows."""
    kept = {name: getattr(cells, name)[rows] for name in OF_ROWS}
    kept |= {name: getattr(cells, name)[classes] for name in OF_CLASSES}
    kept |= {name: told[classes] for name in OF_SOME_CLASSES if (told := getattr(cells, name)) is not None}
    return ClassCells(**kept, group=group, integer=cells.integer, apart=cells.apart)


def _together(cells: Sequence[ClassCells]) -> ClassCells:
    """One after the other, each with classes of its own."""
    first = itertools.accumulate((each.sum_low.size for each in cells[:-1]), initial=0)
    group = np.concatenate([each.group + start for each, start in zip(cells, first, strict=True)])
    rest = {name: np.concatenate([getattr(each, name) for each in cells]) for name in (*OF_ROWS, *OF_CLASSES)}
    if all(each.frame is not None for each in cells):
        rest["frame"] = np.concatenate([each.frame for each in cells])
    if any(each.total_least is not None for each in cells):
        least, most = zip(*map(_totals, cells), strict=True)
        rest |= {"total_least": np.concatenate(least), "total_most": np.concatenate(most)}
    return ClassCells(**rest, group=group, integer=cells[0].integer, apart=all(each.apart for each in cells))


def _totals(cells: ClassCells) -> tuple[Ints, Ints]:
    """How many of each class are selected: where nobody says, as many as its rows allow."""
    if cells.total_least is not None and cells.total_most is not None:
        return cells.total_least, cells.total_most
    least, most = (np.bincount(cells.group, n, cells.sum_low.size).astype(np.int64) for n in (cells.least, cells.most))
    return least, most


@frozen
class CellStack:
    """Cells of one measure in several groups; `of` is the group of each row, rising. Places of `among` are of all
    groups. What is told of classes is beside the cells, for each wanted value. Where `frames` is not 0, each group has
    so many frame cells of its own."""

    cells: MeasureCells
    of: Ints
    groups: int
    classes: tuple[ClassStack | None, ...] = ()
    frames: int = 0

    @classmethod
    def joined(cls, parts: Sequence[MeasureCells]) -> CellStack:
        """One group each."""
        of = np.repeat(np.arange(len(parts)), [part.least.size for part in parts])
        first = parts[0]
        least, most, size = (np.concatenate([getattr(each, name) for each in parts]) for name in _COUNTS)
        values = []
        for each in zip(*(part.values for part in parts), strict=True):
            low, high = (np.concatenate([getattr(value, end) for value in each]) for end in ("low", "high"))
            values.append(Cells(low, high, least, most, each[0].integer))
        splits = [
            tuple(np.concatenate(same) for same in zip(*each, strict=True))
            for each in zip(*(part.splits for part in parts), strict=True)
        ]
        sets = tuple(itertools.chain.from_iterable(part.sets for part in parts))
        frame = None if first.frame is None else np.concatenate([part.frame for part in parts])
        of_two = tuple((a, b, c, d) for a, b, c, d in splits)
        flags = all(part.free for part in parts), all(part.solid for part in parts)
        cells = MeasureCells(size, least, most, tuple(values), sets, of_two, *flags, (), frame, together(parts))
        told = itertools.zip_longest(*(part.classes for part in parts))
        return cls(cells, of, len(parts), tuple(map(ClassStack.of_groups, told)))

    def take(self, groups: Sequence[int]) -> CellStack:
        """Some of the groups, in this order."""
        if list(groups) == list(range(self.groups)):
            return self
        parts = self.parts()
        return CellStack.joined([parts[group] for group in groups])

    def rows_of_groups(self) -> list[slice]:
        """Where the rows of each group are."""
        ends = self.of.searchsorted(np.arange(self.groups + 1)).tolist()
        return [slice(first, last) for first, last in itertools.pairwise(ends)]

    def has_any(self) -> Bools:
        """In which groups can somebody be selected?"""
        found: Bools = np.bincount(self.of, self.cells.most, self.groups) > 0
        return found

    def parts(self) -> list[MeasureCells]:
        """Group by group."""
        cells = self.cells
        told = [each.parts() if each is not None else [None] * self.groups for each in self.classes]
        classes = list(zip(*told, strict=True)) or [()] * self.groups
        found = []
        for i, a in enumerate(self.rows_of_groups()):
            least, most = cells.least[a], cells.most[a]
            found.append(
                MeasureCells(
                    cells.size[a],
                    least,
                    most,
                    tuple(Cells(value.low[a], value.high[a], least, most, value.integer) for value in cells.values),
                    cells.sets[a] if cells.sets else (),
                    tuple((s[0][a], s[1][a], s[2][a], s[3][a]) for s in cells.splits),
                    cells.free,
                    cells.solid,
                    classes[i],
                    None if cells.frame is None else cells.frame[a] - i * self.frames,
                    None if cells.among is None else _used(cells.among, a),
                )
            )
        return found


_COUNTS = ("least", "most", "size")


def joined_values(parts: Sequence[MeasureCells]) -> Cells:
    """The intervals of the first wanted value of all parts, one after the other."""
    values = [part.values[0] for part in parts]
    low, high, least, most = (
        np.concatenate([getattr(value, name) for value in values]) for name in ("low", "high", "least", "most")
    )
    return Cells(low, high, least, most, values[0].integer)


def together(parts: Sequence[MeasureCells]) -> SelectedAmong | None:
    """How many are selected in rows of all parts; where a part does not tell, its rows are by themselves."""
    if not any(part.among for part in parts):
        return None
    told = [each.among or SelectedAmong(np.arange(each.least.size), each.least, each.most) for each in parts]
    first = itertools.accumulate((each.least.size for each in told[:-1]), initial=0)
    place = np.concatenate([each.place + start for each, start in zip(told, first, strict=True)])
    return SelectedAmong(place, *(np.concatenate([getattr(each, name) for each in told]) for name in ("least", "most")))


def _used(among: SelectedAmong, rows: slice) -> SelectedAmong:
    """Of the places that some rows have."""
    used, place = np.unique(among.place[rows], return_inverse=True)
    return SelectedAmong(place.reshape(-1), among.least[used], among.most[used])
