"""The version being served, and the kind of answer."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from querygate.core.errors import NotPermitted
from querygate.core.rights import not_granted
from querygate.gate.grant_check import granted_modes
from querygate.gate.query_state import INTERVAL, MODES, NOISY, Gate, NoisyPath, State

NOT_OFFERED = {
    INTERVAL: ("This dataset gives only noisy answers.", "Use the mode laplace."),
    NOISY: ("This dataset does not give noisy answers.", "Leave out the mode to get guaranteed ranges."),
}


def find(state: State, gate: Gate) -> State:
    """The version being served, and the kind of answer: the one asked for, or else ranges if they are allowed.

    Whether they may query at all is checked first, so that a refusal does not depend on what exists."""
    request = state.request
    granted = granted_modes(request.principal, request.dataset, gate.grants)
    release = gate.store.current(request.dataset)
    modes = release.catalog.modes
    mode = request.options.mode or _silent_mode(modes, granted)
    if mode not in granted:
        raise not_granted(mode)
    if mode == NOISY:
        noise_of(gate)
    if mode not in modes:
        raise NotPermitted("QG311", *NOT_OFFERED[mode])
    return replace(state, release=release, version=release.catalog.version, mode=mode)


def _silent_mode(modes: Collection[str], granted: Collection[str]) -> str:
    """The kind of answer if none is named: ranges before noise, among those that the dataset offers and they were
    granted."""
    given = [mode for mode in MODES if mode in modes]
    return next((mode for mode in given if mode in granted), given[0])


def noise_of(gate: Gate) -> NoisyPath:
    if gate.noise is None:
        raise NotPermitted(
            "QG310",
            "Noisy answers need the raw rows, and this gate has no access to them.",
            "Ask for guaranteed ranges, or ask the custodian.",
        )
    return gate.noise
