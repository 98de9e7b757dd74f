"""Distances of all sequences to all, in blocks, as products of matrices.

The distance of two symbols is an entry of a table, so the sum over sites is a product: a row says for each site which
symbol stands there (ones and noughts), a column what each symbol would be away from the one that stands there. Sites
where all sequences agree add nothing and are left out. Blocks bound the memory whatever the number of sequences; the
whole matrix is kept where it is small.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from querygate.core.types import Ints
from querygate.methods.sequences.alignment import Alignment
from querygate.methods.sequences.letter_lattice import SETS, Codes

Distance: TypeAlias = NDArray[np.int32]

ROWS, SITES = 1024, 1024
"""Sequences and sites of a block. A block's sums stay far below 2^24, where single precision is exact."""

KEPT = 8_192
"""Up to so many sequences all distances are kept (256 MB)."""


class SequenceDistances:
    """Of an alignment: between[i, j] is the sum over sites of the steps of both up to what they have in common."""

    def __init__(self, alignment: Alignment, kept: int = KEPT) -> None:
        codes = alignment.codes
        self._codes: Codes = np.ascontiguousarray(codes[:, (codes != codes[0]).any(axis=0)])
        self._symbols = np.unique(self._codes)
        self._between = alignment.lattice.steps + alignment.lattice.steps.T
        self.size = len(codes)
        self._kept = self._all() if self.size <= kept else None

    def between(self, rows: Ints, columns: Ints) -> Distance:
        """The distance of each of the rows to each of the columns."""
        if self._kept is not None:
            return self._kept[np.ix_(rows, columns)]
        if len(rows) == 1:
            return self._looked_up(int(rows[0]), columns)
        return self._blocks(self._between, rows, columns)

    def _looked_up(self, row: int, columns: Ints) -> Distance:
        """Of one row: to look each symbol up is cheaper than to spread all columns for a product with one row."""
        found = np.zeros((1, len(columns)), dtype=np.int32)
        table = self._between.astype(np.uint8).reshape(-1)
        at = self._codes[row].astype(np.uint16) * SETS
        for start in range(0, len(columns), ROWS):
            some = self._codes[columns[start : start + ROWS]]
            found[0, start : start + ROWS] = table[at + some].sum(axis=1, dtype=np.int32)
        return found

    def _all(self) -> Distance:
        found = np.zeros((self.size, self.size), dtype=np.int32)
        every = np.arange(self.size)
        for start in range(0, self.size, ROWS):
            rows, columns = every[start : start + ROWS], every[start:]
            block = self._blocks(self._between, rows, columns)
            found[start : start + ROWS, start:] = block
            found[start:, start : start + ROWS] = block.T
        return found

    def _blocks(self, table: Ints, rows: Ints, columns: Ints) -> Distance:
        found = np.zeros((len(rows), len(columns)), dtype=np.int32)
        for site in range(0, self._codes.shape[1], SITES):
            codes = self._codes[:, site : site + SITES]
            for top in range(0, len(rows), ROWS):
                stands = self._spread(codes[rows[top : top + ROWS]], np.eye(SETS))
                for left in range(0, len(columns), ROWS):
                    away = self._spread(codes[columns[left : left + ROWS]], table.T)
                    found[top : top + ROWS, left : left + ROWS] += (stands @ away.T).astype(np.int32)
        return found

    def _spread(self, codes: Codes, table: NDArray[np.generic]) -> NDArray[np.float32]:
        """For each symbol at each site, the entries of its row of the table at the symbols that occur."""
        entries = table[:, self._symbols].astype(np.float32)
        return entries[codes].reshape(len(codes), -1)


def nearest(distances: SequenceDistances, rows: Ints, columns: Ints, most: int) -> tuple[Ints, Ints]:
    """The nearest of the columns to each of the rows, itself left out: their keys and numbers, nearest first.

    A key orders pairs: by distance, then by the exclusive or of the two numbers. That is the same seen from both ends
    and differs for all pairs of one sequence, so that many at one distance are each other's nearest two by two; were
    ties broken by the lower number, all would queue for the first. -1 is nobody.
    """
    found = np.full((2, len(rows), most), -1, dtype=np.int64)
    bits = max(distances.size - 1, 1).bit_length()
    for start in range(0, len(rows), ROWS):
        some = rows[start : start + ROWS]
        keys = distances.between(some, columns).astype(np.int64) << bits | (some[:, None] ^ columns)
        keys[some[:, None] == columns] = np.iinfo(np.int64).max
        count = min(most, len(columns))
        best = np.argpartition(keys, count - 1, axis=1)[:, :count] if count < len(columns) else None
        best = np.broadcast_to(np.arange(len(columns)), keys.shape) if best is None else best
        best = np.take_along_axis(best, np.argsort(np.take_along_axis(keys, best, axis=1), axis=1), axis=1)
        ordered = np.take_along_axis(keys, best, axis=1)
        nobody = ordered == np.iinfo(np.int64).max
        found[0, start : start + ROWS, :count] = np.where(nobody, -1, ordered)
        found[1, start : start + ROWS, :count] = np.where(nobody, -1, columns[best])
    return found[0], found[1]
