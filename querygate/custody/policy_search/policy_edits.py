"""A release policy as a policy file: the given file with the cells and the threshold set."""

from __future__ import annotations

from querygate.custody.policy.toml_reader import RawTable, show_value
from querygate.custody.policy_search.axes import Axis
from querygate.methods.policy_search import LatticePolicy


def applied(raw: RawTable, axes: tuple[Axis, ...], policy: LatticePolicy, release: RawTable) -> RawTable:
    """The tables of a policy file that publishes the axes as the release policy says."""
    columns = {name: dict(table) for name, table in raw["columns"].items()}
    for axis in axes:
        spans = policy.spans(axis.attribute.name)
        columns[axis.column.name] = with_cells(columns[axis.column.name], axis, spans)
    return {**raw, "columns": columns, "release": dict(release)}


def with_cells(table: RawTable, axis: Axis, spans: tuple[tuple[int, int], ...]) -> RawTable:
    """The table of a column whose cells are these spans of its axis."""
    column, whole = axis.column, len(spans) == axis.size
    if whole and (column.edges or column.groups or axis.members or axis.attribute.kind == "cells"):
        return dict(table)  # the policy already has them
    if axis.members:
        return with_groups(table, axis, spans)
    if whole and column.type == "integer":
        return _without(table, "edges") | {"grid": 1}
    starts = [axis.starts[start] for start, _ in spans[1:]]
    kind = str(column.type)
    edges = [show_value(kind, edge) for edge in starts] if kind in ("date", "timestamp") else starts
    return _without(table, "grid", "cuts") | {"edges": edges}


def with_groups(table: RawTable, axis: Axis, spans: tuple[tuple[int, int], ...]) -> RawTable:
    """The table of a category that is published as these groups."""
    groups = [[value for group in axis.members[start:end] for value in group] for start, end in spans]
    return _without(table, "hierarchy") | {"groups": groups}


def _without(table: RawTable, *keys: str) -> RawTable:
    return {key: value for key, value in table.items() if key not in keys}
