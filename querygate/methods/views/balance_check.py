"""People: is the support of every class, and of every union of classes, as large as promised? (R1, R2)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, maximum_flow

from querygate.core.types import Ints
from querygate.methods.views.certificate_check import distinct, sums_at

LARGEST_FLOW = 2**30
FINEST_SHARE = 720_720


@dataclass(frozen=True)
class BalanceGiven:
    """Numbers by atom over a denominator that show one atom, atoms in order of their classes."""

    atom: int
    numbers: Sequence[int]
    denominator: int


def people_by_class(label: Ints, persons: Ints) -> Ints:
    """Distinct people of each class, in rising order."""
    order = np.lexsort((persons, label))
    label, persons = label[order], persons[order]
    is_new = np.append(True, (np.diff(label) != 0) | (np.diff(persons) != 0))
    return np.unique(label[is_new], return_counts=True)[1]


def person_shares(records: int, persons: Ints | None = None) -> tuple[Ints, int]:
    """Per record its part of a person, whose records share them equally, in parts of a whole that is returned too."""
    if persons is None:
        return np.ones(records, dtype=np.int64), 1
    order = np.argsort(persons, kind="stable")
    begin = np.flatnonzero(np.append(True, np.diff(persons[order]) != 0))
    times = np.empty(records, dtype=np.int64)
    lengths = np.diff(np.append(begin, records))
    times[order] = np.repeat(lengths, lengths)
    whole = min(lcm(*set(lengths.tolist())), FINEST_SHARE)
    return whole // times, whole


def least_support(first: Ints, second: Ints, weight: Ints) -> int:
    """The least weight of the records that any combination of the classes of two views tells of (R2).

    It is the least cut of a component of the graph of classes, which the records in both join. Of weights too large for
    flows it is a bound from below.
    """
    names_1, one = np.unique(first, return_inverse=True)
    names_2, two = np.unique(second, return_inverse=True)
    size = names_1.size + names_2.size
    capacity = np.zeros((size, size), dtype=np.int64)
    np.add.at(capacity, (one.reshape(-1), names_1.size + two.reshape(-1)), weight)
    capacity += capacity.T
    number, component = connected_components(csr_array(capacity), directed=False)
    parts = (np.flatnonzero(component == part) for part in range(number))
    return min((_least_cut(capacity[np.ix_(part, part)]) for part in parts if part.size > 1), default=0)


def _least_cut(capacity: Ints) -> int:
    """Of a connected graph. Vertices that no cut lighter than a known one can part become one: those of which paths of
    one and two edges carry as much, and any two once the flow between them is known.
    """
    least = int(capacity.sum(axis=1).min())
    while True:
        carried = capacity.copy()
        for row in capacity:  # paths over this vertex
            (near,) = row.nonzero()
            carried[near[:, None], near] += np.minimum(row[near][:, None], row[near])
        number, component = connected_components(carried >= least, directed=False)
        of = component.astype(np.int64)
        if number == len(capacity):
            other, parts = int(np.argmax(carried[0, 1:])) + 1, 1 + least // LARGEST_FLOW
            graph = csr_array((capacity // parts).astype(np.int32))
            least = min(least, parts * int(maximum_flow(graph, 0, other).flow_value))
            of = np.arange(number) - (np.arange(number) > other)
            of[other], number = 0, number - 1
        if number == 1:
            return least
        capacity = _joined(capacity, of, number)
        least = min(least, int(capacity.sum(axis=1).min()))


def _joined(capacity: Ints, of: Ints, number: int) -> Ints:
    """The graph in which vertices with the same number are one."""
    rows = np.zeros((number, len(capacity)), dtype=np.int64)
    np.add.at(rows, of, capacity)
    found = np.zeros((number, number), dtype=np.int64)
    np.add.at(found.T, of, rows.T)
    np.fill_diagonal(found, 0)
    return found


def unbalanced(labels: Ints, weight: Ints, least: int, certificates: Sequence[BalanceGiven]) -> list[int]:
    """Atoms of less than the `least` weight without a certificate that holds (R2*); `labels` are views x records."""
    atoms, atom = distinct(labels)
    held = [int(share) for share in sums_at(atom, weight, atoms.shape[1])]
    classes = [[np.flatnonzero(row == name).tolist() for name in np.unique(row)] for row in atoms]
    shown = set()
    for one in certificates:
        z, whole = [int(number) for number in one.numbers], int(one.denominator)
        if whole < 1 or len(z) != len(held) or not 0 <= one.atom < len(held):
            continue
        fits = z[one.atom] >= whole * (least - held[one.atom])
        fits = fits and all(abs(value) <= whole * held[b] for b, value in enumerate(z) if b != one.atom)
        if fits and not any(sum(z[b] for b in members) for view in classes for members in view):
            shown.add(one.atom)
    return [place for place, share in enumerate(held) if share < least and place not in shown]
