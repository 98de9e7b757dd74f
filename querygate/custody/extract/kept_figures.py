"""Figures of columns before and after, side by side: means, medians and sums, and what classes still tell of them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from querygate.core.types import Floats, Ints
from querygate.custody.extract.protected_records import ProtectedRecords
from querygate.custody.extract.raw_tables import floats_of, out_of
from querygate.custody.policy import Policy
from querygate.methods.anonymise import mutual_information

IN_CLASSES = ("k-anonymous", "release", "same-disease")
"""Kinds whose records are real and show what their class shows."""

Sides = Mapping[str, Mapping[str, float | None]]
"""By column what it was before and is after; None where it has no value."""


def basics(protected: ProtectedRecords, policy: Policy) -> Mapping[str, Sides]:
    """Means, medians and sums of numbers. A range of the extract counts as its middle."""
    found: dict[str, dict[str, dict[str, float | None]]] = {"means": {}, "medians": {}, "sums": {}}
    numbers = [column.name for column in out_of(policy) if column.is_numeric]
    for name in (name for name in numbers if name in protected.usable.column_names):
        for side, table in (("before", protected.raw), ("after", protected.usable)):
            values = floats_of(table[name])
            for what, figure in _summary(values[np.isfinite(values)]).items():
                found[what].setdefault(name, {})[side] = figure
    return found


def _summary(values: Floats) -> dict[str, float | None]:
    """In an order of their own: sums of the same records are the same."""
    ordered = np.sort(values)
    if not ordered.size:
        return dict.fromkeys(("means", "medians", "sums"))
    total = math.fsum(ordered.tolist())
    return {"means": total / ordered.size, "medians": float(np.median(ordered)), "sums": total}


def information(protected: ProtectedRecords, policy: Policy) -> dict[str, float]:
    """The share of each quasi-identifier's information that its published form has; of classes alone."""
    if protected.kind not in IN_CLASSES:
        return {}
    shown = {
        name: [codes_of(protected.table[field.name]) for field in protected.fields if field.of == name]
        for name in (column.name for column in policy.named("quasi-identifier"))
        if name in protected.raw.column_names
    }
    return {
        name: round(
            mutual_information.share_told(_together(parts, protected.records), codes_of(protected.raw[name])), 6
        )
        for name, parts in shown.items()
    }


def associations(protected: ProtectedRecords, policy: Policy) -> dict[str, float]:
    """The share of each sensitive category's information that is known with the class, as anybody can count it."""
    if protected.kind not in IN_CLASSES:
        return {}
    named = [c.name for c in policy.named("sensitive") if not c.is_numeric and c.name in protected.table.column_names]
    told = {name: codes_of(protected.table[name]) for name in named}
    return {name: round(mutual_information.share_told(protected.classes, told[name]), 6) for name in named}


def codes_of(column: pa.ChunkedArray) -> Ints:
    """A number for each value, a missing one among them."""
    return np.asarray(column.combine_chunks().dictionary_encode("encode").indices, dtype=np.int64)


def _together(parts: list[Ints], records: int) -> Ints:
    """What several columns say of each record, as one number."""
    found = np.zeros(records, dtype=np.int64)
    for part in parts:
        found = np.unique(found * (int(part.max(initial=0)) + 1) + part, return_inverse=True)[1].reshape(-1)
    return found
