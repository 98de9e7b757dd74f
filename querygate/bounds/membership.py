"""How many of a row's records satisfy a condition, at least and at most.

Frechet bounds: for p parts with bounds [l, u] of n, AND gives [max(0, sum l - (p - 1) n), min u] and OR gives [max l,
min(n, sum u)]. NOT has been pushed to the atoms, so only the TRUE side is needed. The bounds are sharp when each column
occurs in one atom, because then any subset of the records may satisfy each of them. Proof:
docs/explanation/proofs/membership.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, reduce

import numpy as np

from querygate.bounds.expression_comparison import outcomes
from querygate.bounds.markov import inside, summed_rows
from querygate.bounds.true_intervals import pieces_of
from querygate.core.block import ALL_NULLS, NO_NULLS, SOME_NULLS, Block, CodeColumn, CodeSets, NumberColumn, SetColumn
from querygate.core.predicate import And, Atom, Comparison, Const, HasAny, Or, Predicate
from querygate.core.types import Bools, Ints


class Membership:
    """Count bounds of conditions on one block. Results for parts are cached, because OR branches need them again.
    `check` is called at every part; it raises when the statement's time is up.
    """

    def __init__(self, block: Block, check: Callable[[], None] = lambda: None) -> None:
        self.block = block
        self.check = check
        self._known: dict[int, tuple[Predicate, Ints, Ints]] = {}  # by identity; the predicate is kept alive with it

    def on(self, block: Block) -> Membership:
        """The same for another block, within the same time."""
        return Membership(block, self.check)

    def counts(self, p: Predicate) -> tuple[Ints, Ints]:
        """(least, most) number of records for which the condition is TRUE, per row."""
        known = self._known.get(id(p))
        if known is None:
            self.check()
            known = self._known[id(p)] = (p, *self._counts(p))
        return known[1], known[2]

    def _counts(self, p: Predicate) -> tuple[Ints, Ints]:
        n = self.block.n
        match p:
            case Const(truth):
                count = n if truth == "true" else np.zeros_like(n)
                return count, count
            case Atom():
                column = self.block.columns[p.column]
                if isinstance(column, SetColumn):
                    return _set_bounds(p, column, self.block)
                return _number_bounds(p, self.block.number(p.column), self.block)
            case HasAny():
                return _code_bounds(p, self.block.codes(p.column), self.block)
            case Comparison():
                return self._comparison(p)
            case And(parts):
                each = [counts for part in parts if (counts := self.counts(part))[0] is not n]  # else it is for all
                if len(each) < 2:
                    return each[0] if each else (n, n)
                least = sum(least for least, _ in each) - (len(each) - 1) * n
                return np.maximum(least, 0), reduce(np.minimum, (most for _, most in each))
            case Or(parts):
                each = [self.counts(part) for part in parts]
                most = np.minimum(sum(most for _, most in each), n)
                return reduce(np.maximum, (least for least, _ in each)), most

    def _comparison(self, p: Comparison) -> tuple[Ints, Ints]:
        """Where both sides are present the comparison decides, certainly or possibly; elsewhere its truth value for
        NULL does."""
        n = self.block.n
        there_least, there_most = self.counts(p.when)
        surely, maybe = outcomes(p, self, there_most > 0)
        if p.null == "true":
            return np.where(surely, n, n - there_most), np.where(maybe, n, n - there_least)
        return np.where(surely, there_least, 0), np.where(maybe, there_most, 0)


def count_bounds(p: Predicate, block: Block) -> tuple[Ints, Ints]:
    """(least, most) number of records for which the condition is TRUE, per row."""
    return Membership(block).counts(p)


def set_status(atom: Atom, column: SetColumn) -> tuple[Bools, Bools]:
    """Per set of the dictionary: is the condition TRUE for all members, and for any?"""
    dictionary = column.dictionary
    truth = np.array([atom.null == "true", *(value in atom.true for value in dictionary.values)])
    hits = np.add.reduceat(truth[dictionary.members + 1].astype(np.int64), dictionary.starts[:-1])
    return hits == dictionary.sizes, hits > 0


def _set_bounds(atom: Atom, column: SetColumn, block: Block) -> tuple[Ints, Ints]:
    must, may = (status[column.sets] for status in set_status(atom, column))
    return np.where(must, block.n, 0), np.where(may, block.n, 0)


def code_status(test: HasAny, column: CodeColumn) -> tuple[Bools, Bools]:
    """Per set of items: is the condition TRUE for every record that may have it, and for any?

    A record certainly has one of the codes if they include all codes of an item; possibly, if they include some, or if
    one of them is suppressed. Proof: docs/explanation/proofs/codes.md.
    """
    told = column.dictionary
    places = _places(told.codes)
    wanted = np.zeros(len(told.codes) + 1, dtype=np.bool_)  # MISSING is the last
    wanted[[places[code] for code in test.codes if code in places]] = True
    sizes = told.sizes
    hits = np.bincount(told.entry_item[wanted[told.entry_code]], minlength=len(sizes))
    surely = _any_member(hits == sizes, told)
    maybe = _any_member(hits > 0, told) | bool(told.suppressed[wanted[:-1]].any())
    return (~maybe, ~surely) if test.negated else (surely, maybe)


@lru_cache(maxsize=16)
def _places(codes: tuple[str, ...]) -> Mapping[str, int]:
    """Where each code is. There may be tens of thousands, and a test uses few."""
    return {code: place for place, code in enumerate(codes)}


def _any_member(of_item: Bools, told: CodeSets) -> Bools:
    """Which sets contain one of these items. A set may be empty."""
    counted = np.append(0, np.cumsum(of_item[told.members]))
    found: Bools = counted[told.starts[1:]] > counted[told.starts[:-1]]
    return found


def _code_bounds(test: HasAny, column: CodeColumn, block: Block) -> tuple[Ints, Ints]:
    must, may = (status[column.sets] for status in code_status(test, column))
    return np.where(must, block.n, 0), np.where(may, block.n, 0)


def _number_bounds(atom: Atom, column: NumberColumn, block: Block) -> tuple[Ints, Ints]:
    # To count is several times as fast as any() where arrays are short.
    has_nulls, is_tight = np.count_nonzero(column.null) > 0, column.tight and block.whole is not None
    if atom.true.is_everything and not has_nulls:
        return block.n, block.n
    if atom.true.is_everything and atom.null == "false" and not is_tight:  # all records with a value, whatever it is
        return np.where(column.null == NO_NULLS, block.n, 0), np.where(column.null != ALL_NULLS, block.n, 0)
    pieces = pieces_of(atom, column)
    nothing = np.zeros(block.size, dtype=np.bool_)
    must = within = nothing if pieces is None else pieces.contain(column.low, column.high)
    may = touched = nothing if pieces is None else pieces.meet(column.low, column.high)
    null_true = atom.null == "true"
    if has_nulls:
        must = ((column.null == ALL_NULLS) | within) & ((column.null == NO_NULLS) | null_true)
        may = ((column.null != ALL_NULLS) & touched) | ((column.null != NO_NULLS) & null_true)
    least, most = block.n * must, block.n * may
    summed = summed_rows(atom.column, column, block)
    if summed is not None and pieces is not None and len(pieces.first) == 1:
        fewest, greatest = inside(summed, pieces)
        least[summed.rows] = np.maximum(least[summed.rows], fewest)
        most[summed.rows] = np.maximum(np.minimum(most[summed.rows], greatest), least[summed.rows])
    if not is_tight or block.whole is None:
        return least, most
    # Tight edges: in a whole class one member sits at each end, and one at least is missing where some are.
    known = block.whole & (column.low < column.high) & (column.null != ALL_NULLS)
    ends = [nothing if pieces is None else pieces.contain(end, end) for end in (column.low, column.high)]
    some = column.null == SOME_NULLS
    sure = ends[0].astype(np.int64) + ends[1] + (some & null_true)
    out = (~ends[0]).astype(np.int64) + ~ends[1] + (some & (not null_true))
    least = np.where(known & ~must, sure, least)
    return least, np.where(known & may, block.n - out, most)
