"""A gate with a clock of its own and ten seconds for a statement, however long other tests wait on a busy machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from querygate.gate.query_state import Gate


def in_ten_seconds(gate: Gate, clock_s: Callable[[], float]) -> Gate:
    return replace(gate, clock_s=clock_s, limits=replace(gate.limits, timeout_s=10.0))
