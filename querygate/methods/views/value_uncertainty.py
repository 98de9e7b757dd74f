"""Whether a class leaves open how many of its people have each value that it is shown to have."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from querygate.core.types import Ints
from querygate.methods.views.table import NULL, QuasiIdentifier


def hides(columns: Iterable[tuple[QuasiIdentifier, Ints]], weight: int, least: int, person: int) -> bool:
    """Could each value be that of k people? Columns come with the codes, or nodes, of those in the class, who weigh so
    much.

    Every value that is shown occurs, so others are about one person at least; of an ordered column these are the two
    ends. Two classes that hide do so together, too.
    """
    return all(weight - least >= (_told(column, codes) - 1) * person for column, codes in columns)


def _told(column: QuasiIdentifier, codes: Ints) -> int:
    told = np.unique(codes).size
    return min(told, 2 + int(codes.min() == NULL)) if column.ordered else told
