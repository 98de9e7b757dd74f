"""Logs to findings: answers of every shape, views, secrets, and what is left out."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from querygate.core.errors import ConfigError
from querygate.custody.audit.audit import Audit, AuditOptions, LogStatement, audit
from querygate_adapters.vault.raw_records import DuckDBRecords
from tests.engine import SharedParquet

AGES = [40, 41, 42, 43, 44, 45, 46, 47, 48, 50, 51, *([60, 61, 62, 63] * 5)]
PRESSURES: list[int | None] = [108, 112, 110, 109, 111, 110, 107, 113, 110, 110, 165, *([120, 130, 140, 150] * 5)]
PEOPLE: dict[str, list[Any]] = {
    "age": AGES,
    "sex": ["F" if age % 2 else "M" for age in AGES],
    "sbp": PRESSURES,
    "dx": ["hiv" if age == 51 else "flu" for age in AGES],
}
TEN = "SELECT AVG(sbp) FROM patients WHERE age BETWEEN 40 AND 50"
ELEVEN = "SELECT AVG(sbp) FROM patients WHERE age BETWEEN 40 AND 51"


def audited(folder: Path, *entries: LogStatement, people: dict[str, list[Any]] = PEOPLE, **options: Any) -> Audit:
    path = folder / "people.parquet"
    pyarrow.parquet.write_table(pa.table(people), path)
    return audit(entries, DuckDBRecords(SharedParquet(path)), AuditOptions(**options))


def test_the_classic(tmp_path: Path) -> None:
    found = audited(tmp_path, LogStatement("q1", "r1", TEN, answer=110), LogStatement("q2", "r1", ELEVEN, answer=115))

    ((finding, where),) = found.findings
    (inferred,) = finding.inferred
    assert (finding.kind, finding.severity, finding.records, where) == ("differencing", "disclosed", 1, "age = 51")
    assert (inferred.arithmetic, inferred.low, inferred.high) == ("11*115 - 10*110", 165, 165)
    assert (set(finding.queries), finding.users, finding.view) == ({"q1", "q2"}, ("r1",), "r1")


@pytest.mark.parametrize(
    "answers",
    [
        (110, 115),
        (110.0, 115.0),
        ("110", "115"),
        ([110], [115]),
        ([[110]], [[115]]),
        ([{"avg(sbp)": 110}], [{"avg(sbp)": 115}]),
        ({"low": 110, "high": 110}, {"low": 115, "high": 115}),
    ],
)
def test_answers_of_every_shape(answers: tuple[Any, Any], tmp_path: Path) -> None:
    found = audited(
        tmp_path, LogStatement("q1", "r", TEN, answer=answers[0]), LogStatement("q2", "r", ELEVEN, answer=answers[1])
    )
    assert [(i.low, i.high) for finding, _ in found.findings for i in finding.inferred] == [(165, 165)]


def test_ranges_leave_a_range(tmp_path: Path) -> None:
    found = audited(
        tmp_path,
        LogStatement("q1", "r", TEN, answer={"low": 109, "high": 111}),
        LogStatement("q2", "r", ELEVEN, answer={"low": 114, "high": 116}),
    )
    ((finding, _),) = found.findings
    (inferred,) = finding.inferred
    assert (finding.severity, inferred.low, inferred.high) == ("exposed", 11 * 114 - 10 * 111, 11 * 116 - 10 * 109)


def test_only_a_public_domain_is_combined_with_ranges(tmp_path: Path) -> None:
    """The greatest value of the data is somebody's: it must not come out as what the ranges leave open."""
    entries = [
        LogStatement("q1", "r", TEN, answer={"low": 100, "high": 120}),
        LogStatement("q2", "r", ELEVEN, answer={"low": 100, "high": 130}),
    ]
    for domains, most in (({}, 430), ({"sbp": (80, 200)}, 200)):
        ((finding, _),) = audited(tmp_path, *entries, domains=domains).findings
        assert finding.inferred[0].high == most


def test_without_answers_it_is_an_attempt(tmp_path: Path) -> None:
    found = audited(tmp_path, LogStatement("q1", "r", TEN), LogStatement("q2", "r", ELEVEN))
    ((finding, _),) = found.findings
    assert (finding.severity, finding.inferred[0].low) == ("attempt", None)


