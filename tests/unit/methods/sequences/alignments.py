"""Sequences for tests, and the plain ways of computing what the package computes cleverly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from querygate.core.types import Ints
from querygate.methods.sequences import DNALA, IUPAC, Alignment, generalised, measure, of_texts, verify
from querygate.methods.sequences.distance_matrix import SequenceDistances
from querygate.methods.sequences.letter_lattice import LetterLattice
from querygate.methods.sequences.sequence_measures import SequenceMeasures
from tests.places import DATA

DNA = DATA / "dna"


def woodmouse(lattice: LetterLattice = IUPAC) -> Alignment:
    """FASTA: a line > with a name, then lines of letters."""
    entries = (DNA / "woodmouse_cytb_15x965.fasta").read_text().split(">")[1:]
    named = [(entry.split()[0], "".join(entry.splitlines()[1:])) for entry in entries]
    return of_texts([text for _, text in named], [name for name, _ in named], lattice)


def opuntia(lattice: LetterLattice = IUPAC) -> Alignment:
    """Clustal: a heading, then blocks with a line for every sequence: name and letters."""
    parts: dict[str, str] = {}
    for line in (DNA / "opuntia_7x906.aln").read_text().splitlines()[1:]:
        if line and not line[0].isspace():
            name, letters = line.split()
            parts[name] = parts.get(name, "") + letters
    return of_texts(list(parts.values()), list(parts), lattice)


def anything(
    sequences: int, sites: int, seed: int, letters: str = "ACGTRYN-?", lattice: LetterLattice = IUPAC
) -> Alignment:
    """Random letters, the first four mostly."""
    random = np.random.default_rng(seed)
    likely = np.array([1.0] * 4 + [0.2] * (len(letters) - 4))
    chosen = random.choice(list(letters), (sequences, sites), p=likely / likely.sum())
    return of_texts(["".join(row) for row in chosen], None, lattice)


def family(sequences: int, sites: int, seed: int, changes: float = 4.0) -> Alignment:
    """Each sequence descends from one before it, with a few changes."""
    random = np.random.default_rng(seed)
    codes = np.empty((sequences, sites), dtype=np.uint8)
    codes[0] = 1 << random.integers(0, 4, sites)
    for child in range(1, sequences):
        codes[child] = codes[random.integers(0, child)]
        where = random.integers(0, sites, random.poisson(changes))
        codes[child, where] = 1 << random.integers(0, 4, where.size)
    return Alignment(codes, tuple(str(one) for one in range(sequences)))


class Release(NamedTuple):
    """Generalised sequences and what was kept."""

    alignment: Alignment
    kept: SequenceMeasures


def released(alignment: Alignment, labels: Ints, k: int = 2) -> Release:
    """A division, generalised and verified."""
    made = generalised(alignment, labels)
    assert verify(alignment.texts(), made.texts(), k, n_may_be_gap=alignment.lattice is DNALA).holds
    return Release(made, measure(alignment, made))


def least_possible(alignment: Alignment, k: int = 2) -> int:
    """Steps that no division into groups of k or more goes below, whatever the groups.

    A sequence in such a group covers k - 1 others, so it goes up at least as far as for the (k-1)-th that costs it
    least. A bound for any number of sequences; the exact limit of pairs is `optimal`, for as many as it can take.
    """
    far, every, total = SequenceDistances(alignment, kept=0), np.arange(alignment.sequences), 0
    for rows in np.array_split(every, -(-every.size // 1024)):
        steps = far._blocks(alignment.lattice.steps, rows, every)
        # Itself costs nothing and is one of the k cheapest: of those the dearest is the last of k.
        total += int(np.partition(steps, k - 1, axis=1)[:, k - 1].sum())
    return total


def slow_distance(alignment: Alignment, one: int, other: int) -> int:
    texts = alignment.texts()
    return sum(alignment.lattice.distance(a, b) for a, b in zip(texts[one], texts[other], strict=True))


def slow_loss(alignment: Alignment, groups: list[list[int]]) -> int:
    """Member by member, site by site."""
    texts, lattice, total = alignment.texts(), alignment.lattice, 0
    for group in groups:
        for letters in zip(*(texts[one] for one in group), strict=True):
            common = letters[0]
            for letter in letters:
                common = lattice.join(common, letter)
            # From a letter up to one that covers it, the distance is the steps of the letter alone.
            total += sum(lattice.distance(letter, common) for letter in letters)
    return total


def pairings(some: list[int]) -> Iterator[list[list[int]]]:
    """All divisions of an even number into pairs."""
    if not some:
        yield []
        return
    for place in range(1, len(some)):
        for rest in pairings(some[1:place] + some[place + 1 :]):
            yield [[some[0], some[place]], *rest]


def divisions(n: int) -> Iterator[list[list[int]]]:
    """All divisions into pairs, with one group of three where n is odd."""
    if n % 2 == 0:
        yield from pairings(list(range(n)))
        return
    for a in range(n):
        for b in range(a + 1, n):
            for c in range(b + 1, n):
                for rest in pairings([one for one in range(n) if one not in (a, b, c)]):
                    yield [[a, b, c], *rest]
