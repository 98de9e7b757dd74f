"""Aligned sequences: as many sites in each, a symbol at each site."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Ints
from querygate.methods.sequences.bad_sequences import BadSequences
from querygate.methods.sequences.letter_lattice import IUPAC, MEANS, SETS, Codes, LetterLattice

_READ = np.zeros(128, dtype=np.uint8)
for _letter, _means in MEANS.items():
    _READ[ord(_letter)] = _READ[ord(_letter.lower())] = _means


@dataclass(frozen=True, slots=True)
class Alignment:
    """One row for each sequence, one column for each site; a symbol is the set it stands for.

    Names are of the source. They often identify, so nothing here writes them unless asked to.
    """

    codes: Codes
    names: tuple[str, ...]
    lattice: LetterLattice = IUPAC

    def __post_init__(self) -> None:
        if self.codes.ndim != 2 or len(self.names) != len(self.codes):
            raise ValueError("one row of symbols and one name for each sequence")

    @property
    def sequences(self) -> int:
        return len(self.codes)

    @property
    def sites(self) -> int:
        return int(self.codes.shape[1])

    def texts(self) -> list[str]:
        """The sequences as letters, in order.

        >>> of_texts(["acg-", "ARGN"]).texts()
        ['ACG-', 'ARGN']
        """
        letters = np.zeros(SETS, dtype=np.uint8)
        for means, letter in self.lattice.letters.items():
            letters[means] = ord(letter)
        return [row.tobytes().decode("ascii") for row in letters[self.codes]]


def of_texts(texts: Sequence[str], names: Sequence[str] | None = None, lattice: LetterLattice = IUPAC) -> Alignment:
    """Sequences from their letters. Small letters are read as capitals: where a file masks by case, that is lost.

    Raises BadSequences with the number of the sequence (from 1) and of the site (from 1).
    """
    if not texts:
        raise BadSequences("There are no sequences.", "Give at least two aligned sequences.")
    sites = len(texts[0])
    if not sites:
        raise BadSequences("Sequence 1 is empty.", "Give aligned sequences of at least one site.")
    codes = np.empty((len(texts), sites), dtype=np.uint8)
    for place, text in enumerate(texts, 1):
        if len(text) != sites:
            raise BadSequences(
                f"Sequence {place:,} has {len(text):,} sites, but sequence 1 has {sites:,}.",
                "Align the sequences first, with - for gaps.",
            )
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        row = _READ[np.minimum(points, _READ.size - 1)]
        if not row.all():
            raise BadSequences(
                f"Sequence {place:,} has a letter at site {int(np.argmin(row)) + 1:,} that is not DNA.",
                "Use the IUPAC letters ACGT RYSWKM BDHV N, - for a gap and ? for unknown; write T for U.",
            )
        codes[place - 1] = row
    names = tuple(names) if names is not None else tuple(str(one) for one in range(1, len(texts) + 1))
    return Alignment(lattice.closure[codes], names, lattice)


def generalised(alignment: Alignment, labels: Ints) -> Alignment:
    """Every sequence of a group replaced by what the group has in common.

    >>> import numpy as np
    >>> generalised(of_texts(["AAC", "GAC", "TTT"]), np.array([0, 0, 1])).texts()
    ['RAC', 'RAC', 'TTT']
    """
    return Alignment(joins(alignment, labels)[labels], alignment.names, alignment.lattice)


def joins(alignment: Alignment, labels: Ints) -> Codes:
    """What each group has in common, one row for each of the groups, numbered from 0 without a hole."""
    order = np.argsort(labels, kind="stable")
    first = np.flatnonzero(np.diff(labels[order], prepend=-1))
    return alignment.lattice.closure[np.bitwise_or.reduceat(alignment.codes[order], first, axis=0)]


def loss(alignment: Alignment, labels: Ints) -> int:
    """The steps of all sequences up to what their groups have in common, over all sites. Of a pair: its distance.

    >>> import numpy as np
    >>> loss(of_texts(["AAC", "GAC", "GTC"]), np.array([0, 0, 0]))
    6
    """
    level = alignment.lattice.level
    common = level[joins(alignment, labels)].sum(axis=1)
    return int((common * np.bincount(labels)).sum() - level[alignment.codes].sum())
