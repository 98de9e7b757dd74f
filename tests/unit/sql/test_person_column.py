"""Counting persons is counting rows; nothing else can be asked of the column that tells them apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from querygate.cli.shared.shared_options import LOCAL
from querygate.core.errors import ExtractRefused, UnsupportedSQL
from querygate.core.types import Catalog, NoiseOptions, Request
from querygate.custody.audit.audit import AuditOptions
from querygate.custody.use_cases.audits.log_audit import audit_site
from querygate.custody.use_cases.publish_version import publish_to
from querygate.gate import answer as gate
from querygate.gate.description import explain_policy
from querygate.site.layout import init_site
from querygate.site.open_gate import open_gate
from querygate.sql import understand
from querygate.sql.extract_condition import read_condition
from querygate.sql.noisy_plan import understand_noisy
from querygate_adapters.sources.open_source import open_source
from tests.api.small_site import POLICY, csv_text
from tests.sql.study import CATALOG, NATIVE

KNOWN = replace(CATALOG, person="Mrn")
T = CATALOG.dataset

ALIKE = [
    (f"SELECT COUNT(DISTINCT mrn) FROM {T}", f"SELECT COUNT(*) FROM {T}"),
    (f"SELECT COUNT(mrn) FROM {T} WHERE age > 40", f"SELECT COUNT(*) FROM {T} WHERE age > 40"),
    (f"SELECT COUNT(DISTINCT p.MRN) FROM {T} p", f"SELECT COUNT(*) FROM {T}"),
    (f"SELECT sex, COUNT(DISTINCT (mrn)) FROM {T} GROUP BY sex", f"SELECT sex, COUNT(*) FROM {T} GROUP BY sex"),
    (
        f"SELECT COUNT(DISTINCT mrn) FILTER (WHERE age > 40) FROM {T}",
        f"SELECT COUNT(*) FILTER (WHERE age > 40) FROM {T}",
    ),
    (
        f"SELECT COUNT(DISTINCT CASE WHEN age > 40 THEN mrn END) FROM {T}",
        f"SELECT COUNT(*) FILTER (WHERE age > 40) FROM {T}",
    ),
    (
        f"SELECT COUNT(DISTINCT CASE WHEN age > 40 THEN NULL WHEN sex = 'F' THEN mrn ELSE NULL END) FROM {T}",
        f"SELECT COUNT(*) FILTER (WHERE age <= 40 AND sex = 'F') FROM {T}",
    ),
    (f"SELECT COUNT(DISTINCT IF(age > 40, mrn, NULL)) FROM {T}", f"SELECT COUNT_IF(age > 40) FROM {T}"),
    (
        f"SELECT COUNT(DISTINCT id) FROM (SELECT mrn AS id, age FROM {T} WHERE age > 40) t WHERE age < 60",
        f"SELECT COUNT(*) FROM {T} WHERE age > 40 AND age < 60",
    ),
    (
        f"SELECT AVG(n) FROM (SELECT sex, COUNT(DISTINCT mrn) AS n FROM {T} GROUP BY sex) t",
        f"SELECT AVG(n) FROM (SELECT sex, COUNT(*) AS n FROM {T} GROUP BY sex) t",
    ),
    (
        f"SELECT sex, AVG(sbp) FROM {T} GROUP BY sex HAVING COUNT(DISTINCT mrn) > 10 ORDER BY COUNT(mrn)",
        f"SELECT sex, AVG(sbp) FROM {T} GROUP BY sex HAVING COUNT(*) > 10 ORDER BY COUNT(*)",
    ),
]


@pytest.mark.parametrize(("persons", "rows"), ALIKE)
def test_counting_persons_is_counting_rows(persons: str, rows: str) -> None:
    one, other = understand(persons, KNOWN, NATIVE), understand(rows, KNOWN, NATIVE)
    assert one.hash == other.hash or "COUNT_IF" in rows  # which may be NULL where the other is 0
    assert [output.type for output in one.outputs] == [output.type for output in other.outputs]
    with pytest.raises(UnsupportedSQL, match="has no column"):
        understand(persons, CATALOG, NATIVE)


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT COUNT(*) FROM {T} WHERE mrn = 'a'",
        f"SELECT COUNT(*) FROM {T} WHERE mrn IS NULL",
        f"SELECT mrn, COUNT(*) FROM {T} GROUP BY mrn",
        f"SELECT mrn FROM {T}",
        f"SELECT MIN(mrn) FROM {T}",
        f"SELECT COUNT(DISTINCT SUBSTRING(mrn, 1, 1)) FROM {T}",
        f"SELECT COUNT(DISTINCT COALESCE(mrn, 'x')) FROM {T}",
        f"SELECT COUNT(DISTINCT CASE WHEN age > 40 THEN mrn ELSE 'x' END) FROM {T}",
        f"SELECT COUNT(DISTINCT CASE WHEN mrn = 'a' THEN mrn END) FROM {T}",
        f"SELECT COUNT(DISTINCT CASE mrn WHEN 'a' THEN mrn END) FROM {T}",
        f"SELECT COUNT(DISTINCT IF(mrn < 'm', mrn, NULL)) FROM {T}",
        f"SELECT COUNT(mrn) FROM {T} ORDER BY MAX(mrn)",
        f"SELECT AVG(sbp) FILTER (WHERE mrn > 'm') FROM {T}",
    ],
)
def test_nothing_else_is_answered(sql: str) -> None:
    with pytest.raises(UnsupportedSQL) as caught:
        understand(sql, KNOWN, NATIVE)
    assert (caught.value.code, caught.value.suggestion is not None) == ("QG209", True)
    assert "can only be counted" in caught.value.detail


def test_a_star_is_what_is_published() -> None:
    starred = understand(f"SELECT COUNT(*) FROM (SELECT * FROM {T}) t", KNOWN, NATIVE)
    assert starred.hash == understand(f"SELECT COUNT(*) FROM {T}", KNOWN, NATIVE).hash
    with pytest.raises(UnsupportedSQL, match="has no column"):
        understand(f"SELECT COUNT(mrn) FROM (SELECT * FROM {T}) t", KNOWN, NATIVE)


def test_persons_of_a_site(tmp_path: Path) -> None:
    """Published, asked, described and audited; the name alone is told."""
    opened = open_gate(init_site(tmp_path / "site"))
    (tmp_path / "clinic.csv").write_text(csv_text())
    policy = POLICY.but(person="mrn").parsed()
    publish_to(opened, policy, open_source(str(tmp_path / "clinic.csv")), user="carl")

    def ask(sql: str) -> object:
        (row,) = gate.ask(Request(LOCAL, "clinic", sql), opened.gate)["rows"]
        return row

    assert ask("SELECT COUNT(DISTINCT mrn) AS n FROM clinic") == ask("SELECT COUNT(*) AS n FROM clinic")
    below = "FROM clinic WHERE age < 41"
    assert ask(f"SELECT COUNT(DISTINCT mrn) AS n {below}") == ask(f"SELECT COUNT(*) AS n {below}")
    assert any("mrn" in line for line in explain_policy(opened.store.current("clinic").catalog))
    (audited,) = audit_site(opened, "clinic", AuditOptions(), reveal=False)
    assert audited.found.unread == ()
    assert audited.found.places <= 40
    with pytest.raises(UnsupportedSQL, match="only be counted") as caught:
        ask("SELECT AVG(sbp) FROM clinic WHERE mrn = 'MRN-7003'")
    assert "7003" not in caught.value.detail


NOISE = NoiseOptions(1.0, 10.0, 10.0, person="Mrn")
SEVERAL = replace(CATALOG, persons=30)


@pytest.mark.parametrize("column", ["mrn", '"Mrn"', "(MRN)", "CASE WHEN age > 40 THEN mrn END"])
def test_people_with_several_rows_are_not_counted_by_ranges(column: str) -> None:
    noisy = replace(SEVERAL, noise=NOISE, modes=("interval", "laplace"))
    for catalog, remedy in ((noisy, "Use mode laplace"), (SEVERAL, "cannot count people")):
        with pytest.raises(UnsupportedSQL) as refused:
            understand(f"SELECT sex,\n  COUNT(DISTINCT {column}) FROM {T} GROUP BY sex", catalog, NATIVE)
        assert refused.value.code == "QG203"
        assert remedy in refused.value.remedy
    assert understand_noisy(f"SELECT COUNT(DISTINCT mrn) FROM {T}", noisy, NATIVE).releases[0].persons


def test_other_unknown_columns_are_just_unknown() -> None:
    with pytest.raises(UnsupportedSQL) as refused:
        understand(f"SELECT AVG(nosuch) FROM {T}", replace(SEVERAL, noise=NOISE), NATIVE)
    assert "people" not in f"{refused.value.detail} {refused.value.remedy}".lower()


def test_every_column_of_a_subquery_is_no_question_about_persons() -> None:
    noisy = replace(SEVERAL, noise=NOISE, modes=("laplace",))
    whole = understand_noisy(f"SELECT COUNT(*) FROM {T} WHERE age > 40", noisy, NATIVE)
    inside = f"(SELECT * FROM {T})"
    assert understand_noisy(f"SELECT COUNT(*) FROM {inside} WHERE age > 40", noisy, NATIVE).plan.hash == whole.plan.hash
    for sql in (
        f"SELECT COUNT(*) FROM {inside} WHERE mrn = 'P1'",
        f"SELECT COUNT(*) FROM (SELECT * FROM {T} WHERE mrn = 'P1')",
        f"SELECT mrn, COUNT(*) FROM {inside} GROUP BY mrn",
        f"SELECT COUNT(*) FROM (SELECT mrn AS id FROM {T}) WHERE id = 'P1'",
    ):
        with pytest.raises(UnsupportedSQL, match="People can only be counted"):
            understand_noisy(sql, noisy, NATIVE)


@pytest.mark.parametrize("catalog", [KNOWN, replace(SEVERAL, noise=NOISE), replace(KNOWN, noise=NOISE)])
def test_extracts_are_not_selected_by_who_people_are(catalog: Catalog) -> None:
    with pytest.raises(ExtractRefused) as refused:
        read_condition("mrn = 'P1'", catalog, NATIVE)
    assert refused.value.code == "QG604"
    assert "extracts cannot be selected by the column that identifies people (Mrn)" in refused.value.detail
    assert read_condition("age > 40", catalog, NATIVE)[1] == {"age"}
