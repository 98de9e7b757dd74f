"""A likely value beside each range, from the published store."""

from __future__ import annotations

from dataclasses import replace

from querygate.core.limits.deadline import within
from querygate.gate.likely_values import OutOfTime, with_estimates
from querygate.gate.query_state import Gate, State

FOR_THE_REST = 0.2
"""The part of a request's time that estimates leave to what comes after them."""


def estimate(state: State, gate: Gate) -> State:
    """The ranges are ready. The remaining time is for estimates, except what the answer itself still needs."""
    with within(gate.clock_s, gate.limits.timeout_s) as deadline:

        def check() -> None:
            if deadline.clock_s() > deadline.at_s - FOR_THE_REST * gate.limits.timeout_s:
                raise OutOfTime

        pairs = zip(state.plan.branches, state.groups, strict=True)
        groups = [with_estimates(*pair, gate.likely, state.release, gate.limits, check) for pair in pairs]
    return replace(state, groups=tuple(groups))
