"""k counts people: those who have several rows, those of whom nobody said who they are, and what says so."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from querygate.cli.dataset import explain_report
from querygate.core.errors import ConfigError, Refusal
from querygate.core.extracts.extract_spec import ExtractSpec
from querygate.custody.publish import coded_rows
from querygate.custody.publish.publish import Report
from querygate.custody.use_cases.extract_builder import make_extract
from querygate.gate.description import explain_policy
from querygate.site.open_gate import OpenSite
from querygate_adapters.sources.open_source import open_source
from tests.engine import reading
from tests.policies import IDENTIFIER, make_policy, quasi, sensitive
from tests.unit.custody.publish.publications import ask, classes_by, ends, new_site, put, write_parquet

K = 10
VISITS = make_policy(
    "t",
    {
        "mrn": IDENTIFIER,
        "age": quasi("integer", (0, 100), grid=1),
        "sex": quasi("category", values=["f", "m"]),
        "dx": sensitive("category", values=["a", "b", "c"]) | {"diversity": {"kind": "distinct", "l": 2}},
        "sbp": sensitive("integer", (60, 240), grid=5, bins=10, guard=10),
    },
    k=K,
    person="mrn",
    anonymise={"method": "mondrian"},
)
UNNAMED = VISITS.but(person=None)

Rows = dict[str, list[Any]]


def visits(people: int, rows: int, seed: int = 0) -> Rows:
    """Visits of people who have a few, or hundreds of them; one is very often there, at an age that nobody else has."""
    rng = np.random.default_rng(seed)
    often = rng.zipf(1.5, people).astype(float)
    who = np.concatenate([np.arange(people), rng.choice(people, rows - people, p=often / often.sum())])
    age = rng.integers(18, 90, people)
    age[0] = 97
    return {
        "mrn": [f"0{person:04d}" for person in who],
        "age": age[who].tolist(),
        "sex": np.where(rng.random(people) < 0.5, "f", "m")[who].tolist(),
        "dx": [str(x) if rng.random() < 0.95 else None for x in rng.choice(list("abc"), rows, p=(0.7, 0.2, 0.1))],
        "sbp": [None if rng.random() < 0.05 else int(x) for x in rng.normal(130, 20, rows).clip(60, 240)],
    }


def people_of_classes(opened: OpenSite, version: int = 1) -> dict[int, set[str]]:
    file = opened.site.vault / "t" / f"v{version:05d}.duckdb"
    found = defaultdict(set)
    with reading(file) as vault:
        for label, person in vault.execute("SELECT class, mrn FROM rows JOIN row_class USING (row_id)").fetchall():
            found[label].add(person)
    return found


def refused(opened: OpenSite, policy: str, rows: Rows, **more: Any) -> ConfigError:
    with pytest.raises(ConfigError) as found:
        put(opened, policy, rows, **more)
    assert found.value.code == "QG803"
    assert opened.store.datasets() == ()
    return found.value


# -- people who are named --------------------------------------------------------------------------------------------


METHODS = ("auto", "mondrian", "mondrian-relaxed", "snake", "top-down")


@pytest.mark.parametrize("method", METHODS)
def test_every_class_holds_k_people(tmp_path: Path, method: str) -> None:
    opened = new_site(tmp_path)
    rows = visits(80, 300)
    report = put(opened, VISITS.but(anonymise={"method": method}), rows)

    classes = people_of_classes(opened)
    assert len(classes) > 1
    assert min(map(len, classes.values())) == report.measured.k >= K
    assert (report.rows, report.persons) == (300, 80)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[OpenSite, Report, Rows]:
    opened, rows = new_site(tmp_path_factory.mktemp("visits")), visits(200, 1500)
    return opened, put(opened, VISITS, rows), rows


def test_few_people_with_many_rows_are_not_published_as_many(tmp_path: Path) -> None:
    """28 people in some thousand rows: thirteen classes of one person had k = 10, by rows."""
    opened = new_site(tmp_path)
    rows = visits(28, 2000)
    report = put(opened, VISITS, rows)

    assert report.classes <= 2
    assert min(map(len, people_of_classes(opened).values())) >= K
    error = refused(new_site(tmp_path / "few"), VISITS.but(k=29), rows)
    assert "2,000 rows of 28 people" in error.detail


def test_no_value_is_had_by_everybody_of_a_class(published: tuple[OpenSite, Report, Rows]) -> None:
    opened, report, _ = published
    with reading(opened.site.vault / "t" / "v00001.duckdb") as vault:
        spared = vault.execute(
            "WITH held AS (SELECT class, dx, COUNT(DISTINCT mrn) AS n FROM rows JOIN row_class USING (row_id) "
            "GROUP BY ALL), sizes AS (SELECT class, COUNT(DISTINCT mrn) AS people FROM rows JOIN row_class USING "
            "(row_id) GROUP BY ALL) SELECT MIN(people - n) FROM held JOIN sizes USING (class)"
        ).fetchall()[0][0]

    assert report.measured.kept["people of a class without its commonest dx"] == spared >= 1


def test_statistics_stay_about_rows(published: tuple[OpenSite, Report, Rows]) -> None:
    opened, _, rows = published
    low, high = ends(opened, "COUNT(*)", "age BETWEEN 40 AND 60")
    assert low <= sum(40 <= age <= 60 for age in rows["age"]) <= high
    for group in ask(opened, "SELECT sex, COUNT(*) AS n, AVG(sbp) AS m FROM t GROUP BY sex"):
        mine = [i for i, sex in enumerate(rows["sex"]) if sex == group["sex"]]
        known = [rows["sbp"][i] for i in mine if rows["sbp"][i] is not None]
        assert group["n"]["low"] <= len(mine) <= group["n"]["high"]
        assert group["m"]["low"] <= np.mean(known) <= group["m"]["high"]


@pytest.mark.parametrize("asked", ["COUNT(DISTINCT mrn)", "COUNT(mrn)", "MIN(mrn)"])
def test_people_with_several_rows_cannot_be_counted_as_rows(
    published: tuple[OpenSite, Report, Rows], asked: str
) -> None:
    with pytest.raises(Refusal):
        ask(published[0], f"SELECT {asked} FROM t")


def test_what_is_said_of_people_and_rows(published: tuple[OpenSite, Report, Rows]) -> None:
    opened, report, _ = published
    text = explain_report(report)
    assert "1,500, of 200 people" in text
    assert f"{report.measured.k} people (measured)" in text
    said = " ".join(explain_policy(opened.store.current("t").catalog))
    assert "1,500 rows belong to 200 people; k counts people" in said
    assert f"records of at least {K - 1} other people" in said
    assert "No two rows share" not in said


def test_one_row_each_is_told_as_before(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    report = put(opened, VISITS, visits(120, 120))

    assert report.measured.people is None
    assert ends(opened, "COUNT(DISTINCT mrn)") == (120, 120)
    assert "people" not in explain_report(report)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"columns": {"codes": {"role": "codes", "system": "icd10cm", "separator": ";"}}}, "codes is a code list"),
        ({"columns": {"sbp": {"carry": "univariate", "bins": None}}}, "sbp has carry"),
        ({"anonymise": {"class_moments": "rounded"}}, "class moments"),
    ],
    ids=["code lists", "univariate", "moments"],
)
def test_what_counts_records_is_refused(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    rows = visits(60, 300) | {"codes": ["E11.9"] * 300}
    assert said in refused(new_site(tmp_path), VISITS.but(**change), rows).detail


def test_a_row_of_nobody_is_refused(tmp_path: Path) -> None:
    rows = visits(60, 300)
    rows["mrn"][7] = None
    assert "mrn is missing in 1 of 300 rows" in refused(new_site(tmp_path), VISITS, rows).detail


def test_the_verifier_counts_people_itself(tmp_path: Path) -> None:
    """Each of two classes has a hundred rows and more; one of them has nine people."""
    rows = visits(60, 300)
    rows["age"] = [20 if int(mrn) < 9 else 70 for mrn in rows["mrn"]]
    rows["mrn"][-100:] = [f"{i % 9:05d}" for i in range(100)]
    rows["age"][-100:] = [20] * 100
    by_age = classes_by("age", [0] * 50 + [1] * 50)

    error = refused(new_site(tmp_path), VISITS, rows, anonymiser=by_age)
    assert "k = 10 people" in error.detail
    assert put(new_site(tmp_path / "by rows"), UNNAMED.but(k_counts="rows"), rows, anonymiser=by_age).measured.k > 100


def test_views_of_people_with_several_rows_are_refused_before_anything_is_made_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_late(state: object) -> None:
        raise AssertionError("coding began")

    monkeypatch.setattr(coded_rows, "code", too_late)
    error = refused(new_site(tmp_path), VISITS.but(views={}, anonymise=None), visits(100, 300))
    assert (error.code, "People have several rows" in error.detail) == ("QG803", True)


def test_versions_of_people_with_several_rows_are_not_compared(published: tuple[OpenSite, Report, Rows]) -> None:
    opened, _, rows = published
    for policy in (VISITS, VISITS.but(republish={"on_overlap": "sticky"})):
        with pytest.raises(ConfigError, match="several rows") as found:
            put(opened, policy, rows, handling=None)
        assert 'on_overlap = "retire"' in found.value.remedy
    assert put(opened, VISITS.but(republish={"on_overlap": "retire"}), rows, handling=None).versions.retired == (1,)


def test_extracts_of_people_with_several_rows_are_refused(tmp_path: Path) -> None:
    source = open_source(str(write_parquet(tmp_path / "visits.parquet", visits(60, 300))))
    for policy, said in ((VISITS, "60 people have 300 records"), (UNNAMED, "mrn: 60 different values in 300 rows")):
        with pytest.raises(Refusal, match=said) as found:
            make_extract(policy.parsed(), source, ExtractSpec("t", "k-anonymous"), tmp_path / "out", secret=b"s")
        assert found.value.code == "QG605"


# -- people of whom nobody said who they are -------------------------------------------------------------------------


def test_an_identifier_that_repeats_is_refused_with_figures(tmp_path: Path) -> None:
    opened, rows = new_site(tmp_path), visits(28, 1040)
    error = refused(opened, UNNAMED, rows)

    assert "mrn: 28 different values in 1,040 rows" in error.detail
    assert 'person = "mrn"' in error.remedy
    assert 'k_counts = "rows"' in error.remedy
    assert not any(mrn in error.detail + error.remedy for mrn in rows["mrn"])
    report = put(opened, UNNAMED.but(k_counts="rows"), rows)
    assert any("k_counts" in warning for warning in report.warnings)


@pytest.mark.parametrize(("name", "role"), [("MRN", None), ("patientId", "withheld"), ("Medical Record No", None)])
def test_a_key_that_stays_in_the_source_is_counted_there(tmp_path: Path, name: str, role: str | None) -> None:
    rows = visits(28, 600)
    rows[name] = rows.pop("mrn")
    policy = UNNAMED.but(columns={"mrn": None} | ({name: {"role": role}} if role else {}))
    error = refused(new_site(tmp_path), policy, rows)

    assert f"{name}: 28 different values in 600 rows" in error.detail


def test_other_keys_count_where_a_value_has_few_rows(tmp_path: Path) -> None:
    rows = visits(300, 300)
    del rows["mrn"]
    policy = UNNAMED.but(columns={"mrn": None})
    often = {"ward_id": [f"w{i % 100}" for i in range(300)], "series_id": [i % 7 for i in range(300)]}
    assert put(new_site(tmp_path / "places"), policy, rows | often).persons == 300

    error = refused(new_site(tmp_path / "stays"), policy, rows | {"encounter_id": [i // 2 for i in range(300)]})
    assert "encounter_id: 150 different values in 300 rows" in error.detail


def test_people_may_share_a_name(tmp_path: Path) -> None:
    rows = visits(150, 150)
    rows["last name"] = [f"n{i % 147}" for i in range(150)]
    rows["birth_date"] = [f"19{i % 60 + 10}-01-01" for i in range(150)]
    policy = UNNAMED.but(columns={"last name": IDENTIFIER, "birth_date": IDENTIFIER})
    assert put(new_site(tmp_path), policy, rows).persons == 150

    rows["last name"] = [f"n{i % 28}" for i in range(150)]
    assert "last name: 28 different values in 150 rows" in refused(new_site(tmp_path / "few"), policy, rows).detail


def test_keys_that_do_not_repeat_are_no_matter(tmp_path: Path) -> None:
    rows = visits(150, 150)
    rows["mrn"][:20] = [None] * 20
    rows["encounter_id"] = list(range(150))

    assert put(new_site(tmp_path), UNNAMED, rows).persons == 150


def test_a_policy_that_names_people_counts_them() -> None:
    with pytest.raises(ConfigError, match="k_counts"):
        VISITS.but(k_counts="rows").parsed()
    assert UNNAMED.but(k_counts="rows").parsed().hash != UNNAMED.parsed().hash
    assert UNNAMED.but(k_counts="persons").parsed().hash == UNNAMED.parsed().hash
