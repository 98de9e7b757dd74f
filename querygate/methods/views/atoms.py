"""Atoms: records that no class of any view parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from querygate.core.types import Ints
from querygate.methods.views.frontier import Frontier


@dataclass(frozen=True)
class Atoms:
    """`labels` (views x atoms) are the classes of each atom, `sizes` the number of classes of each view."""

    labels: Ints
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, views: Sequence[Frontier], leaf: Ints) -> tuple[Atoms, Ints]:
        """Atoms of rows with leaves (views x rows), in order of their classes; and the atom of each row."""
        found, atom = distinct_columns(np.stack([view.of(own) for view, own in zip(views, leaf, strict=True)]))
        return cls(found, tuple(view.classes for view in views)), atom

    @property
    def number(self) -> int:
        return int(self.labels.shape[1])

    @property
    def divided(self) -> list[int]:
        """The views that have more than one class here."""
        return [view for view, size in enumerate(self.sizes) if size > 1]

    @property
    def offsets(self) -> Ints:
        """The place of each view's first class among the classes of all views."""
        return np.cumsum([0, *self.sizes[:-1]])

    @property
    def incidence(self) -> csr_array:
        """Classes of all views x atoms: 1 where the atom is in the class."""
        rows = (self.labels + self.offsets[:, None]).reshape(-1)
        columns = np.tile(np.arange(self.number), len(self.sizes))
        return csr_array((np.ones(rows.size), (rows, columns)), shape=(sum(self.sizes), self.number))

    def sums(self, figures: Ints) -> Ints:
        """Figures by atom (the last axis) added up by class exactly; classes of all views one after another."""
        total = np.zeros((*figures.shape[:-1], sum(self.sizes)), dtype=figures.dtype)
        for labels, offset in zip(self.labels, self.offsets, strict=True):
            np.add.at(total.T, labels + offset, figures.T)
        return total


def by_atom(atom: Ints, figures: Ints, number: int) -> Ints:
    """Figures by row added up by atom, in whole numbers."""
    total = np.zeros(number, dtype=np.int64)
    np.add.at(total, atom, figures)
    return total


def distinct_columns(codes: Ints) -> tuple[Ints, Ints]:
    """The different columns of a matrix in order, and which of them each column is."""
    radix = codes.max(axis=1, initial=0) + 2
    if np.prod(radix.astype(float)) >= 2.0**62:
        found, place = np.unique(codes, axis=1, return_inverse=True)
        return found, place.reshape(-1)
    key = np.zeros(codes.shape[1], dtype=np.int64)
    for row, size in zip(codes, radix.tolist(), strict=True):
        key = key * size + row + 1
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    return codes[:, first], place.reshape(-1)
