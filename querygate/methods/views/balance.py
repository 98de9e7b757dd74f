"""Several views together: no combination of their classes is about fewer than k people, or mostly about one (R2*).

Claim: every combination v of class indicators other than 0 has sum w |v| >= k max |v| over atoms of weight w. It is
shown atom by atom: for an atom a lighter than k people there are numbers z with A z = 0, z_a >= k - w_a, |z_b| <= w_b
elsewhere. A programme finds them; whole numbers over a common denominator are kept, and are checked as such. Where
there are none, the dual of the programme is a combination that breaks the claim, and the newest view is coarsened where
it has different figures.

Proof: docs/explanation/proofs/views-balance.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import lcm

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.methods.views.atoms import Atoms, by_atom
from querygate.methods.views.frontier import Collapse, Frontier, collapse_greedily
from querygate.methods.views.linear_programme import ZeroSums
from querygate.methods.views.rationals import solve_exactly
from querygate.methods.views.tree import ROOT

REASON = "together with the views before it would tell of fewer than k people"
DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 12, 60, 2520)
"""What the numbers of a corner of the programme are tried over, before they are solved for as fractions."""

SAME = 1e-7


@dataclass(frozen=True)
class Balance:
    """A certificate for one atom: numbers by atom over a common denominator."""

    atom: int
    numbers: tuple[int, ...]
    denominator: int

    def holds(self, atoms: Atoms, weights: Ints, least: int) -> bool:
        """Checked in whole numbers."""
        is_small = max(map(abs, self.numbers)) < 2**40 and self.denominator * max(least, int(weights.max())) < 2**60
        kind = np.int64 if is_small else object  # sums of large ones would not fit
        figures, bound = np.array(self.numbers, dtype=kind), weights.astype(kind) * self.denominator
        if atoms.sums(figures).any():
            return False
        others = np.arange(atoms.number) != self.atom
        return bool(
            figures[self.atom] >= self.denominator * least - bound[self.atom]
            and (np.abs(figures) <= bound)[others].all()
        )

    def joined(self, place: Ints, number: int) -> Balance:
        """The certificate where atoms have been joined, each into that at its place: it holds as well as before."""
        total = np.zeros(number, dtype=object)
        np.add.at(total, place, np.array(self.numbers, dtype=object))
        return Balance(int(place[self.atom]), tuple(int(one) for one in total), self.denominator)


def balanced(
    views: Sequence[Frontier], leaf: Ints, weights: Ints, least: int
) -> tuple[Frontier, list[Balance], list[Collapse]]:
    """The last view, coarsened until R2* holds for all together; and a certificate for each light atom.

    At its root it needs none: it adds nothing to the views before, which hold by themselves.
    """
    earlier, newest = list(views[:-1]), views[-1]
    done: list[Collapse] = []
    found: list[Balance] = []
    before = np.zeros(0, dtype=np.int64)
    while not newest.is_root:
        atoms, atom = Atoms.of([*earlier, newest], leaf)
        held = by_atom(atom, weights, atoms.number)
        place = np.zeros(int(before.max(initial=-1)) + 1, dtype=np.int64)
        place[before], before = atom if before.size else before, atom
        found, broken = certificates(atoms, held, least, [one.joined(place, atoms.number) for one in found])
        if not broken:
            return newest, found, done
        steps = broken_steps(broken)[:, -newest.classes :]
        (newest,), more = collapse_greedily([newest], [newest.divides(steps)], REASON)
        if not more:  # a programme that found no exact numbers, and no figures that differ either
            newest, more = newest.collapsed(ROOT), [Collapse(0, ROOT, REASON, len(broken))]
        done += [replace(one, view=len(earlier)) for one in more]
    return newest, [], done


def certificates(
    atoms: Atoms, weights: Ints, least: int, known: Iterable[Balance] = ()
) -> tuple[list[Balance], list[Floats]]:
    """Certificates of the light atoms that have one, and for the others the figures by class that break the claim."""
    found = {one.atom: one for one in known if one.holds(atoms, weights, least)}
    broken = []
    programme = ZeroSums(atoms.incidence, weights / least)
    for atom in np.flatnonzero(weights < least).tolist():
        if atom in found:
            continue
        corner = programme.greatest(atom, 1.0 - weights[atom] / least)
        one = None if corner is None else _exact(atoms, weights, least, atom, corner.found)
        if one is not None:
            found[atom] = one
        else:
            broken.append(np.zeros(sum(atoms.sizes)) if corner is None else corner.worth)
    return list(found.values()), broken


def _exact(atoms: Atoms, weights: Ints, least: int, atom: int, near: Floats) -> Balance | None:
    """Whole numbers beside those of the programme, if they hold."""
    if near[atom] < 1.0 - weights[atom] / least - SAME:
        return None
    for denominator in DENOMINATORS:
        numbers = np.rint(near * least * denominator).astype(np.int64)
        one = Balance(atom, tuple(numbers.tolist()), denominator)
        if one.holds(atoms, weights, least):
            return one
    fixed: dict[int, Fraction] = {atom: Fraction(int(least - weights[atom]))}
    for other in np.flatnonzero(np.abs(np.abs(near) * least - weights) < SAME * least).tolist():
        fixed.setdefault(other, Fraction(int(np.sign(near[other])) * int(weights[other])))
    matrix = atoms.incidence
    classes = [matrix.indices[a:b].tolist() for a, b in pairwise(matrix.indptr)]
    solution = solve_exactly(classes, fixed, atoms.number)
    if solution is None:
        return None
    denominator = lcm(*(value.denominator for value in solution))
    one = Balance(atom, tuple(int(value * denominator) for value in solution), denominator)
    return one if one.holds(atoms, weights, least) else None


def broken_steps(broken: Sequence[Floats]) -> Ints:
    """Figures of duals, by class of all views, as whole numbers, so that equal ones are equal."""
    figures = np.stack(broken)
    scale = np.abs(figures).max(axis=1, keepdims=True)
    return np.rint(figures / np.where(scale > 0, scale, 1.0) / SAME).astype(np.int64)
