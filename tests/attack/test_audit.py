"""The auditor against generated attacks: each is proved to disclose, and found, in the right view, with its proof."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from querygate.gateway.auditing import Audit, Entry, Options, audit
from querygate_adapters.records import DuckDBRecords
from querygate_adapters.sources import open_source
from tests.attack.logged_attacks import LINEAR, K, People, make_people, run_log

SEEDS = range(2)


def audited(people: People, entries: list[Entry], folder: Path, secrets: tuple[str, ...]) -> Audit:
    path = folder / "people.parquet"
    pyarrow.parquet.write_table(pa.table(people.columns), path)
    return audit(entries, DuckDBRecords(open_source(str(path))), Options(k=K, secret=secrets))


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


@pytest.mark.parametrize("seed", SEEDS)
def test_honest_tables_by_bands_disclose_nothing(seed: int, tmp_path: Path) -> None:
    people = make_people(seed, 4_000)
    random = np.random.default_rng(seed)
    entries = []
    for i in range(200):
        band = int(random.choice([10, 20]))
        key = f"FLOOR(age / {band})"
        where = random.choice(["TRUE", "sex = 'F'", "region IN ('N', 'S')"])
        sql = f"SELECT {key} AS band, COUNT(*), AVG(sbp) FROM patients WHERE {where} GROUP BY 1"
        entries.append(Entry(f"q{i}", f"user {i % 5}", sql, answer=None))
    found = audited(people, entries, tmp_path, ("sbp", "dx"))
    assert found.unread == ()
    assert [finding for finding, _ in found.findings if finding.severity == "disclosed"] == []
    assert [finding for finding, _ in found.findings if finding.records < K] == []
