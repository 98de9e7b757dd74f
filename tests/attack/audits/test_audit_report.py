"""Reports on generated attacks: the true total of each finding is what its answers fix, and no masked page has it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from querygate.custody.audit.audit import AuditOptions, LogStatement, audit
from querygate.custody.audit.audit_page import make_audit_page
from querygate.custody.audit.audit_report import AuditOutcome, make_body
from querygate.custody.audit.true_totals import exact_totals
from querygate.custody.use_cases.audits.log_audit import audit_source
from querygate_adapters.vault.raw_records import DuckDBRecords
from tests.attack.logged_attacks import LINEAR, K, make_people, run_log
from tests.engine import SharedParquet


@pytest.mark.parametrize("name", LINEAR)
def test_the_true_total_is_what_the_answers_fix(name: str, tmp_path: Path) -> None:
    people = make_people(7)
    attack = LINEAR[name](people, np.random.default_rng(7))
    path = tmp_path / "people.parquet"
    pyarrow.parquet.write_table(pa.table(people.columns), path)

    def audited(entries: list[LogStatement]) -> AuditOutcome:
        records = DuckDBRecords(SharedParquet(path))
        found = audit(entries, records, AuditOptions(k=K, secret=attack.secrets))
        return AuditOutcome(found, entries, K, reveal=True, exact=exact_totals(found, records))

    entries = run_log(people, attack)
    told = audited(entries)
    fixed = {
        (finding.places.tobytes(), one.measure): (one.low, told.exact.get(number, {}).get(one.measure))
        for number, (finding, _) in enumerate(told.found.findings)
        for one in finding.inferred
        if one.low is not None and one.low == one.high
    }
    assert fixed
    assert [pair for pair in fixed.values() if pair[1] is None or abs(pair[0] - pair[1]) > 1e-6] == []

    silent = audited([replace(entry, answer=None) for entry in entries])
    for number, (finding, _) in enumerate(silent.found.findings):
        for measure, value in silent.exact.get(number, {}).items():
            low, _ = fixed.get((finding.places.tobytes(), measure), (value, value))
            assert abs(low - value) <= 1e-6

    masked = audit_source(entries, SharedParquet(path), AuditOptions(k=K, secret=attack.secrets), reveal=False)
    body = make_body([masked], name)
    assert {one.case for one in body.findings} == {case.id for case in body.cases}
    assert all(line.answer is None for one in body.findings for line in one.combination)
    assert all(one.hidden and one.low is None for finding in body.findings for one in finding.inferred)
    assert "Values of people are hidden." in make_audit_page(body, [masked])
    shown = make_audit_page(make_body([told], name), [told])
    assert "This page shows values of people" in shown
