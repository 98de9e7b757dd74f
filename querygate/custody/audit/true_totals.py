"""What exact answers would have revealed about an isolated group: its true total, from the records.

Only for the custodian, who sees it beside the range that the given answers leave."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from querygate.core.audit.audit_records import AuditRecords, Unanswerable
from querygate.custody.audit.audit import Audit
from querygate.methods.audit import Finding, Inference, signs_left

Exact = Mapping[int, Mapping[str, Fraction]]
"""By the number of the finding, then by measure."""


def exact_totals(found: Audit, records: AuditRecords) -> Exact:
    """The true total that each finding's combination leaves. `records` are in the state that the audit left."""
    sums: dict[str, list[Fraction]] = {}
    exact: dict[int, dict[str, Fraction]] = {}
    for number, (finding, _) in enumerate(found.findings):
        for one in finding.inferred:
            if one.measure not in sums:
                sums[one.measure] = _sums(found, records, one.measure)
            times = _times(finding, one.measure)
            if not sums[one.measure] or not times:
                continue
            value = sum((c * sums[one.measure][place] for place, c in times.items()), Fraction(0))
            if _is_possible(value, one):
                exact.setdefault(number, {})[one.measure] = value
    return exact


def _sums(found: Audit, records: AuditRecords, measure: str) -> list[Fraction]:
    """Totals by place; none if the measure is not directly in the data."""
    try:
        return records.sums(*found.measures[measure]) if measure in found.measures else []
    except Unanswerable:
        return []


def _times(finding: Finding, measure: str) -> dict[int, int]:
    """1 or -1 for each isolated place: where only the difference of two groups is known, one is subtracted."""
    places = np.flatnonzero(finding.places)
    if not finding.coefficients:  # an extreme is one record's value, and does not add up
        adds_up = finding.records == 1 or not any(total.extreme for total in finding.totals)
        return dict.fromkeys(places.tolist(), 1) if adds_up else {}
    return signs_left(finding, measure)


def _is_possible(value: Fraction, one: Inference) -> bool:
    """Does the total agree with the answers? It may not if the data have changed since."""
    slack = max(Fraction(1), abs(value)) / 10**6
    return (one.low is None or one.low - slack <= value) and (one.high is None or value <= one.high + slack)
