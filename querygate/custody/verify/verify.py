"""The verifier: re-measures every promise on the file that was written, before it may be served.

It reads the staged store back and trusts nothing that the publisher computed: class sizes are counted over the
written boxes, diversity over the written cells, raw rows are counted in every interval and set of every class, and
every edge must be one that the policy makes public (or, with tight edges, one that is attained). A promise that does
not hold stops the publication.
"""

from __future__ import annotations

import math

import numpy as np

from querygate.core.types import Array, Arrays, Bools, Column, Floats, Ints
from querygate.core.vault_ports import VerifierCounts, VerifierTables
from querygate.custody.columns.hierarchies import strays
from querygate.custody.columns.population import Population
from querygate.custody.columns.value_codes import bin_codes, grid_codes
from querygate.custody.columns.value_groups import split_groups
from querygate.custody.policy import ColumnPolicy, Policy
from querygate.custody.verify.catalog_check import check_catalog, check_strays
from querygate.custody.verify.class_size_check import check_class_people, check_class_sizes
from querygate.custody.verify.code_check import measure_codes
from querygate.custody.verify.diversity_check import WrittenCells, measure_guarantees, missing_values, published_values
from querygate.custody.verify.number_check import check_intervals, check_moments
from querygate.custody.verify.person_check import check_people, count_people
from querygate.custody.verify.verifier_types import Measurement, Written, require
from querygate.methods.anonymise import partition_check

__all__ = ["Measurement", "Written", "verify_release"]


def verify_release(
    written: Written, policy: Policy, staging: VerifierTables, rows: int, population: Population | None = None
) -> Measurement:
    """Measure the written release and check it against the policy; ConfigError QG803 if a promise is broken."""
    catalog = check_catalog(written, policy, staging, rows)
    cells = written.cells([column.index for column in catalog.columns if column.role == "quasi-identifier"])
    # The class of a cell as an outsider sees it: equal published quasi-identifiers, whatever the class id.
    boxes = np.asarray(cells["box"], dtype=np.int64)
    sizes = np.bincount(boxes, cells["n"]).astype(np.int64)
    k = check_class_sizes(cells, sizes, rows, policy.k)
    release = WrittenCells(catalog.columns, cells, boxes, written, staging)
    people = count_people(release, policy.person) if catalog.persons else None
    check_class_people(people, policy.k)
    for column in catalog.columns:
        _check_column(column, policy, catalog.tight, cells, written, staging)
    l, t, hull = {}, {}, {}  # noqa: E741
    for column in catalog.columns:
        wanted = policy.column(column.name)
        if column.role == "sensitive":
            missing = missing_values(column, cells, written)
            asked = ~missing if wanted.spares_missing else np.ones_like(missing)
            if not asked.any():
                continue
            values, counts = published_values(column, cells)[asked], np.asarray(cells["n"])[asked]
            l[column.name] = partition_check.distinct_values(boxes[asked], values)
            t[column.name] = partition_check.closeness(boxes[asked], values, counts, ordered=column.is_numeric)
            if column.is_numeric and wanted.guard:
                classes, low, high = staging.class_hulls(column.name)
                if np.isnan(low).all():
                    continue  # a column without any value has nothing to guard
                hull[column.name] = _narrowest(classes, low, high, spares_missing=wanted.spares_missing)
                require(hull[column.name] >= wanted.guard, f"the numeric guard of {column.name}")
                one = wanted.carry in ("hull", "joint")
                require(one or l[column.name] >= 2, f"two bins of {column.name} in each class")
    kept: dict[str, float] = {}
    for guarantee in check_people(release, policy) if people is not None else ():
        kept |= {guarantee.measure: guarantee.figure} if guarantee.measure else {}
        require(guarantee.holds, guarantee.promise)
    for guarantee in measure_guarantees(release, policy, population):
        kept[guarantee.measure] = guarantee.figure
        require(guarantee.holds, guarantee.promise)
    for guarantee in measure_codes(written, catalog, policy, cells, staging):
        kept |= {guarantee.measure: guarantee.figure} if guarantee.measure else {}
        require(guarantee.holds, guarantee.promise)
    for found in check_moments(written, catalog, policy, cells, staging):
        require(found.holds, found.promise)
    check_strays(written)
    width = {c.name: _width(c, cells) for c in catalog.columns if c.is_numeric}
    return Measurement(k, int(sizes.max()), l, t, hull, width, kept, people)


def _check_column(
    column: Column, policy: Policy, tight: bool, cells: Arrays, written: Written, staging: VerifierTables
) -> None:
    """Public edges, nodes and groups, and every value where it is counted."""
    if column.is_numeric:
        _check_number(column, policy, tight, cells, staging)
    if policy.column(column.name).hierarchy is not None:
        _check_nodes(column, policy, written)
    if policy.column(column.name).groups:
        check_groups(column, policy, written)
    if not column.is_codes:
        require(_off(column, cells, written, staging) == 0, f"every value of {column.name} lies where it is counted")


def _narrowest(classes: Ints, low: Floats, high: Floats, *, spares_missing: bool) -> float:
    """The narrowest hull of a class; of classes with any value alone, where missing values are spared."""
    asked = ~np.isnan(low) if spares_missing else np.ones_like(low, dtype=np.bool_)
    return partition_check.narrowest_hull(classes[asked], low[asked], high[asked])


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
        for found in check_intervals(column, wanted, policy.k, cells):
            require(found.holds, found.promise)
        if wanted.carry == "bins":
            public = bin_codes(wanted)
            below, above = np.searchsorted(public.low, low[known]), np.searchsorted(public.high, high[known])
            _, which = np.unique(below * public.size + above, return_inverse=True)
            held = np.bincount(which, cells["n"][known])
            require(len(held) < 2 or bool(held.min() >= policy.k), f"k = {policy.k} in each bin of {name}")


def check_edges(column: Column, wanted: ColumnPolicy, low: Array, high: Array) -> None:
    """Intervals of a number begin and end where its policy says in public."""
    public = bin_codes(wanted) if wanted.carry == "bins" else grid_codes(wanted)
    on_edges = bool(np.isin(low, public.low).all() and np.isin(high, public.high).all())
    require(on_edges, f"the edges of {column.name} are public")
    if wanted.edges:
        _check_cells(column, wanted.edges, low, high)


def _check_nodes(column: Column, policy: Policy, written: Written) -> None:
    """Whatever was written of a category with a hierarchy is a node of it, and not any set of values."""
    stray = strays(policy.column(column.name), written.sets(column.index)[2], _sets(column, written))
    require(stray == 0, f"{column.name} is published as nodes of its hierarchy")


def check_groups(column: Column, policy: Policy, written: Written) -> None:
    """Whatever was written of a category with groups holds each of them whole or not at all."""
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

    Read off the policy's edges alone, without the codes that were published by.
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


def _width(column: Column, cells: Arrays) -> float:
    low, high, known = _intervals(column, cells)
    widths: Floats = high[known].astype(np.float64) - low[known].astype(np.float64)
    weights = np.asarray(cells["n"])[known]
    return float(np.average(widths, weights=weights)) if len(widths) else 0.0
