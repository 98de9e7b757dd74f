"""Memory for the cells of few records, so that small tables come in ranges of classes."""

from __future__ import annotations

import pytest

from querygate.core.publications import class_ranges


def in_ranges(monkeypatch: pytest.MonkeyPatch, records: int) -> None:
    """As if the cells of so many records filled the memory."""
    monkeypatch.setattr(class_ranges, "CELL_BYTES", (4096 - round(0.4 * 4096) << 20) // records)
    monkeypatch.setattr(class_ranges, "CELL_BYTES_EACH", 0)
