"""Frame cells in which classes tell nothing of a sensitive column: it is taken to be as in the cell whose people are
most alike.

That is a guess from what is told of others. That classes are silent is not used: it may mean that all have one value,
which is what the silence protects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.estimates.column_pieces import UNTOLD


def nearest(own: Sequence[Ints], others: Mapping[int, Sequence[Ints]], sizes: Sequence[int]) -> int | None:
    """Of other cells the one whose quasi-identifiers lie nearest. A cell comes with its pieces on each axis, of which
    there are so many in all."""

    def away(other: Sequence[Ints]) -> float:
        axes = zip(own, other, sizes, strict=False)
        return sum(abs(_middle(here) - _middle(there)) / size for here, there, size in axes)

    return min(others, key=lambda cell: away(others[cell]), default=None)


def _middle(held: Ints) -> float:
    return float(held.mean()) if held.size else 0.0


def borrowed(weight: Floats, there: Sequence[Ints], here: Sequence[Ints], even: Floats) -> Floats:
    """How likely values are here, by their weight there; a little of it stays even, so that nothing is excluded."""
    whole = np.zeros([1 + int(max(a.max(initial=-1), b.max(initial=-1))) for a, b in zip(there, here, strict=True)])
    whole[np.ix_(*there)] = weight
    found: Floats = whole[np.ix_(*here)]
    total = found.sum()
    return (1 - UNTOLD) * found / total + UNTOLD * even if total > 0 else even