def test_a_mean_in_full_digits_still_gives_the_whole_number(tmp_path: Path) -> None:
    three = "SELECT AVG(sbp) FROM patients WHERE age IN (40, 41, 51)"
    two = "SELECT AVG(sbp) FROM patients WHERE age IN (40, 41)"
    found = audited(
        tmp_path, LogStatement("q1", "r", three, answer=385 / 3), LogStatement("q2", "r", two, answer=110.0), k=2
    )
    alone = [finding for finding, where in found.findings if where == "age = 51"]
    assert [(i.low, i.high) for finding in alone for i in finding.inferred] == [(165, 165)]
    assert alone[0].severity == "disclosed"


def test_the_smallest_view_has_it_and_colluders_are_named(tmp_path: Path) -> None:
    apart = audited(tmp_path, LogStatement("q1", "ann", TEN, answer=110), LogStatement("q2", "bob", ELEVEN, answer=115))
    ((finding, _),) = apart.findings
    assert (finding.kind, finding.view, set(finding.users)) == ("collusion", "everybody", {"ann", "bob"})

    team = audited(
        tmp_path,
        LogStatement("q1", "ann", TEN, answer=110),
        LogStatement("q2", "bob", ELEVEN, answer=115),
        LogStatement("q3", "eve", "SELECT COUNT(*) FROM patients", answer=31),
        groups={"team": ["ann", "bob"]},
    )
    assert [finding.view for finding, _ in team.findings] == ["team"]


def test_groups_of_one_statement_are_totals_of_their_own(tmp_path: Path) -> None:
    found = audited(
        tmp_path,
        LogStatement(
            "q1", "r", "SELECT sex, SUM(sbp) FROM patients WHERE age < 60 GROUP BY sex", answer=[["F", 719], ["M", 546]]
        ),
        LogStatement(
            "q2", "r", "SELECT sex, SUM(sbp) FROM patients WHERE age < 51 GROUP BY sex", answer=[["M", 546], ["F", 554]]
        ),
    )
    alone = [finding for finding, where in found.findings if where == "age = 51"]
    assert [(i.low, i.arithmetic) for finding in alone for i in finding.inferred] == [(165, "719 - 554")]


def test_missing_values_are_not_added_up(tmp_path: Path) -> None:
    people = {**PEOPLE, "sbp": [None if age == 50 else p for age, p in zip(AGES, PRESSURES, strict=True)]}
    found = audited(
        tmp_path, LogStatement("q1", "r", TEN, answer=110), LogStatement("q2", "r", ELEVEN, answer=115.5), people=people
    )
    ((finding, where),) = found.findings
    assert (where, finding.inferred[0].arithmetic) == ("age = 51", "10*115.5 - 9*110")


def test_extremes_that_differ_tell_whose_they_are(tmp_path: Path) -> None:
    found = audited(
        tmp_path,
        LogStatement("q1", "r", "SELECT MAX(sbp) FROM patients WHERE age <= 50", answer=113),
        LogStatement("q2", "r", "SELECT MAX(sbp) FROM patients WHERE age <= 51", answer=165),
    )
    ((finding, where),) = found.findings
    assert (where, finding.severity, finding.inferred[0].low) == ("age = 51", "disclosed", Fraction(165))


def test_what_cannot_be_audited_is_listed(tmp_path: Path) -> None:
    found = audited(
        tmp_path,
        LogStatement("q1", "r", "DROP TABLE patients"),
        LogStatement("q2", "r", "SELECT AVG(sbp) FROM patients WHERE nonsense(age) = 3"),
        LogStatement("q3", "r", "SELECT CORR(sbp, age) FROM patients"),
        LogStatement("q4", "r", "SELECT AVG(sbp) FROM patients"),
    )
    assert found.entries == 4
    assert [query for query, _ in found.unread] == ["q1", "q2", "q3"]
    assert all("patients" not in why and "51" not in why for _, why in found.unread)


def test_the_text_of_a_place_is_as_short_as_can_be(tmp_path: Path) -> None:
    found = audited(
        tmp_path,
        LogStatement("q1", "r", "SELECT SUM(sbp) FROM patients WHERE age BETWEEN 48 AND 51 AND sex = 'M'", answer=220),
        k=3,
    )
    ((finding, where),) = found.findings
    assert (finding.kind, finding.records, where) == ("narrow", 2, "age IN (48, 50)")


def test_functions_of_chance_are_not_audited(tmp_path: Path) -> None:
    found = audited(tmp_path, LogStatement("q1", "r", "SELECT AVG(sbp) FROM patients WHERE random() < 0.5"))
    assert ([query for query, _ in found.unread], found.findings) == (["q1"], ())


def test_a_secret_column_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as problem:
        audited(tmp_path, LogStatement("q1", "r", TEN), secret=("spb",))
    assert problem.value.code == "QG802"
