"""Statements as analysts write them, from the first table of a paper to survey weights, put to the gate and to DuckDB.

Each file names its dataset in the first line. What is refused is listed with its code, and everything that is answered
holds DuckDB's answer on the raw rows.
"""

from __future__ import annotations

import duckdb
import pytest

from querygate.core.errors import Refusal
from querygate.core.types import Request
from querygate.gate.answer import answer
from tests.property.random_cases import RESEARCHER, Case
from tests.property.truth import differences
from tests.sql.cohort import published_cohort
from tests.sql.study import HERE, Sample, samples

ANALYSTS = samples("analysts")
LEAST_ANSWERED = 0.92


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return published_cohort(tmp_path_factory.mktemp("cohort"))


def outcome(sample: Sample, case: Case) -> tuple[str, bool, list[str]]:
    """The code of a refusal, whether DuckDB has an answer, and what is wrong with the gate's."""
    try:
        rows = case.truth.execute(sample.sql).fetchall()
    except duckdb.Error:
        rows = None
    try:
        given = answer(Request(RESEARCHER, "cohort", sample.sql), case.opened.gate)
    except Refusal as refusal:
        return refusal.code, rows is not None, []
    return "", rows is not None, differences(given, rows, sample.sql) if rows is not None else []


def test_analysts_are_answered_and_the_truth_is_inside(cohort: Case) -> None:
    found = [(sample, *outcome(sample, cohort)) for sample in ANALYSTS]
    unlike = [(sample.where, code) for sample, code, _, _ in found if code != sample.expected.get("code", "")]
    wrong = [f"{sample.where}: {text}" for sample, _, _, texts in found for text in texts]
    run = [code for _, code, runs, _ in found if runs]

    assert not wrong, "\n".join(wrong[:5])
    assert not unlike
    assert len(run) >= 200
    assert run.count("") / len(run) >= LEAST_ANSWERED


def test_every_file_names_its_dataset() -> None:
    firsts = {path.name: path.read_text().split("\n")[0] for path in (HERE / "analysts").glob("*.sql")}

    assert set(firsts.values()) == {"-- dataset: cohort"}


def test_other_dialects_are_refused_with_a_statement_that_works(cohort: Case) -> None:
    """Whoever writes for another database is told how to write it here."""
    asked = [sample for sample in ANALYSTS if "suggests" in sample.expected]
    assert len(asked) >= 10
    for sample in asked:
        with pytest.raises(Refusal) as caught:
            answer(Request(RESEARCHER, "cohort", sample.sql), cohort.opened.gate)
        assert caught.value.suggestion == sample.expected["suggests"]
        assert "another question" not in caught.value.remedy


def test_tests_of_association_are_the_published_ones(cohort: Case) -> None:
    """Armitage's trend as Sasieni (Biometrics 1997) writes it, and the chi-square of alleles, from the raw counts."""
    counts = cohort.truth.execute(
        "SELECT COUNT(*) FILTER (WHERE died), COUNT(died) FROM cohort GROUP BY education ORDER BY education"
    ).fetchall()
    cases, all_of = [[int(row[part]) for row in counts] for part in (0, 1)]
    n, r = sum(all_of), sum(cases)
    with_case, with_all = (sum(dose * some for dose, some in enumerate(of)) for of in (cases, all_of))
    squared = sum(dose * dose * some for dose, some in enumerate(all_of))
    trend = n * (n * with_case - r * with_all) ** 2 / (r * (n - r) * (n * squared - with_all**2))
    apart = 2 * n * with_case - 2 * r * with_all
    alleles = 2 * n * apart**2 / (2 * r * 2 * (n - r) * with_all * (2 * n - with_all))

    for name, expected in (("armitage_trend", trend), ("allelic_chi_square", alleles)):
        [asked] = [sample.sql for sample in ANALYSTS if f"AS {name}" in sample.sql]
        [[told]] = cohort.truth.execute(asked).fetchall()
        assert told == pytest.approx(expected)
        [group] = answer(Request(RESEARCHER, "cohort", asked), cohort.opened.gate).groups
        assert group.ranges[0].low <= expected <= group.ranges[0].high
