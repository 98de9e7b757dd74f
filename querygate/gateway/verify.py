"""The verifier: re-measures every promise on the file that was written, before it may be served.

It reads the staged store back and trusts nothing that the publisher computed: class sizes are counted over the
written boxes, diversity over the written cells, raw rows are counted in every interval and set of every class, and
every edge must be one that the policy makes public (or, with tight edges, one that is attained). A promise that does
not hold stops the publication.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from querygate.anonymise import verify
from querygate.core.errors import ConfigError
from querygate.core.ports import Workshop
from querygate.core.types import Catalog, Column, Floats, Ints
from querygate.gateway.coding import bin_codes, grid_codes
from querygate.policy import ColumnPolicy, Policy


class Written(Protocol):
    """A staged store file, read back."""

    def cells(self, quasi: Sequence[int]) -> dict[str, Any]: ...

    def sets(self, column: int) -> tuple[Ints, Ints, tuple[str, ...]]: ...

    def catalog(self) -> Catalog: ...


@dataclass(frozen=True, slots=True)
class Measured:
    """What the written version really keeps."""

    k: int
    largest: int
    l: dict[str, int] = field(default_factory=dict)  # noqa: E741 - fewest distinct values of a class, per sensitive column
    t: dict[str, float] = field(default_factory=dict)  # farthest class from the whole, per sensitive column
    hull: dict[str, float] = field(default_factory=dict)  # narrowest raw hull of a class, per guarded number
    width: dict[str, float] = field(default_factory=dict)  # mean width of a cell, per numeric column


def verify_release(written: Written, policy: Policy, workshop: Workshop, rows: int) -> Measured:
    """Measure the written release and check it against the policy; ConfigError QG803 if a promise is broken."""
    catalog = written.catalog()
    cells = written.cells([column.index for column in catalog.columns if column.role == "quasi-identifier"])
    # The class of a cell as an outsider sees it: equal published quasi-identifiers, whatever the class id.
    boxes = np.asarray(cells["box"], dtype=np.int64)
    sizes = np.bincount(boxes, cells["n"]).astype(np.int64)
    _check(int(cells["n"].sum()) == rows == catalog.rows, "every record is counted once")
    _check(bool((cells["n"] > 0).all()), "no cell is empty")
    _check(bool((np.bincount(cells["class"], cells["n"])[cells["class"]] == cells["class_n"]).all()), "class sizes")
    k = int(sizes[sizes > 0].min())
    _check(k >= policy.k, f"k = {policy.k}")
    for column in catalog.columns:
        if column.is_numeric:
            _check_number(column, policy, catalog.tight, cells, workshop)
        _check(_off(column, cells, written, workshop) == 0, f"every value of {column.name} lies where it is counted")
    l, t, hull = {}, {}, {}  # noqa: E741
    for column in catalog.columns:
        wanted = policy.column(column.name)
        if column.role == "sensitive":
            values = _values(column, cells)
            l[column.name] = verify.distinct_values(boxes, values)
            t[column.name] = verify.closeness(boxes, values, cells["n"], ordered=column.is_numeric)
            _check_diversity(wanted, boxes, values, cells["n"])
            if column.is_numeric and wanted.guard:
                classes, low, high = workshop.class_hulls(column.name)
                hull[column.name] = verify.narrowest_hull(classes, low, high)
                _check(hull[column.name] >= wanted.guard, f"the numeric guard of {column.name}")
                _check(wanted.carry == "hull" or l[column.name] >= 2, f"two bins of {column.name} in each class")
    return Measured(
        k, int(sizes.max()), l, t, hull, {c.name: _width(c, cells) for c in catalog.columns if c.is_numeric}
    )


def _check(holds: bool, promise: str) -> None:
    if not holds:
        raise ConfigError(
            "QG803",
            f"The verifier found that the release would not keep: {promise}.",
            "Nothing was published. This is a fault of the anonymiser; please report it with the policy.",
        )


def _check_number(column: Column, policy: Policy, tight: bool, cells: dict[str, Any], workshop: Workshop) -> None:
    """Where the intervals of a numeric column may begin and end."""
    wanted, name = policy.column(column.name), column.name
    _check(column.nullable == (f"c{column.index}_null" in cells), f"missing values of {name} are declared")
    low, high, known = _intervals(column, cells)
    if tight and column.role == "quasi-identifier":
        _, *hull = workshop.class_hulls(name)
        _, row = np.unique(cells["class"], return_index=True)
        edges = [np.where(known, end, np.nan)[row] for end in (low, high)]
        _check(all(map(_is_same, edges, hull)), f"the edges of {name} are attained")
    elif column.role != "public":
        public = bin_codes(wanted) if wanted.carry == "bins" else grid_codes(wanted)
        on_edges = np.isin(low[known], public.low).all() and np.isin(high[known], public.high).all()
        _check(bool(on_edges), f"the edges of {name} are public")
        if wanted.carry == "bins":
            below, above = (np.unique(end[known], return_inverse=True)[1] for end in (low, high))
            _, which = np.unique(below * (int(above.max(initial=0)) + 1) + above, return_inverse=True)
            held = np.bincount(which, cells["n"][known])
            _check(len(held) < 2 or bool(held.min() >= policy.k), f"k = {policy.k} in each bin of {name}")


def _is_same(a: Floats, b: Floats) -> bool:
    return np.array_equal(a, b, equal_nan=True)


def _intervals(column: Column, cells: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Ends of a numeric column in each cell, and where it has any."""
    low, high = (np.ma.asarray(cells[f"c{column.index}_{end}"]) for end in ("lo", "hi"))
    return low.data, high.data, ~np.ma.getmaskarray(low)


