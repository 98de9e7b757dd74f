"""The letters of DNA as a lattice: what two of them have in common, and how far each is from it.

A symbol is the set of what may stand at a site, as bits: A, C, G, T and no base at all (a gap). IUPAC-IUB names the
fifteen sets of bases (Cornish-Bowden, Nucleic Acids Research 1985), so their least common generalisation is the union,
and the level of a symbol is the number of its bases, as in Malin ("Protecting genomic sequence anonymity with
generalization lattices", Methods of Information in Medicine 2005): A, C, G, T on level 1, R (A or G) and its like on
level 2, B (not A) and its like on level 3, N on level 4. The distance of two symbols is the number of steps from both
up to what they have in common: A to G is 2 by way of R, A to B is 4 by way of N.

Gaps are where lattices differ, for no letter says "A or nothing". A lattice here is a *closure* on sets: a union that
has no letter becomes the least set that has one.

- `IUPAC`, the default: N is any base, and ? any base or none (as missing data are in NEXUS and PHYLIP). A gap with
  anything else is ?. So that its steps can be counted, a gap stands one below ?, as N does: gap 4, ? 5.
- `DNALA`, as published: N is anything, a gap included; gap 3, N 4. For comparison with published distances. Who takes N
  for a base is misled where there was none.
- `TREE`, of Lin, Hewett and Altman (2002): purines (R) and pyrimidines (Y), then any base; each letter has one parent.

>>> IUPAC.join("A", "G"), IUPAC.distance("A", "G"), IUPAC.join("R", "Y"), IUPAC.join("A", "-"), IUPAC.distance("A", "-")
('R', 2, 'N', '?', 5)
>>> DNALA.join("A", "-"), DNALA.distance("A", "-"), DNALA.distance("-", "-")
('N', 4, 0)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from querygate.core.registry import Registry
from querygate.core.types import Ints

Codes: TypeAlias = NDArray[np.uint8]

GAP, ANY_BASE, ANYTHING = 16, 15, 31
SETS = 32
"""Every set of four bases and the gap, with the empty one, which no symbol is."""

MEANS: dict[str, int] = {"A": 1, "C": 2, "G": 4, "T": 8, "-": GAP}
MEANS |= {"R": 5, "Y": 10, "S": 6, "W": 9, "K": 12, "M": 3}
MEANS |= {"B": 14, "D": 13, "H": 11, "V": 7, "N": ANY_BASE, "?": ANYTHING}
"""What may be read, as sets."""


@dataclass(frozen=True)
class LetterLattice:
    """A closure on sets of bases and the gap, with the letters and the levels of its closed sets.

    `closure[s]` is the least set with a letter that contains s; `level[s]` is the level of that set.
    """

    name: str
    letters: dict[int, str]
    closure: Codes
    level: Ints

    @cached_property
    def steps(self) -> Ints:
        """steps[a, b]: how far up a has to go to cover b as well."""
        every = np.arange(SETS)
        found: Ints = self.level[every[:, None] | every] - self.level[:, None]
        return found

    @cached_property
    def ambiguity(self) -> NDArray[np.float64]:
        """Bits that are missing to know what stands there: log2 of the size of the set."""
        sizes = np.bitwise_count(self.closure).astype(np.float64)
        return np.log2(np.maximum(sizes, 1.0))

    def join(self, one: str, other: str) -> str:
        """The letter of the least common generalisation of two letters."""
        return self.letters[int(self.closure[MEANS[one] | MEANS[other]])]

    def distance(self, one: str, other: str) -> int:
        """The steps of both up to their least common generalisation."""
        a, b = MEANS[one], MEANS[other]
        return int(self.steps[a, b] + self.steps[b, a])


def _lattice(name: str, closed: dict[str, int], levels: dict[int, int]) -> LetterLattice:
    """Of the letters that may be written. Sets of bases are on the level of their size; others are given."""
    letters = {means: letter for letter, means in closed.items()}
    closure = np.zeros(SETS, dtype=np.uint8)
    level = np.zeros(SETS, dtype=np.int64)
    for some in range(1, SETS):
        least = min((s for s in letters if s & some == some), key=int.bit_count)
        closure[some] = least
        level[some] = levels.get(least, least.bit_count())
    return LetterLattice(name, letters, closure, level)


IUPAC = _lattice("iupac", MEANS, {GAP: 4, ANYTHING: 5})
DNALA = _lattice("dnala", {**{c: s for c, s in MEANS.items() if c not in "N?"}, "N": ANYTHING}, {GAP: 3, ANYTHING: 4})
TREE = _lattice("tree", {c: MEANS[c] for c in "ACGTRYN-?"}, {ANY_BASE: 3, GAP: 3, ANYTHING: 4})

LATTICES: Registry[LetterLattice] = Registry("lattice of DNA letters")
LATTICES.register(IUPAC.name, IUPAC)
LATTICES.register(DNALA.name, DNALA)
LATTICES.register(TREE.name, TREE)
