"""Is what an audit says so? Every finding held against the records themselves, and every failure counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from fractions import Fraction

import pyarrow as pa

from querygate.core.audit.audit_records import Unanswerable
from querygate.custody.audit.audit import Audit, AuditOptions, LogStatement, audit
from querygate.custody.audit.true_totals import exact_totals
from querygate.methods.audit import Finding, Inference, signs_left
from querygate_adapters.vault.raw_records import DuckDBRecords


class Held:
    """A table in memory as a source."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def columns(self) -> tuple[str, ...]:
        return tuple(self._table.column_names)

    def batches(self, columns: Sequence[str]) -> pa.RecordBatchReader:
        return self._table.select(list(columns)).to_reader()

    def reading(self) -> AbstractContextManager[None]:
        return nullcontext()


def audited(people: pa.Table, entries: Sequence[LogStatement], options: AuditOptions) -> tuple[Audit, DuckDBRecords]:
    records = DuckDBRecords(Held(people), memory_mb=512)
    found = audit(entries, records, options)
    exact_totals(found, records)
    return found, records


def failures(found: Audit) -> list[str]:
    """What the auditor itself got wrong: findings it could not prove, statements and tests it failed on."""
    unproved = [
        f"unproved {one.finding.kind} of {one.finding.queries}: {one.finding.rejected}" for one in found.unproved
    ]
    statements = [f"failed on {query}: {incident}" for query, incident in found.incidents.items()]
    return unproved + statements + [f"{view}: {one.fault!r}" for view, one in found.left if one.fault is not None]


def untrue(found: Audit, records: DuckDBRecords) -> Iterator[str]:
    """Inferred totals that the records contradict. Answers are doubles, so the last digits are forgiven."""
    sums: dict[str, list[Fraction]] = {}
    for finding, where in found.findings:
        for one in finding.inferred:
            if one.low is None or one.high is None or one.measure not in found.measures:
                continue
            if one.measure not in sums:
                sums[one.measure] = _sums(records, *found.measures[one.measure])
            value = _value(finding, one, sums[one.measure]) if sums[one.measure] else None
            if value is None:
                continue
            size = max([abs(total.low or 0) for total in finding.totals] + [abs(value), Fraction(1)])
            if not one.low - size / 10**6 <= value <= one.high + size / 10**6:
                told = f"{float(one.low)} .. {float(one.high)}"
                yield f"{finding.kind} of {one.measure}: {told}, and it is {float(value)}: {where}, {finding.queries}"


def _sums(records: DuckDBRecords, value: str, secret: str) -> list[Fraction]:
    """Total by place; none where they are too large to be written out."""
    try:
        return records.sums(value, secret)
    except Unanswerable:
        return []


def _value(finding: Finding, one: Inference, sums: Sequence[Fraction]) -> Fraction | None:
    """The true total that a finding is about; None where it is about no total."""
    if finding.coefficients:
        signs = signs_left(finding, one.measure)
        return sum((sign * sums[place] for place, sign in signs.items()), Fraction(0))
    if any(total.extreme for total in finding.totals) and finding.records != 1:
        return None
    return sum((sums[place] for place in finding.places.nonzero()[0].tolist()), Fraction(0))
