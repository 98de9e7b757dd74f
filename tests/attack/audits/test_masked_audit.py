"""Whoever reads an audit without values learns none: twins that differ only in secrets give the same report."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest
from click.testing import CliRunner

from querygate.cli import main
from querygate.core.audit.audit_body import AuditFinding
from querygate.core.json_body import to_json
from querygate.core.types import Principal, Request
from querygate.custody.audit.audit import AuditOptions, LogStatement
from querygate.custody.audit.audit_page import make_audit_page
from querygate.custody.audit.audit_report import AuditOutcome, make_body
from querygate.custody.use_cases.audits.log_audit import audit_file, audit_source
from querygate.custody.use_cases.publish_version import publish_to
from querygate.gate.answer import ask
from querygate.site.layout import init_site, open_site
from querygate.site.open_gate import open_gate
from tests.engine import SharedParquet
from tests.policies import make_policy, quasi, sensitive
from tests.unit.custody.publish.publications import write_parquet

SECRET = 165
AGES = [*range(40, 51), 51, *([60, 61, 62, 63] * 5)]
COUNT = "SELECT COUNT(*) FROM t WHERE age = 51 AND systolic >= {}"


def people(systolic: int | None = SECRET, dx: str | None = "flu", others: int = 100) -> dict[str, list[Any]]:
    """One person of 51, whose secrets are those given."""
    return {
        "age": AGES,
        "sex": ["f" if age % 2 else "m" for age in AGES],
        "systolic": [systolic if age == 51 else others + age for age in AGES],
        "dx": [dx if age == 51 else ("flu", "cold", None)[age % 3] if others == 100 else "cold" for age in AGES],
    }


TWINS = (people(), people(164, "hiv"), people(None, "plague", 90))
"""On either side of thresholds; missing; one of many, or the only one of its kind."""

PROBES = (
    tuple(COUNT.format(t) for t in (150, 164, 165, 166)),
    tuple(f"SELECT COUNT(*) FROM t WHERE age <= {a} AND systolic >= {t}" for a, t in ((51, 164), (50, 165))),
    tuple(f"SELECT COUNT(*) FROM t WHERE age <= {a} AND systolic * 2 < {t}" for a, t in ((51, 330), (50, 332))),
    ("SELECT dx, COUNT(*) FROM t WHERE age = 51 GROUP BY dx",),
    ("SELECT COUNT(*) FROM t WHERE age = 51 AND dx = 'hiv'", "SELECT COUNT(*) FROM t WHERE age = 51 AND dx <> 'flu'"),
    ("SELECT COUNT(systolic) FROM t WHERE age = 51", "SELECT COUNT(*) FROM t WHERE age = 51 AND dx IS NULL"),
    ("SELECT AVG(systolic) FROM t WHERE age < 60 AND dx = 'flu'", "SELECT AVG(systolic) FROM t WHERE age < 51"),
    ("SELECT MAX(systolic) FROM t WHERE age < 60", "SELECT MAX(systolic) FROM t WHERE age <= 50"),
    ("SELECT SUM(systolic) FROM t", "SELECT VAR_SAMP(systolic) FROM t WHERE age IN (50, 51)"),
    ("SELECT COUNT(*) FROM t WHERE age > 52 AND dx = 'hiv'", "SELECT COUNT(*) FROM t WHERE LN(systolic) > 5"),
)


def everything(outcomes: list[AuditOutcome]) -> str:
    body = make_body(outcomes, "t")
    return json.dumps(to_json(body)) + make_audit_page(body, outcomes)


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("twins")
    paths = [folder / f"{i}.parquet" for i in range(len(TWINS))]
    schema = pa.schema({"age": pa.int64(), "sex": pa.string(), "systolic": pa.int64(), "dx": pa.string()})
    for path, one in zip(paths, TWINS, strict=True):
        pyarrow.parquet.write_table(pa.table(one, schema=schema), path)
    return paths


def test_no_secret_changes_what_is_told_without_values(twins: list[Path]) -> None:
    """Each probe is somebody's; all of them are found."""
    options = AuditOptions(k=5, secret=("systolic", "dx"), nullable=("systolic",))
    asked = [(f"user {i}", sql) for i, log in enumerate(PROBES) for sql in log]
    entries = [LogStatement(f"q{i}", user, sql) for i, (user, sql) in enumerate(asked)]
    outcomes = [audit_source(entries, SharedParquet(path), options, reveal=False) for path in twins]
    assert len({everything([one]) for one in outcomes}) == 1
    found = make_body(outcomes[:1], "t")
    assert {name for one in found.findings for name in one.users} == {user for user, _ in asked}
    assert not found.incidents
    assert not found.unproved


