"""Checks what was written of one column: intervals, nodes and groups are those that the policy makes public, and every
raw value is inside what its class says.
"""

from __future__ import annotations

import math

import numpy as np

from querygate.core.publications.vault_ports import VerifierCounts
from querygate.core.types import Array, Arrays, Bools, Column, Floats
from querygate.custody.columns.hierarchies import strays
from querygate.custody.columns.value_codes import bin_codes, grid_codes
from querygate.custody.columns.value_groups import split_groups
from querygate.custody.policy import ColumnPolicy, Policy
from querygate.custody.verify.moment_check import check_intervals
from querygate.custody.verify.verifier_types import Written, require


def check_whole_column(
    column: Column, policy: Policy, written: Written, whole: Arrays, *, counts_bins: bool = True
) -> None:
    """Public nodes and groups; and intervals that each have k records of the `whole`. Of carried classes somebody else
    counts how many records a bin has.
    """
    wanted = policy.column(column.name)
    if wanted.hierarchy is not None:
        _check_nodes(column, policy, written)
    if wanted.groups:
        check_groups(column, policy, written)
    for found in check_intervals(column, wanted, policy.k, whole):
        require(found.holds, found.promise)
    if wanted.carry == "bins" and counts_bins:
        low, high, known = _intervals(column, whole)
        public = bin_codes(wanted)
        below, above = np.searchsorted(public.low, low[known]), np.searchsorted(public.high, high[known])
        _, which = np.unique(below * public.size + above, return_inverse=True)
        held = np.bincount(which, whole["n"][known])
        require(len(held) < 2 or bool(held.min() >= policy.k), f"k = {policy.k} in each bin of {column.name}")


def check_column(
    column: Column, policy: Policy, tight: bool, cells: Arrays, written: Written, staging: VerifierCounts
) -> None:
    """Public edges, and every value where it is counted."""
    if column.is_numeric:
        _check_number(column, policy, tight, cells, staging)
    if not column.is_codes:
        require(_off(column, cells, written, staging) == 0, f"every value of {column.name} lies where it is counted")


def _check_number(column: Column, policy: Policy, tight: bool, cells: Arrays, staging: VerifierCounts) -> None:
    """Where the intervals of a numeric column may begin and end."""
    wanted, name = policy.column(column.name), column.name
    require(column.nullable == (f"c{column.index}_null" in cells), f"missing values of {name} are declared")
    low, high, known = _intervals(column, cells)
    if tight and column.role == "quasi-identifier":
        _, *hull = staging.class_hulls(name)
        _, row = np.unique(cells["class"], return_index=True)
        edges = [np.where(known, end, np.nan)[row] for end in (low, high)]
        require(all(map(_is_same, edges, hull)), f"the edges of {name} are attained")
    elif column.role != "public":
        check_edges(column, wanted, low[known], high[known])


def check_edges(column: Column, wanted: ColumnPolicy, low: Array, high: Array) -> None:
    """Check that intervals of a number begin and end at edges that its policy makes public."""
    public = bin_codes(wanted) if wanted.carry == "bins" else grid_codes(wanted)
    on_edges = bool(np.isin(low, public.low).all() and np.isin(high, public.high).all())
    require(on_edges, f"the edges of {column.name} are public")
    if wanted.edges:
        _check_cells(column, wanted.edges, low, high)


def _check_nodes(column: Column, policy: Policy, written: Written) -> None:
    """Check that a category with a hierarchy is published as nodes, and not as any set of values."""
    stray = strays(policy.column(column.name), written.sets(column.index)[2], _sets(column, written))
    require(stray == 0, f"{column.name} is published as nodes of its hierarchy")


def check_groups(column: Column, policy: Policy, written: Written) -> None:
    """Check that a category with groups is published as whole groups."""
    split = split_groups(policy.column(column.name), _sets(column, written))
    require(split == 0, f"{column.name} is published as whole groups")


def _sets(column: Column, written: Written) -> list[frozenset[str]]:
    set_ids, value_ids, texts = written.sets(column.index)
    sets: dict[int, set[str]] = {}
    for set_id, value_id in zip(set_ids.tolist(), value_ids.tolist(), strict=True):
        sets.setdefault(set_id, set()).update([texts[value_id]] if value_id >= 0 else [])
    return [frozenset(members) for members in sets.values()]


def _check_cells(column: Column, edges: tuple[int | float, ...], low: Array, high: Array) -> None:
    """Every interval of a number with public cells begins at an edge and ends below one, or at the top of the domain.

    Uses only the policy's edges, not the codes used for publishing.
    """
    below = math.nextafter if not column.is_discrete else lambda edge, _: edge - 1
    begins, ends = set(edges[:-1]), {below(edge, -math.inf) for edge in edges[1:-1]} | {edges[-1]}
    inside = set(np.unique(low).tolist()) <= begins and set(np.unique(high).tolist()) <= ends
    require(inside, f"{column.name} is published as whole cells")


def _is_same(a: Floats, b: Floats) -> bool:
    return np.array_equal(a, b, equal_nan=True)


def _intervals(column: Column, cells: Arrays) -> tuple[Array, Array, Bools]:
    """Ends of a numeric column in each cell, and where it has any."""
    low, high = (np.ma.asarray(cells[f"c{column.index}_{end}"]) for end in ("lo", "hi"))
    return low.data, high.data, ~np.ma.getmaskarray(low)


def _off(column: Column, cells: Arrays, written: Written, staging: VerifierCounts) -> int:
    """Published intervals or sets of a class that hold another number of raw rows than they say."""
    classes, counts = cells["class"], cells["n"]
    if not column.is_numeric:
        set_ids, value_ids, texts = written.sets(column.index)
        sets = cells[f"c{column.index}_set"]
        return staging.sets_off(column.name, classes, sets, counts, (set_ids, value_ids), texts)
    low, high = cells[f"c{column.index}_lo"], cells[f"c{column.index}_hi"]
    null = cells.get(f"c{column.index}_null", np.zeros(len(classes), dtype=np.int64))
    return staging.intervals_off(column.name, classes, low, high, null, counts)


def widths_of(column: Column, cells: Arrays) -> tuple[float, int]:
    """The widths of the intervals of all records together, and how many records these are."""
    low, high, known = _intervals(column, cells)
    wide: Floats = high[known].astype(np.float64) - low[known].astype(np.float64)
    return float((wide * cells["n"][known]).sum()), int(cells["n"][known].sum())
