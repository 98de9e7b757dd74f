"""Tables of more combinations than memory holds: cut coarsely, divided part by part, and as good as in one piece."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from querygate.core.errors import ConfigError
from querygate.core.publications.coarse_parts import numbers_of
from querygate.custody.publish import partition
from querygate.custody.publish.publish import Report
from querygate.methods.anonymise import Attribute, Closeness, Infeasible, Sensitive, coarse_cuts
from querygate.site.open_gate import OpenSite
from tests.policies import AGE, ILLNESS, SBP, SEX, ZIP, Column, diverse, make_policy, quasi
from tests.unit.custody.publish.class_memory import in_ranges
from tests.unit.custody.publish.publications import ask, ends, new_site, put, staged_files

ROWS = 2_500
POLICY = make_policy(
    "t",
    {
        "age": AGE | {"cuts": [65]},
        "weight": quasi("number", (0, 200), grid=1),
        "county": quasi("category"),
        "sex": SEX,
        "code": ZIP,
        "sbp": SBP,
        "disease": ILLNESS,
    },
)
STRICT = POLICY.but(anonymise={"method": "mondrian"})


def people(seed: int = 1, rows: int = ROWS) -> dict[str, pa.Array]:
    chance = np.random.default_rng(seed)
    age = chance.integers(0, 100, rows)
    disease = np.where(age < 50, "cold", "gout").astype(object)
    disease[chance.random(rows) < 0.5] = "flu"
    return {
        "age": pa.array(age, mask=chance.random(rows) < 0.05),
        "weight": pa.array(40 + 100 * chance.random(rows) ** 2, mask=chance.random(rows) < 0.1),
        "county": pa.array([f"county {n}" for n in (30 * chance.random(rows) ** 2).astype(int)]),
        "sex": pa.array(chance.choice(["F", "M"], rows), mask=chance.random(rows) < 0.02),
        "code": pa.array([f"{n:03d}" for n in chance.integers(0, 400, rows)]),
        "sbp": pa.array(chance.integers(90, 170, rows), mask=chance.random(rows) < 0.03),
        "disease": pa.array(disease.tolist()),
    }


@pytest.fixture
def opened(tmp_path: Path) -> OpenSite:
    return new_site(tmp_path)


def in_parts(monkeypatch: pytest.MonkeyPatch, combinations: int = 600, memory_mb: int = 4096) -> None:
    """As if so few combinations filled the memory."""
    room = (memory_mb - round(0.4 * memory_mb)) << 20
    monkeypatch.setattr(partition, "BYTES", room // combinations)
    monkeypatch.setattr(partition, "BYTES_EACH", 0)


def loss_of(report: Report) -> float:
    return float(np.mean(list(report.loss.values())))


@pytest.mark.parametrize("method", ["mondrian", "auto", "mondrian-relaxed"])
def test_parts_are_nearly_as_good_as_the_whole(opened: OpenSite, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    policy = POLICY.but(anonymise={"method": method})
    whole = put(opened, policy.replace('"auto"', '"mondrian"'), people())
    in_parts(monkeypatch)
    report = put(opened, policy, people())

    assert report.measured.k >= 5
    assert report.rows == ROWS
    assert "parts, cut coarsely" in report.comparison[0].note
    assert report.comparison[0].classes == report.classes
    assert report.comparison[0].ncp == pytest.approx(loss_of(report))
    assert loss_of(report) <= 1.1 * loss_of(whole)
    assert ends(opened, "COUNT(*)") == (ROWS, ROWS)
    (row,) = ask(opened, "SELECT COUNT(*) AS n FROM t WHERE age < 65")
    assert row["n"]["low"] <= sum(a is not None and a < 65 for a in people()["age"].to_pylist()) <= row["n"]["high"]


def test_what_fits_is_not_parted(opened: OpenSite, monkeypatch: pytest.MonkeyPatch) -> None:
    in_parts(monkeypatch, combinations=ROWS)
    report = put(opened, STRICT, people())
    assert not any("parts" in tried.note for tried in report.comparison)


@pytest.mark.parametrize(
    "kept",
    [
        diverse("t-closeness", t=0.2),
        diverse("distinct", l=2),
        diverse("entropy", l=1.5),
        diverse("recursive", c=4.0, l=2),
        diverse("alpha", alpha=0.8),
    ],
    ids=lambda kept: kept["diversity"]["kind"],
)
def test_guarantees_hold_in_parts(opened: OpenSite, monkeypatch: pytest.MonkeyPatch, kept: Column) -> None:
    """The verifier compares every class with the whole table, which the halves of this one are far from."""
    in_parts(monkeypatch, combinations=1_500)
    report = put(opened, POLICY.but(columns={"disease": kept}), people())
    assert "parts" in report.comparison[0].note
    if "t" in kept["diversity"]:
        assert report.measured.t["disease"] <= 0.2


def test_a_guarantee_that_no_part_keeps_leaves_the_table_whole(
    opened: OpenSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The two halves by age, the only quasi-identifier, are each 0.5 away from the whole: one class, and no cut."""
    policy = make_policy("t", {"age": AGE, "disease": ILLNESS | diverse("t-closeness", t=0.01)})
    age = np.arange(100).repeat(10)
    rows = {"age": age, "disease": np.where(age < 50, "cold", "gout")}
    in_parts(monkeypatch, combinations=60)
    assert put(opened, policy, rows).classes == 1


STATISTICS = ["count", "mean(age)", "mean(sbp)", "var(weight)", "corr(age,weight)"]


