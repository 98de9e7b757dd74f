"""Frame cells that withhold a sensitive column: it is assumed to be distributed as in the most similar cell.

That is a guess from data about others. The fact that the column is withheld is not used: it may mean that all people
have the same value, which is what withholding protects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.estimates.column_pieces import UNTOLD


def nearest(own: Sequence[Ints], others: Mapping[int, Sequence[Ints]], sizes: Sequence[int]) -> int | None:
    """The cell whose quasi-identifiers lie nearest to this one's. A cell is given by its pieces on each axis."""

    def away(other: Sequence[Ints]) -> float:
        axes = zip(own, other, sizes, strict=False)
        return sum(abs(_middle(here) - _middle(there)) / size for here, there, size in axes)

    return min(others, key=lambda cell: away(others[cell]), default=None)


def _middle(held: Ints) -> float:
    return float(held.mean()) if held.size else 0.0


def borrowed(weight: Floats, there: Sequence[Ints], here: Sequence[Ints], even: Floats) -> Floats:
    """The likely shares of values here, from their weights there; a small part stays uniform, so that nothing is
    excluded."""
    whole = np.zeros([1 + int(max(a.max(initial=-1), b.max(initial=-1))) for a, b in zip(there, here, strict=True)])
    whole[np.ix_(*there)] = weight
    found: Floats = whole[np.ix_(*here)]
    total = found.sum()
    return (1 - UNTOLD) * found / total + UNTOLD * even if total > 0 else even
