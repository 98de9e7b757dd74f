"""What a publication reveals about sensitive numbers beyond plain intervals: own intervals, and moments of classes.

With moments, cells show missing values separately, as bins do anyway: the number of known values of a class is then
public, which its sum needs to mean anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import Profile
from querygate.core.types import DISCRETE, Ints
from querygate.custody.columns.value_codes import NumberCodes, grid_codes
from querygate.custody.policy import ColumnPolicy
from querygate.custody.policy.moment_rules import has_moments
from querygate.custody.publish.step_state import PublicationState
from querygate.methods.anonymise.class_moments import Members, MomentRelease, exact_moments, rounded_moments
from querygate.methods.anonymise.division.univariate import optimal_runs
from querygate.methods.anonymise.table import Infeasible

PER_CLASS = ("hull", "joint")
"""Ways of carrying a number that give all members of a class one interval."""


def own_intervals(column: ColumnPolicy, profile: Profile, k: int) -> NumberCodes:
    """The number's own k-anonymous intervals: stretches of the public grid, each at least e wide and with at least k
    records.

    If the first or last occupied step of the grid holds fewer than k records, the stretch reaches to the end of the
    domain, so that no edge shows where an outlier is.
    """
    grid = grid_codes(column)
    counts = np.bincount(grid.of(profile.values), profile.counts, grid.size).astype(np.int64)
    held = np.flatnonzero(counts)
    if not held.size:
        return grid
    unit = 1 if column.type in DISCRETE else 0
    lower, upper = grid.low[held].astype(np.float64), grid.high[held].astype(np.float64) + unit
    try:
        starts = held[optimal_runs(lower, counts[held], k, float(column.guard or 0), upper)]
    except Infeasible as infeasible:
        raise ConfigError(
            "QG803",
            f"Column {column.name}: even all its values together do not give an interval of {infeasible.guarantee}.",
            "Carry it in bins, or lower its guard in the policy.",
        ) from None
    groups = np.searchsorted(starts, np.arange(grid.size), side="right") - 1
    if counts[held[0]] < k:
        groups = np.maximum(groups, 0)
    if counts[held[-1]] >= k:
        groups[held[-1] + 1 :] = groups[held[-1]] + 1
    return grid.merged(groups - groups.min())


def class_moments(state: PublicationState) -> dict[str, MomentRelease]:
    """Sums and variances of classes by column, if the policy wants them and they reveal nobody's value too closely."""
    wanted = state.policy.anonymise.class_moments
    if wanted == "none":
        return {}
    return {
        column.name: moments_of(members_of(state, column), column, wanted, state.policy.k)
        for column in state.policy.published
        if has_moments(column)
    }


def moments_of(members: Members, column: ColumnPolicy, wanted: str, k: int) -> MomentRelease:
    e = column.guard or 0
    return rounded_moments(members, e, k) if wanted == "rounded" else exact_moments(members, e)


def members_of(
    state: PublicationState, column: ColumnPolicy, numbers: NumberCodes | None = None, carry: str = ""
) -> Members:
    """The known values of a number by class, each with the interval in which it is, or would be, published."""
    label, value, count = state.staging.class_values(column.name)
    value = np.asarray(value, dtype=np.int64 if column.type in DISCRETE else np.float64)
    numbers = numbers or state.numbers[column.name]
    code = numbers.of(value)
    low, high = code, code
    if (carry or column.carry) in PER_CLASS and label.size:
        starts = np.searchsorted(label, np.unique(label))
        times = np.diff(np.append(starts, label.size))
        low, high = (np.repeat(end.reduceat(code, starts), times) for end in (np.minimum, np.maximum))
    if not label.size:
        return Members(label, value, count, value, value)
    return Members(label, value, count, numbers.low[low], numbers.high[high])


def moments_table(state: PublicationState) -> Mapping[str, pa.Table]:
    """The table of the store, if there is one."""
    if state.policy.anonymise.class_moments == "none":
        return {}
    index_of = {column.name: column.index for column in state.columns}
    rows: list[tuple[Any, ...]] = []
    for name, told in state.moments.items():
        kept = told.kept
        columns = (told.classes, told.size, told.sum_low, told.sum_high, told.var_low, told.var_high)
        rows.append((np.full(int(kept.sum()), index_of[name]), *(column[kept] for column in columns)))
    names = ("column_id", "class", "n", "sum_lo", "sum_hi", "var_lo", "var_hi")
    kinds = (pa.int32(), pa.int64(), pa.int64(), *[pa.float64()] * 4)
    found = [np.concatenate(parts) for parts in zip(*rows, strict=True)] if rows else [np.zeros(0)] * len(names)
    arrays = [pa.array(values, from_pandas=True).cast(kind) for values, kind in zip(found, kinds, strict=True)]
    return {"class_moment": pa.table(dict(zip(names, arrays, strict=True)))}


# -- missing values apart --------------------------------------------------------------------------------------------


def tells_missing_apart(state: PublicationState, column: ColumnPolicy) -> bool:
    """Whether cells split a column that all members of a class share into known and missing."""
    return (
        state.policy.anonymise.class_moments != "none"
        and has_moments(column)
        and column.carry in PER_CLASS
        and state.profiles[column.name].missing > 0
    )


def without_values(
    classes: Ints, codes: Mapping[str, Ints], counts: Ints, hidden: frozenset[str]
) -> tuple[Ints, dict[str, Ints], Ints]:
    """Cells in which the hidden columns say only known (0) or missing (-1)."""
    kept = {name: np.where(code < 0, -1, 0) if name in hidden else code for name, code in codes.items()}
    if not hidden or not classes.size:
        return classes, kept, counts
    columns = [classes, *kept.values()]
    order = np.lexsort(columns[::-1])
    new = np.ones(classes.size, dtype=np.bool_)
    new[1:] = np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0)
    starts = np.flatnonzero(new)
    first = order[starts]
    return classes[first], {name: code[first] for name, code in kept.items()}, np.add.reduceat(counts[order], starts)
