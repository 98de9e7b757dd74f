"""The auditor against generated attacks: each is proved to disclose, and found, in the right view, with its proof."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from querygate.custody.audit.audit import Audit, AuditOptions, LogStatement, audit
from querygate_adapters.vault.raw_records import DuckDBRecords
from tests.attack.logged_attacks import LINEAR, K, People, division, largest, make_people, run_log
from tests.engine import SharedParquet

SEEDS = range(2)


def audited(people: People, entries: list[LogStatement], folder: Path, secrets: tuple[str, ...]) -> Audit:
    path = folder / "people.parquet"
    pyarrow.parquet.write_table(pa.table(people.columns), path)
    return audit(entries, DuckDBRecords(SharedParquet(path)), AuditOptions(k=K, secret=secrets))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", LINEAR)
def test_every_linear_attack_is_found_with_its_proof(name: str, seed: int, tmp_path: Path) -> None:
    people = make_people(1000 + seed)
    attack = LINEAR[name](people, np.random.default_rng(seed))
    entries = run_log(people, attack)
    row = people.row(attack.person)
    value = attack.secret(row)
    assert attack.recover([entry.answer for entry in entries]) == value  # it discloses

    found = audited(people, entries, tmp_path, attack.secrets)

    assert found.unread == ()
    hits = [
        finding
        for finding, _ in found.findings
        if finding.records == 1
        and finding.severity == "disclosed"
        and set(finding.users) <= attack.users
        and any(one.low == one.high == value for one in finding.inferred)
    ]
    assert hits
    if len(attack.users) > 1:
        assert all(finding.kind == "collusion" and finding.view == "everybody" for finding in hits)
    else:
        assert hits[0].view == "eve"


@pytest.mark.parametrize("seed", range(4))
def test_a_maximum_tells_who_has_it(seed: int, tmp_path: Path) -> None:
    people = make_people(2000 + seed)
    attack = largest(people, np.random.default_rng(seed))
    entries = run_log(people, attack)
    value = attack.secret(people.row(attack.person))
    assert attack.recover([entry.answer for entry in entries]) == value

    found = audited(people, entries, tmp_path, attack.secrets)

    told = [f for f, _ in found.findings if f.records == 1 and f.severity == "disclosed"]
    assert [(one.low, one.high) for f in told for one in f.inferred] == [(value, value)]


def test_a_failure_that_depends_on_one_person_is_an_attempt(tmp_path: Path) -> None:
    people = make_people(3000)
    ((user, sql),) = division(people, np.random.default_rng(0))
    found = audited(people, [LogStatement("q1", user, sql)], tmp_path, ("sbp", "dx"))
    assert [(f.kind, f.severity, f.records) for f, _ in found.findings if f.kind == "error"] == [
        ("error", "attempt", 1)
    ]


def test_the_same_number_again_and_again_is_told(tmp_path: Path) -> None:
    people = make_people(3001)
    asked = [f"SELECT AVG(sbp) FROM patients WHERE {'age >= 0 AND ' * i} sex = 'F'" for i in range(6)]
    entries = [LogStatement(f"q{i}", "eve", sql, answer=140 + i) for i, sql in enumerate(asked)]
    found = audited(people, entries, tmp_path, ("sbp", "dx"))
    assert [(f.kind, f.severity, len(f.queries)) for f, _ in found.findings] == [("averaging", "notice", 6)]


def test_two_thousand_honest_tables_by_bands_disclose_nothing(tmp_path: Path) -> None:
    people = make_people(5, 4_000)
    random = np.random.default_rng(5)
    database = people.database()
    answers: dict[str, list[list[object]]] = {}
    entries = []
    for i in range(2_000):
        key = f"FLOOR(age / {random.choice([10, 20])})"
        where = random.choice(["TRUE", "sex = 'F'", "region IN ('N', 'S')", "dx = 'flu'"])
        what = random.choice(
            ["COUNT(*), AVG(sbp)", "SUM(sbp), STDDEV(sbp)", "SUM(CASE WHEN dx = 'hiv' THEN 1 ELSE 0 END)"]
        )
        sql = f"SELECT {key} AS band, {what} FROM patients WHERE {where} GROUP BY 1"
        if sql not in answers:
            answers[sql] = [list(row) for row in database.execute(sql).fetchall()]
        entries.append(LogStatement(f"q{i}", f"user {i % 5}", sql, answer=answers[sql]))
    found = audited(people, entries, tmp_path, ("sbp", "dx"))
    assert found.unread == ()
    assert [finding for finding, _ in found.findings if finding.severity == "disclosed"] == []
    assert [finding for finding, _ in found.findings if finding.records < K] == []
