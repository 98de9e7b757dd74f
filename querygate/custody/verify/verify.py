"""The verifier: re-measures every promise on the file that was written, before it may be served.

It reads the staged store back and trusts nothing that the publisher computed: class sizes are counted over the
written boxes, diversity over the written cells, raw rows are counted in every interval and set of every class, and
every edge must be one that the policy makes public (or, with tight edges, one that is attained). A promise that does
not hold stops the publication.
"""

from __future__ import annotations

import numpy as np

from querygate.core.carried_classes import CarriedClasses, CarriedProof
from querygate.core.types import Floats, Ints
from querygate.core.vault_ports import VerifierTables
from querygate.custody.columns.population import Population
from querygate.custody.policy import Policy
from querygate.custody.verify.carried_check import check_carried, with_carried
from querygate.custody.verify.catalog_check import check_catalog, check_strays
from querygate.custody.verify.class_size_check import check_class_people, check_class_sizes
from querygate.custody.verify.code_check import measure_codes
from querygate.custody.verify.column_check import check_column, mean_width
from querygate.custody.verify.diversity_check import WrittenCells, measure_guarantees, missing_values, published_values
from querygate.custody.verify.moment_check import check_moments
from querygate.custody.verify.person_check import check_people, count_people
from querygate.custody.verify.verifier_types import Measurement, Written, require
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
    """
    catalog = check_catalog(written, policy, staging, rows)
    cells = written.cells([column.index for column in catalog.columns if column.role == "quasi-identifier"])
    # The class of a cell as an outsider sees it: equal published quasi-identifiers, whatever the class id.
    boxes = np.asarray(cells["box"], dtype=np.int64)
    sizes = np.bincount(boxes, cells["n"]).astype(np.int64)
    k = check_class_sizes(cells, sizes, rows - (carried.records if carried else 0), policy.k)
    release = WrittenCells(catalog.columns, cells, boxes, written, staging)
    people = count_people(release, policy.person) if catalog.persons else None
    check_class_people(people, policy.k)
    for column in catalog.columns:
        check_column(column, policy, catalog.tight, cells, written, staging, whole=carried is None)
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
                    continue  # a column without values has nothing to guard
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
    width = {c.name: mean_width(c, cells) for c in catalog.columns if c.is_numeric}
    return Measurement(k, int(sizes.max()), l, t, hull, width, kept, people)


def _narrowest(classes: Ints, low: Floats, high: Floats, *, spares_missing: bool) -> float:
    """The narrowest hull of a class; of classes with any value alone, where missing values are spared."""
    asked = ~np.isnan(low) if spares_missing else np.ones_like(low, dtype=np.bool_)
    return partition_check.narrowest_hull(classes[asked], low[asked], high[asked])
