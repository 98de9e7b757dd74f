"""The verifier: re-measures every promise on the file that was written, before it may be served.

It reads the staged store back and trusts nothing that the publisher computed: class sizes are counted over the
written boxes, diversity over the written cells, raw rows are counted in every interval and set of every class, and
every edge must be one that the policy makes public (or, with tight edges, one that is attained). A promise that does
not hold stops the publication.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from querygate.core.publications.carried_classes import CarriedClasses, CarriedProof
from querygate.core.publications.vault_ports import ClassRanges, VerifierCounts, VerifierTables
from querygate.core.types import Arrays, Catalog, Column, Floats, Ints
from querygate.custody.columns.population import Population
from querygate.custody.policy import ColumnPolicy, Policy
from querygate.custody.verify.carried_check import check_carried, with_carried
from querygate.custody.verify.catalog_check import check_catalog, check_strays
from querygate.custody.verify.class_size_check import check_class_people, check_class_sizes
from querygate.custody.verify.code_check import measure_codes
from querygate.custody.verify.column_check import check_column, check_whole_column, widths_of
from querygate.custody.verify.diversity_check import CARRIED, WrittenCells, measure_guarantees, missing_values
from querygate.custody.verify.moment_check import check_moments
from querygate.custody.verify.person_check import check_people, count_people
from querygate.custody.verify.verifier_types import Measurement, Written, both, require
from querygate.methods.anonymise import partition_check

__all__ = ["Measurement", "Written", "verify_extended", "verify_release"]


def verify_extended(
    written: Written, policy: Policy, staging: VerifierTables, rows: int, proof: CarriedProof, before: Measurement
) -> Measurement:
    """The same of a version that took classes over: these are what was verified `before`, and the others are measured
    like any.
    """
    made = verify_release(written, policy, staging, rows, carried=proof.carried)
    check_carried(proof, written.catalog(), policy)  # which is the right one
    return with_carried(made, before, proof)


def verify_release(
    written: Written,
    policy: Policy,
    staging: VerifierTables,
    rows: int,
    population: Population | None = None,
    carried: CarriedClasses | None = None,
) -> Measurement:
    """Measure the written release and check it against the policy; ConfigError QG803 if a promise is broken. Of a
    release with carried classes the others are measured.

    If memory does not hold all cells, some classes are measured at a time. Classes that share a box may then be
    measured apart, which is stricter. What is promised of intervals and of the whole table is counted over all cells.
    """
    catalog = check_catalog(written, policy, staging, rows)
    made = rows - (carried.records if carried else 0)
    require(written.records() == made, "every record is counted once")
    found, told, widths = Measurement(rows, 0), 0, Widths()
    for part, counts in _parts(written, policy, staging, catalog):
        for column in catalog.columns if not told else ():
            whole = part.whole.get(column.name, part.cells)
            check_whole_column(column, policy, written, whole, counts_bins=carried is None)
        measured = _measured_classes(part, written, policy, counts, tight=catalog.tight)
        for guarantee in measure_guarantees(part, policy, population):
            measured.kept[guarantee.measure] = guarantee.figure
            require(guarantee.holds, guarantee.promise)
        if not part.whole:
            measured = _measured_together(part, written, policy, staging, catalog, measured)
        found, told = both(measured, found), told + int(part.cells["n"].sum())
        widths.add(catalog.columns, part.cells)
    require(told == made, "every record is counted once")
    check_strays(written)
    return replace(found, width=widths.means())


def _parts(
    written: Written, policy: Policy, staging: VerifierTables, catalog: Catalog
) -> Iterator[tuple[WrittenCells, VerifierCounts]]:
    """All cells and raw rows, or those of one range of classes after the other."""
    quasi = [column.index for column in catalog.columns if column.role == "quasi-identifier"]
    ranges = written.ranges() if isinstance(staging, ClassRanges) and _may_come_in_ranges(catalog, policy) else ()
    whole = {c.name: written.totals(c.index) for c in catalog.columns if c.role == "sensitive"} if ranges else {}
    for classes in ranges or (None,):
        cells = written.cells(quasi, classes)
        require(len(cells["n"]) > 0, "every record is counted once")
        counts = staging.of_classes(classes) if classes is not None and isinstance(staging, ClassRanges) else staging
        # The class of a cell as an outsider sees it: equal published quasi-identifiers, whatever the class id.
        box = np.asarray(cells["box"], dtype=np.int64)
        yield WrittenCells(catalog.columns, cells, box, written, counts, whole), counts


CLASS_BY_CLASS = frozenset(
    ("distinct", "p-sensitive", "entropy", "recursive", "alpha", "ke", "em", "range", "ck", "personalised")
)
"""Kinds of diversity of each class by itself. If two classes keep one, both as one class do."""


def _may_come_in_ranges(catalog: Catalog, policy: Policy) -> bool:
    """Whether every promise can be measured some classes at a time. That takes all at once for people with several
    rows, for lists of codes, for moments, and for what is learned from the whole table.
    """
    told = [(column, kept.kind) for column in policy.named("sensitive") for kept in column.diversity]
    return (
        not catalog.persons
        and not any(column.is_codes or column.moments != "none" for column in catalog.columns)
        and all(kind in CLASS_BY_CLASS or (kind == "t-closeness" and c.carry in CARRIED) for c, kind in told)
    )


def _measured_classes(
    part: WrittenCells, written: Written, policy: Policy, counts: VerifierCounts, *, tight: bool
) -> Measurement:
    """What these classes keep, besides the guarantees that the policy names."""
    sizes = np.bincount(part.box, part.cells["n"]).astype(np.int64)
    found = Measurement(check_class_sizes(part.cells, sizes, policy.k), int(sizes.max()))
    for column in part.columns:
        check_column(column, policy, tight, part.cells, written, counts)
        if column.role == "sensitive":
            _measure_column(part, column, policy.column(column.name), counts, found)
    return found


def _measure_column(
    part: WrittenCells, column: Column, wanted: ColumnPolicy, counts: VerifierCounts, found: Measurement
) -> None:
    """How many values the classes have, how far they are from the whole table, and how far numbers spread in each."""
    name, missing = column.name, missing_values(column, part.cells, part.written)
    asked = ~missing if wanted.spares_missing else np.ones_like(missing)
    if not asked.any():
        return
    box, values, n = part.box[asked], part.values(column)[asked], np.asarray(part.cells["n"])[asked]
    whole = part.counts(column, spares_missing=wanted.spares_missing)
    found.l[name] = partition_check.distinct_values(box, values)
    found.t[name] = partition_check.closeness(box, values, n, ordered=column.is_numeric, whole=whole)
    if not column.is_numeric or not wanted.guard:
        return
    classes, low, high = counts.class_hulls(name)
    if np.isnan(low).all() and (wanted.spares_missing or not part.has_values(column)):
        return  # a column without values has nothing to guard
    found.hull[name] = _narrowest(classes, low, high, spares_missing=wanted.spares_missing)
    require(found.hull[name] >= wanted.guard, f"the numeric guard of {name}")
    one = wanted.carry in ("hull", "joint")
    require(one or found.l[name] >= 2, f"two bins of {name} in each class")


def _measured_together(
    release: WrittenCells,
    written: Written,
    policy: Policy,
    staging: VerifierTables,
    catalog: Catalog,
    found: Measurement,
) -> Measurement:
    """With what takes all classes at once: people with several rows, lists of codes, moments."""
    people = count_people(release, policy.person) if catalog.persons else None
    check_class_people(people, policy.k)
    guarantees = list(check_people(release, policy)) if people is not None else []
    for guarantee in (*guarantees, *measure_codes(written, catalog, policy, release.cells, staging)):
        found.kept.update({guarantee.measure: guarantee.figure} if guarantee.measure else {})
        require(guarantee.holds, guarantee.promise)
    for promise in check_moments(written, catalog, policy, release.cells, staging):
        require(promise.holds, promise.promise)
    return replace(found, people=people)


class Widths:
    """The mean width of the intervals of each number, over all records."""

    def __init__(self) -> None:
        self._wide: dict[str, float] = {}
        self._records: dict[str, int] = {}

    def add(self, columns: Sequence[Column], cells: Arrays) -> None:
        for column in columns:
            if column.is_numeric:
                wide, records = widths_of(column, cells)
                self._wide[column.name] = self._wide.get(column.name, 0.0) + wide
                self._records[column.name] = self._records.get(column.name, 0) + records

    def means(self) -> dict[str, float]:
        return {name: wide / max(1, self._records[name]) for name, wide in self._wide.items()}


def _narrowest(classes: Ints, low: Floats, high: Floats, *, spares_missing: bool) -> float:
    """The narrowest hull of a class; of classes with any value alone, where missing values are spared."""
    asked = ~np.isnan(low) if spares_missing else np.ones_like(low, dtype=np.bool_)
    return partition_check.narrowest_hull(classes[asked], low[asked], high[asked])
