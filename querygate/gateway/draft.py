"""A publication on its way: what each step leaves for the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from querygate.anonymise import Box, Table
from querygate.core.ports import Combinations, Profile, Workshop
from querygate.core.types import Column, Ints, Reference
from querygate.gateway.coding import NumberCodes
from querygate.policy import ColumnPolicy, Policy

Progress = Callable[[str], None]


@dataclass
class Draft:
    """A publication on its way."""

    policy: Policy
    workshop: Workshop
    progress: Progress
    rows: int = 0
    profiles: dict[str, Profile] = field(default_factory=dict)
    numbers: dict[str, NumberCodes] = field(default_factory=dict)
    texts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    combinations: Combinations | None = None
    table: Table | None = None
    labels: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    boxes: tuple[Box, ...] = ()
    columns: list[Column] = field(default_factory=list)
    references: tuple[Reference, ...] = ()
    cells: dict[str, Any] = field(default_factory=dict)
    pairs: dict[str, list[Any]] = field(
        default_factory=lambda: {"column_id": [], "set_id": [], "value_id": [], "alone": []}
    )

    @property
    def published(self) -> tuple[ColumnPolicy, ...]:
        return tuple(column for column in self.policy.columns if column.is_published)
