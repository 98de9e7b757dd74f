"""Values of categories that fewer than k people have.

A published category reveals the names of all its values. A value that the policy does not declare may be anything, such
as `Jane Roe, tel 555-0101` in a column of diagnoses, so it is published only if k people have it.

The policy's name for `rare` values replaces them before anything else is done with the rows, so that classes,
statistics, noisy answers and extracts all use the same values. Without such a name nothing is published.
"""

from __future__ import annotations

import re

import numpy as np

from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.core.types import Array, Ints
from querygate.custody.columns.value_codes import is_text
from querygate.custody.policy import ColumnPolicy
from querygate.custody.publish.step_state import PublicationState

_CODE = re.compile(r"(?=.*[0-9]).{1,19}")
_WORD = re.compile(r"(?=.*[0-9])[0-9A-Za-z.:+/-]+|[A-Za-z]{1,3}")


def hide_rare(state: PublicationState) -> PublicationState:
    """Replace rare values with the name of their group; ConfigError QG802 if a column has no such name."""
    problems = put_together(state)
    if problems:
        raise ConfigError(
            "QG802",
            f"The names of values that fewer than k = {state.policy.k} people have would become public. "
            f"{'; '.join(problems)}.",
            'Give each of these columns rare = "other" (or another name for all such values together), list its public '
            "names in `values`, or correct the source.",
        )
    return state


def put_together(state: PublicationState) -> list[str]:
    """The same, but returns the problems instead of raising."""
    problems = []
    for column in state.policy.published:
        if column.type != "category":
            continue
        profile = state.staging.profile(column.name)
        rare = profile.values[_rare(state, column, profile.values, profile.counts)]
        if rare.size and column.rare:
            state.staging.replace_values(column.name, rare, column.rare)
        elif rare.size and not is_text(profile.values.size, int(profile.counts.sum())):
            problems.append(f"{column.name}: {rare.size:,} of {counted(profile.values.size, 'value')}")
    return problems


def _rare(state: PublicationState, column: ColumnPolicy, values: Array, counts: Ints) -> Array:
    """Which values must not be published by name."""
    nowhere = np.zeros(values.size, dtype=np.bool_)
    if column.groups or (column.hierarchy is not None and column.hierarchy.rows):
        return nowhere
    if column.values:
        return ~np.isin(values, np.array(column.values, dtype=object)) if column.rare else nowhere
    people = state.staging.people_by_value(column.name, state.policy.person)[0] if state.repeated else counts
    few = people < state.policy.k
    if column.hierarchy is not None:  # most postcodes or diagnoses are rare, and are generalised for that reason
        few &= np.array([not is_code(str(value)) for value in values], dtype=np.bool_)
    return few


def is_code(text: str) -> bool:
    """Does a text look like the codes, days and ages that the rules of hierarchies generalise? They take others, too.

    >>> [is_code(text) for text in ("02139", "SW1A 1AA", "E11.9", "2024-01-31", "90+")]
    [True, True, True, True, True]
    >>> [is_code(text) for text in ("Jane Roe, tel 555-0101", "flu", "Roe tel 5550101")]
    [False, False, True]
    """
    return _CODE.fullmatch(text) is not None and all(_WORD.fullmatch(word) for word in text.split())
