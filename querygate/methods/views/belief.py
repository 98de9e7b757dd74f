"""How strongly somebody believes in a person's bin who holds every table with the published histograms equally likely.

Which share of these tables has the person in a bin is, for many records, what the table of greatest entropy says
(Grove, Halpern, Koller, "Random worlds and maximum entropy", JAIR 2, 1994): the one that iterative proportional fitting
comes to. The attacker knows everybody's quasi-identifiers. Sums are not used: they would tell a little more about
numbers.

>>> import numpy as np
>>> label = np.array([[0, 0, 0, 0, 1, 1]])
>>> beliefs(label, np.array([0, 0, 0, 1, 1, 1])).tolist()  # one view: the share in the class
[0.75, 0.75, 0.75, 0.25, 1.0, 1.0]
"""

from __future__ import annotations

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.methods.views.atoms import Atoms, distinct_columns

ROUNDS, CLOSE = 200, 1e-4
"""Fitting ends after so many rounds, or when no expected number of records moves by more."""


def beliefs(labels: Ints, bins: Ints) -> Floats:
    """Per record the belief in its own bin; `labels` (views x records) are its classes."""
    found, atom = distinct_columns(np.stack([np.unique(own, return_inverse=True)[1].reshape(-1) for own in labels]))
    atoms = Atoms(found, tuple((found.max(axis=1) + 1).tolist()))
    kinds, kind = np.unique(bins, return_inverse=True)
    kind = kind.reshape(-1)
    held = np.zeros((atoms.number, kinds.size))
    np.add.at(held, (atom, kind), 1.0)
    size = held.sum(axis=1)
    expected = _fitted(atoms, held, size)
    share: Floats = expected[atom, kind] / size[atom]
    return np.minimum(share, 1.0)


def _fitted(atoms: Atoms, held: Floats, size: Floats) -> Floats:
    """Records by atom and bin, as far from any guess as the histograms of all views and the sizes of atoms allow."""
    matrix = atoms.incidence
    views = [slice(begin, begin + many) for begin, many in zip(atoms.offsets.tolist(), atoms.sizes, strict=True)]
    histograms: Floats = matrix @ held
    parts = [(matrix[own], histograms[own], labels) for own, labels in zip(views, atoms.labels, strict=True)]
    now: Floats = np.ones_like(held) * (size / held.shape[1])[:, None]
    for _ in range(ROUNDS):
        before = now
        for part, histogram, labels in parts:
            now = now * _ratio(histogram, part @ now)[labels]
        now = now * _ratio(size, now.sum(axis=1))[:, None]
        if np.abs(now - before).max() < CLOSE:
            break
    return now


def _ratio(wanted: Floats, there: Floats) -> Floats:
    found: Floats = np.divide(wanted, there, out=np.zeros_like(there), where=there > 0)
    return found