@pytest.mark.parametrize("held", [10**9, 400], ids=["boxes in memory", "boxes in ranges"])
def test_ranges_are_measured_over_all_parts(opened: OpenSite, monkeypatch: pytest.MonkeyPatch, held: int) -> None:
    """They are as wide as those of the answers, and limits on them are kept."""
    in_parts(monkeypatch)
    in_ranges(monkeypatch, held)
    wanted = STRICT.but(anonymise={"statistics": STATISTICS})
    report = put(opened, wanted, people())
    assert "parts" in report.comparison[0].note
    widths = report.comparison[0].widths
    assert list(widths) == STATISTICS
    sql = {
        "mean(age)": "AVG(age)",
        "var(weight)": "VAR_SAMP(weight)",
        "corr(age,weight)": "CORR(age, weight)",
    }
    for statistic, asked in sql.items():
        low, high = ends(opened, asked)
        assert high - low == pytest.approx(widths[statistic], rel=1e-6)
    limit = widths["mean(age)"]
    with pytest.raises(ConfigError, match="the limits of max_width cannot be met") as refused:
        put(opened, wanted.but(anonymise={"max_width": {"mean(age)": 0.9 * limit}}), people())
    assert 'max_width = { "mean(age)" = ' in refused.value.remedy
    assert put(opened, wanted.but(anonymise={"max_width": {"mean(age)": 1.01 * limit}}), people()).version == 2


def test_what_depends_on_all_records_is_not_parted(opened: OpenSite, monkeypatch: pytest.MonkeyPatch) -> None:
    in_parts(monkeypatch)
    for anonymise in (
        {"method": "mondrian", "max_width": {"mean(age)": 60}, "largest_k": True},
        {"method": "boxes", "statistics": ["mean(age)"]},
    ):
        report = put(opened, POLICY.but(anonymise=anonymise), people(rows=700))
        assert not any("parts" in tried.note for tried in report.comparison)


def test_closeness_is_to_the_whole_table() -> None:
    """A part of cold alone keeps 0.2-closeness to itself, and not to a table that has as much gout."""
    part = Sensitive("disease", np.array([0]), np.array([0]), np.array([10]), 2)
    whole = Sensitive("disease", np.array([0]), np.array([0]), np.array([10]), 2, np.array([10, 10]))
    rows = np.zeros(1, dtype=np.int64)
    assert Closeness(part, 0.2).classes(rows, rows, 1).tolist() == [True]
    assert Closeness(whole, 0.2).classes(rows, rows, 1).tolist() == [False]


def test_a_publication_that_fails_in_a_part_leaves_nothing(opened: OpenSite, monkeypatch: pytest.MonkeyPatch) -> None:
    put(opened, STRICT, people(2))
    in_parts(monkeypatch)
    made = partition.divided
    seen = []

    def fails_at_the_third(*arguments: object) -> object:
        seen.append(1)
        if len(seen) == 3:
            raise ConfigError("QG803", "no", "no")
        return made(*arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(partition, "divided", fails_at_the_third)
        with pytest.raises(ConfigError):
            put(opened, POLICY, people())
    assert opened.store.current("t").catalog.version == 1
    assert staged_files(opened) == []
    assert put(opened, POLICY, people()).version == 2


def test_no_class_lies_across_a_coarse_cut(opened: OpenSite, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    cut = partition.coarse_parts
    monkeypatch.setattr(partition, "coarse_parts", lambda *a, **b: found.append(cut(*a, **b)) or found[-1])
    in_parts(monkeypatch)
    put(opened, POLICY, people())
    assert len(numbers_of(found[0])) >= 6
    assert found[0].column == "age"  # which has a public cut
    assert found[0].runs in (((0, 64),), ((-1, -1), (0, 64)))


# -- the cuts ------------------------------------------------------------------------------------------------------


def nominal(size: int) -> Attribute:
    return Attribute.nominal("ward", np.zeros(0, dtype=np.int64), size)


def ordered(size: int, cuts: tuple[int, ...] = ()) -> Attribute:
    return Attribute.ordered_by("age", np.zeros(0, dtype=np.int64), np.arange(size + 1.0), cuts)


def test_a_number_is_cut_where_both_sides_are_narrow() -> None:
    (cut,) = coarse_cuts([ordered(10)], [np.array([5, 5, 0, 0, 0, 0, 0, 5, 5, 5, 0])], 5)
    assert cut.left == (0, 1)


def test_a_category_is_cut_by_frequency() -> None:
    (cut,) = coarse_cuts([nominal(4)], [np.array([1, 8, 2, 6, 0])], 2)
    assert cut.left == (1,)


def test_missing_values_go_as_they_stand() -> None:
    (cut,) = coarse_cuts([ordered(4)], [np.array([3, 3, 0, 0, 6])], 2)
    assert cut.left == (0, 1)
    (cut,) = coarse_cuts([nominal(1)], [np.array([4, 6])], 2)
    assert cut.left == (0,)


def test_public_cuts_come_first() -> None:
    counts = np.array([9, 9, 9, 9, 1, 9, 0])
    first, second = coarse_cuts([nominal(5), ordered(6, cuts=(5,))], [np.array([9, 9, 9, 9, 10, 0]), counts], 5)
    assert (first.attribute, first.left, first.public) == ("age", (0, 1, 2, 3, 4), True)
    assert not second.public


@pytest.mark.parametrize("counts", [[46, 0, 0, 0], [4, 42, 0, 0], [0, 0, 0, 46]])
def test_no_cut_leaves_fewer_than_k(counts: list[int]) -> None:
    assert coarse_cuts([ordered(3)], [np.array(counts)], 5) == []


def test_infeasible_is_said_of_the_whole(opened: OpenSite, monkeypatch: pytest.MonkeyPatch) -> None:
    in_parts(monkeypatch)
    with pytest.raises((ConfigError, Infeasible), match="Even all records together"):
        put(opened, POLICY.but(columns={"disease": diverse("distinct", l=9)}), people())