def findings(log: tuple[str, ...], path: Path, *, reveal: bool) -> tuple[AuditFinding, ...]:
    entries = [LogStatement(f"q{i}", "ann", sql) for i, sql in enumerate(log)]
    options = AuditOptions(k=5, secret=("systolic", "dx"))
    return make_body([audit_source(entries, SharedParquet(path), options, reveal=reveal)], "t").findings


def test_thresholds_are_all_named_or_none(twins: list[Path]) -> None:
    """With values, those that hold for the same people are one."""
    [masked] = findings(PROBES[0], twins[0], reveal=False)
    assert {f"systolic >= {t}" for t in (150, 164, 165, 166)} <= {one.column for one in masked.inferred}
    [shown] = findings(PROBES[0], twins[0], reveal=True)
    assert "systolic >= 165" not in {one.column for one in shown.inferred}


CANDIDATES = (150, 164, SECRET, 166)


def test_whoever_asks_and_reads_the_report_rules_out_no_value(tmp_path: Path, twins: list[Path]) -> None:
    """The attack: try each value that the person could have on a table of one's own, and keep those that give the same
    report. With the names of an audit that reads secrets one value is left, though no value is in the report."""

    def named(path: Path, *, reveal: bool) -> set[str]:
        return {told.column for one in findings(PROBES[0], path, reveal=reveal) for told in one.inferred}

    own = {value: write_parquet(tmp_path / f"{value}.parquet", people(value)) for value in CANDIDATES}
    for reveal, left in ((True, [SECRET]), (False, list(CANDIDATES))):
        told = named(twins[0], reveal=reveal)
        assert [value for value in CANDIDATES if named(own[value], reveal=reveal) == told] == left


def test_what_means_the_same_is_one_measure(twins: list[Path]) -> None:
    log = (COUNT.format(165), "SELECT COUNT(*) FROM t WHERE age = 51 AND systolic > 164")
    [told] = findings(log, twins[0], reveal=False)
    assert [one.column for one in told.inferred] == ["systolic >= 165", "anything about systolic"]


@pytest.mark.parametrize("mapped", [True, False])
def test_of_a_foreign_log_a_verdict_is_told_for_each_case(tmp_path: Path, twins: list[Path], *, mapped: bool) -> None:
    """Answers make it grave; which of several statements they are to is not told."""
    log = tmp_path / "log.jsonl"
    answers = [1, 1, 1, 0] if mapped else [None] * 4
    lines = [{"id": f"q{i}", "user": "ann", "sql": s, "answer": answers[i]} for i, s in enumerate(PROBES[0])]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    options = AuditOptions(k=5, secret=("systolic", "dx"))
    body = make_body(audit_file(log, [str(twins[0])], options, reveal=False), "t")
    assert {case.severity for case in body.cases} == {"disclosed" if mapped else "attempt"}
    assert {one.severity for one in body.findings} == {case.severity for case in body.cases}
    assert {line.answer for one in body.findings for line in one.combination} == {None}


POLICY = make_policy(
    "t",
    {
        "age": quasi("integer", (0, 99), grid=1, cuts=[30, 60]),
        "sex": quasi("category", values=["f", "m"]),
        "systolic": sensitive("integer", (40, 400)),
        "dx": sensitive("category", values=["cold", "flu", "hiv", "plague"]),
    },
    k=5,
)


def test_the_command_and_the_record_tell_the_same_of_twins(tmp_path: Path) -> None:
    """One site, asked; its twin has the same log, and other secrets in the vault. API and console show the record."""
    site = init_site(tmp_path / "site")
    opened = open_gate(open_site(site.folder))
    publish_to(opened, POLICY.parsed(), str(write_parquet(tmp_path / "t.parquet", people())), user="local")
    opened.accounts.add_user("ann", "researcher")
    for sql in (*PROBES[0], *PROBES[1], *PROBES[3]):
        ask(Request(Principal("ann", "researcher"), "t", sql), opened.gate)
    shutil.copytree(site.folder, tmp_path / "twin")
    [vault] = (tmp_path / "twin" / "vault" / "t").glob("*.duckdb")
    with duckdb.connect(str(vault)) as twin:
        twin.execute("UPDATE rows SET systolic = 164 + systolic % 7, dx = 'hiv' WHERE age = 51 OR systolic % 2 = 0")
    told = []
    for folder in (site.folder, tmp_path / "twin"):
        words = ("--site", str(folder), "audit", "run", "--dataset", "t", "--format")
        shown = [CliRunner().invoke(main, [*words, form]) for form in ("table", "json")]
        found = open_gate(open_site(folder)).log.last("audit.findings", "t")
        assert found
        told.append([*((one.stdout, one.exit_code) for one in shown), found["body"]])
    assert told[0] == told[1]
    assert "systolic >= 165" in told[0][0][0]
