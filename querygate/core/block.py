"""Published cells as arrays: what an engine hands over, already grouped to the columns that a statement uses.

A row of a block stands for `n` records that share what is published of those columns. Numbers are intervals with a
null state (0 none, 1 some, 2 all of the records miss the value), categories are sets of values, code lists are sets of
generalised items.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from querygate.core.frozen_classes import frozen
from querygate.core.types import Bools, Floats, Ints

MISSING = -1
"""The value id of NULL as a member of a set."""

NO_NULLS, SOME_NULLS, ALL_NULLS = 0, 1, 2


@frozen
class Dictionary:
    """Sets 0..m-1 over values 0..v-1: set s holds value ids members[starts[s]:starts[s + 1]], never none.

    >>> letters = Dictionary.of(["a", "b"], [(0, MISSING), (0, 1), (1, 0)])
    >>> letters.sizes, letters.values
    (array([2, 1]), ('a', 'b'))
    """

    values: tuple[str, ...]
    starts: Ints
    members: Ints

    @classmethod
    def of(cls, values: Sequence[str], pairs: Iterable[tuple[int, int]]) -> Dictionary:
        """From (set id, value id) pairs in order of set id."""
        table = np.array(list(pairs), dtype=np.int64).reshape(-1, 2)
        sets = int(table[-1, 0]) + 1 if len(table) else 0
        starts = np.searchsorted(table[:, 0], np.arange(sets + 1))
        return cls(tuple(values), starts.astype(np.int64), table[:, 1].copy())

    @classmethod
    def singletons(cls, values: Sequence[str]) -> Dictionary:
        """Set 0 is {NULL}, set v + 1 is {value v}."""
        return cls(tuple(values), np.arange(len(values) + 2), np.arange(-1, len(values)))

    @property
    def sizes(self) -> Ints:
        return np.diff(self.starts)


@frozen
class NumberColumn:
    """Intervals. Ends are int64 on whole-number axes (integers, dates), else float64; moot where all are missing."""

    low: Floats | Ints
    high: Floats | Ints
    null: Ints
    tight: bool = False  # in a row that is a whole class, members sit at both ends

    @property
    def integer(self) -> bool:
        return self.low.dtype.kind == "i"

    def take(self, rows: Ints) -> NumberColumn:
        return NumberColumn(self.low[rows], self.high[rows], self.null[rows], self.tight)


@frozen
class SetColumn:
    """Value sets by id."""

    sets: Ints
    dictionary: Dictionary

    def take(self, rows: Ints) -> SetColumn:
        return SetColumn(self.sets[rows], self.dictionary)


@frozen
class CodeSets:
    """Sets 0..m-1 of generalised items over codes 0..c-1: set s holds items members[starts[s]:starts[s + 1]].

    Item entry_item[e] has code entry_code[e]. A record whose set holds an item has at least one of the item's codes, or
    perhaps none where MISSING is among them; of codes in none of its items it has none. A code that is in no item at
    all is suppressed: nothing is known of who has it.

    >>> pair = CodeSets.of(["296.00", "296.01", "296.02"], [0, 0, MISSING], [[], [0]])
    >>> pair.sizes, pair.members, pair.starts, pair.suppressed
    (array([2]), array([0]), array([0, 0, 1]), array([False, False,  True]))
    """

    codes: tuple[str, ...]
    entry_item: Ints
    entry_code: Ints
    starts: Ints
    members: Ints

    def __post_init__(self) -> None:
        """A store in which an item means nothing is damaged: to read it as "nobody has the code" would be wrong."""
        held = np.unique(self.entry_item)
        if not np.array_equal(held, np.arange(len(held))) or not np.isin(self.members, held).all():
            raise ValueError("there is an item without codes")
        entries = np.stack([self.entry_item, self.entry_code])
        if np.unique(entries, axis=1).shape != entries.shape or (self.entry_code < MISSING).any():
            raise ValueError("an item has a code twice, or one that does not exist")

    @classmethod
    def of(cls, codes: Sequence[str], items: Sequence[int], sets: Iterable[Sequence[int]]) -> CodeSets:
        """From the one item that each code belongs to, MISSING for none, and the items of each set."""
        item = np.array(items, dtype=np.int64)
        kept = np.flatnonzero(item != MISSING)
        entries = kept[np.argsort(item[kept], kind="stable")]
        return cls(tuple(codes), item[entries], entries, *_listed(sets))

    @classmethod
    def of_groups(
        cls, codes: Sequence[str], groups: Sequence[Sequence[int]], sets: Iterable[Sequence[int]]
    ) -> CodeSets:
        """From the codes of each item, which may overlap, and the items of each set.

        >>> CodeSets.of_groups(["a", "b"], [(0,), (0, 1)], [[], [0], [1]]).sizes
        array([1, 2])
        """
        starts, entry_code = _listed(map(sorted, groups))
        return cls(tuple(codes), np.repeat(np.arange(len(groups)), np.diff(starts)), entry_code, *_listed(sets))

    @property
    def sizes(self) -> Ints:
        """How many codes each item has, MISSING counted as one."""
        return np.bincount(self.entry_item)

    @property
    def suppressed(self) -> Bools:
        """Which codes are in no item."""
        found = np.ones(len(self.codes), dtype=np.bool_)
        found[self.entry_code[self.entry_code != MISSING]] = False
        return found


def _listed(lists: Iterable[Sequence[int]]) -> tuple[Ints, Ints]:
    """Where each list begins, and all of them one after another."""
    found = [np.array(members, dtype=np.int64) for members in lists]
    starts = np.cumsum([0, *map(len, found)])
    return starts, np.concatenate([starts[:0], *found])


@frozen
class CodeColumn:
    """Sets of generalised items by id."""

    sets: Ints
    dictionary: CodeSets

    def take(self, rows: Ints) -> CodeColumn:
        return CodeColumn(self.sets[rows], self.dictionary)


BlockColumn: TypeAlias = NumberColumn | SetColumn | CodeColumn


@frozen
class ClassMoments:
    """What is published of a number in classes `label`, rising: the sum of its `n` known values lies in [sum_low,
    sum_high], their variance in [var_low, var_high] (NaN: not told). A class that is not listed tells nothing.
    """

    label: Ints
    n: Ints
    sum_low: Floats
    sum_high: Floats
    var_low: Floats
    var_high: Floats

    def places(self, labels: Ints) -> Ints:
        """Where each class stands here, -1 for one that is not listed."""
        at = np.minimum(np.searchsorted(self.label, labels), max(self.label.size - 1, 0))
        found = self.label[at] == labels if self.label.size else np.zeros(labels.size, dtype=np.bool_)
        return np.where(found, at, -1)


@frozen
class RowClasses:
    """The class of each row, the row of the projected block that it came from, and what is told about classes."""

    label: Ints
    row: Ints
    moments: Mapping[str, ClassMoments]

    def take(self, rows: Ints) -> RowClasses:
        return RowClasses(self.label[rows], self.row[rows], self.moments)

    def without(self, name: str) -> RowClasses:
        """Of a column whose intervals were changed, class sums no longer say anything."""
        return RowClasses(self.label, self.row, {key: told for key, told in self.moments.items() if key != name})


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Block:
    """Rows of cells. `whole` tells which rows are a whole class (needed for tight edges only). A block equals itself
    alone, so that what was made of it can be kept beside it.

    `told` are numbers of whose classes more is published than intervals: what ignores that is not sharp. `classified`
    has it, where the block was projected for it. `frame` is the frame cell of each row of a margin: margins of one
    version divide the records of a frame cell in ways of their own, and all of them have the same records in it.
    """

    n: Ints
    columns: Mapping[str, BlockColumn] = field(default_factory=dict)
    whole: Bools | None = None
    told: frozenset[str] = frozenset()
    classified: RowClasses | None = None
    frame: Ints | None = None

    @property
    def size(self) -> int:
        return len(self.n)

    @property
    def nbytes(self) -> int:
        """Memory held by the arrays of the rows."""
        numbers = (
            c.low.nbytes + c.high.nbytes + c.null.nbytes for c in self.columns.values() if isinstance(c, NumberColumn)
        )
        sets = (c.sets.nbytes for c in self.columns.values() if isinstance(c, SetColumn | CodeColumn))
        labels = 0 if self.classified is None else self.classified.label.nbytes * 2
        labels += 0 if self.frame is None else self.frame.nbytes
        return int(self.n.nbytes + sum(numbers) + sum(sets) + labels)

    def number(self, name: str) -> NumberColumn:
        column = self.columns[name]
        if not isinstance(column, NumberColumn):
            raise TypeError(f"{name} is no number")
        return column

    def category(self, name: str) -> SetColumn:
        column = self.columns[name]
        if not isinstance(column, SetColumn):
            raise TypeError(f"{name} is no category")
        return column

    def codes(self, name: str) -> CodeColumn:
        column = self.columns[name]
        if not isinstance(column, CodeColumn):
            raise TypeError(f"{name} is no code list")
        return column

    def take(self, rows: Ints) -> Block:
        """These rows, in this order, some perhaps several times."""
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        whole = None if self.whole is None else self.whole[rows]
        classified = None if self.classified is None else self.classified.take(rows)
        frame = None if self.frame is None else self.frame[rows]
        return Block(self.n[rows], columns, whole, self.told, classified, frame)

    def with_column(self, name: str, column: BlockColumn) -> Block:
        classified = None if self.classified is None else self.classified.without(name)
        return Block(self.n, {**self.columns, name: column}, self.whole, self.told, classified, self.frame)
