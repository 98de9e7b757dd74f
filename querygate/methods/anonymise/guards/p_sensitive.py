"""p-sensitive k-anonymity: Truta, Vinay, "Privacy protection: p-sensitive k-anonymity property", ICDE 2006 (PDM)."""

from __future__ import annotations

from collections.abc import Sequence

from querygate.core.types import Bools, Ints
from querygate.methods.anonymise.guards.diversity import Distinct, Sensitive


class PSensitive:
    """Every class has at least p different values of each of the sensitive columns."""

    def __init__(self, columns: Sequence[Sensitive], p: int) -> None:
        self.p = p
        self._each = tuple(Distinct(sensitive, p) for sensitive in columns)

    @property
    def name(self) -> str:
        return f"{self.p}-sensitive k-anonymity of {', '.join(guard.column for guard in self._each)}"

    def classes(self, rows: Ints, label: Ints, classes: int) -> Bools:
        first, *others = (guard.classes(rows, label, classes) for guard in self._each)
        for verdict in others:
            first &= verdict
        return first
