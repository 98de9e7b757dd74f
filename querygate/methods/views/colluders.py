"""People who tell an attacker their own values: for how many others is there then no witness any more?

Nobody is promised anything against them. Whoever tells is pinned to the true value, and witnesses are looked for as for
a publication, among the rest. Somebody without one is not shown safe, which is not the same as given away.
"""

from __future__ import annotations

import numpy as np

from querygate.core.types import Bools
from querygate.methods.views.certificates import CellRelease
from querygate.methods.views.column_frontiers import witnesses
from querygate.methods.views.table import SensitiveColumn
from querygate.methods.views.windows import Windows


def not_shown_safe(column: SensitiveColumn, cell: CellRelease, values: int, told: Bools) -> Bools:
    """Which records of a cell have no witness once those of `told` are known; none where the column is withheld."""
    release = next(one for one in cell.columns if one.name == column.name)
    if release.safe.is_withheld:
        return np.zeros(cell.records.size, dtype=np.bool_)
    windows = Windows.of(column, cell.records, told)
    found, unsafe = witnesses(windows, cell.leaf[list(release.views)], release.safe.views, values)
    alone: Bools = unsafe[found.holders.row_group]
    return alone
