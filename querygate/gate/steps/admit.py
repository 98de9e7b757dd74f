"""The inline auditor's verdict; then the intent is on disk, before anything is computed."""

from __future__ import annotations

from dataclasses import replace

from querygate.core.errors import ConfigError, DisclosureRefused
from querygate.core.limits.turn import turn_given_up
from querygate.gate.query_record import intend
from querygate.gate.query_state import Gate, State

WARNING = "Combined with earlier answers, this one could single people out. The custodian has been notified."
"""The note of `on_differencing = "warn"`: the same whatever was found."""


def admit(state: State, gate: Gate) -> State:
    state = replace(state, notes=check_differencing(state, gate))
    intend(state, gate, state.plan.hash)
    return state


def check_differencing(state: State, gate: Gate) -> tuple[str, ...]:
    """Refuse, or warn about, answers that could single people out, as the policy says. The message never says why."""
    wanted = state.catalog.on_differencing
    if gate.auditor is None:
        if wanted != "alert":
            raise ConfigError("QG805", "The policy requires an inline audit, and this gate has none.")
        return ()
    request = state.request
    with turn_given_up():  # whoever judges may be another process
        could = gate.auditor.judge(state.query_id, state.catalog, request.principal.name, request.sql)
    if could and wanted == "refuse":
        raise DisclosureRefused(
            "QG501",
            "Combined with earlier answers, this one could single people out.",
            "Query other or larger groups. A query that has been answered before can be repeated.",
        )
    return (WARNING,) if could and wanted == "warn" else ()
