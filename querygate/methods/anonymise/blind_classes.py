"""Makes classes without looking at the sensitive columns, so that nobody can reason from a class that was not divided.

A method that asks a guard before it divides a class reveals, by every class it left whole, that some half of it failed
(minimality attack: Wong, Fu, Wang, Pei, VLDB 2007). Here the method sees the quasi-identifiers alone. Where the classes
it makes do not keep every promise it is asked for classes twice as large, and so on. All that the release then tells of
the sensitive columns, beyond what is published of them, is how often: at the last size but one, some class of the table
failed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from querygate.core.types import Ints
from querygate.methods.anonymise.division.mondrian import Progress, check_feasible
from querygate.methods.anonymise.guards.guard import Guard
from querygate.methods.anonymise.guards.k_map import KMap
from querygate.methods.anonymise.table import Table


def blind(run: Callable[..., Ints]) -> Callable[..., Ints]:
    """The same method, blind to every guard except those of public tables."""

    def anonymise(table: Table, k: int, guards: Sequence[Guard] = (), *, progress: Progress | None = None) -> Ints:
        check_feasible(table, k, guards)
        public = [guard for guard in guards if isinstance(guard, KMap)]
        rows = np.arange(table.combinations)
        while k <= table.records:
            labels = run(table, k, public, progress=progress)
            if all(guard.classes(rows, labels, int(labels.max()) + 1).all() for guard in guards):
                return labels
            k *= 2
        return np.zeros_like(rows)

    return anonymise
