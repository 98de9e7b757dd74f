"""Warns the custodian of sensitive columns about which views publish nothing for many records.

A column that is the same for everybody cannot be published at all, since nobody's value may be certain.
"""

from __future__ import annotations

from collections.abc import Iterator

from querygate.custody.policy.toml_reader import dotted
from querygate.custody.publish.step_state import PublicationState

MUCH = 0.1
"""The share of records from which on a warning is given."""


def untold_warnings(state: PublicationState) -> Iterator[str]:
    """A warning for each such column, in the form of a policy's warnings; never with a value."""
    untold: dict[tuple[str, ...], float] = {}
    for margin in state.view_figures.margins if state.view_figures is not None else ():
        untold[margin.sensitive] = min(margin.withheld, untold.get(margin.sensitive, 1.0))
    for unit, share in untold.items():
        same = [name for name in unit if _is_constant(state, name)]
        for name in (same or unit) if share > MUCH else ():
            yield f"{dotted(('columns', name))}: {_reason(name, share, is_constant=bool(same))}"


def _reason(name: str, share: float, *, is_constant: bool) -> str:
    if is_constant:
        return f"the same in every record, so views publish nothing about {name}: withhold it"
    return (
        f"for {share:.0%} of the records views publish nothing about {name}, because too few people there have another "
        "value: use a coarser frame, fewer columns per view, or a lower k"
    )


def _is_constant(state: PublicationState, column: str) -> bool:
    profile = state.profiles[column]
    return len(profile.values) + bool(profile.missing) <= 1