def _values(column: Column, cells: dict[str, Any]) -> Ints:
    """A number for each published value of a sensitive column; a missing one has a number too."""
    if not column.is_numeric:
        return np.asarray(cells[f"c{column.index}_set"], dtype=np.int64)
    low = cells[f"c{column.index}_lo"]
    return np.unique(np.ma.filled(np.ma.asarray(low, dtype=np.float64), np.inf), return_inverse=True)[1].reshape(-1)


def _off(column: Column, cells: dict[str, Any], written: Written, workshop: Workshop) -> int:
    """Published intervals or sets of a class that hold another number of raw rows than they say."""
    classes, counts = cells["class"], cells["n"]
    if not column.is_numeric:
        set_ids, value_ids, texts = written.sets(column.index)
        sets = cells[f"c{column.index}_set"]
        return workshop.sets_off(column.name, classes, sets, counts, (set_ids, value_ids), texts)
    low, high = cells[f"c{column.index}_lo"], cells[f"c{column.index}_hi"]
    null = cells.get(f"c{column.index}_null", np.zeros(len(classes), dtype=np.int64))
    return workshop.intervals_off(column.name, classes, low, high, null, counts)


def _check_diversity(wanted: ColumnPolicy, classes: Ints, values: Ints, counts: Ints) -> None:
    d = wanted.diversity
    if d is None:
        return
    tests: dict[str, Callable[[], bool]] = {
        "distinct": lambda: verify.distinct_values(classes, values) >= int(d.l or 0),
        "entropy": lambda: verify.entropy_l(classes, values, counts) >= float(d.l or 0) - 1e-8,
        "recursive": lambda: verify.recursive_ratio(classes, values, counts, l=int(d.l or 0)) < float(d.c or 0),
        "alpha": lambda: verify.largest_share(classes, values, counts) <= float(d.alpha or 0),
        "t-closeness": lambda: verify.closeness(classes, values, counts) <= float(d.t or 0) + 1e-8,
    }
    _check(tests[d.kind](), f"{d.kind} diversity of {wanted.name}")


def _width(column: Column, cells: dict[str, Any]) -> float:
    low, high, known = _intervals(column, cells)
    widths: Floats = high[known].astype(np.float64) - low[known].astype(np.float64)
    weights = np.asarray(cells["n"])[known]
    return float(np.average(widths, weights=weights)) if len(widths) else 0.0
