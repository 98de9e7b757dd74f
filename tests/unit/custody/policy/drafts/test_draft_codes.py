"""Groups of codes that a draft names: those that enough people have and enough have not."""

from __future__ import annotations

import csv
import random
from dataclasses import replace
from pathlib import Path

import pytest

from querygate.core.column_profile import ColumnFigures
from querygate.custody.policy import parse_policy
from querygate.custody.policy.drafts.draft_codes import groups_of, known_groups, patterns_of
from querygate.custody.use_cases.policy_draft import draft_from
from tests.policies import AGE, SEX, code_list, make_policy
from tests.unit.custody.publish.publications import ask, new_site, put

CODES = ["250.00", "401.9", "428.0", "272.4", "V10.3", "786.50", "E849.0", "008.45"]
FIGURES = ColumnFigures("dx", 1000, contains={"diabetes": 0.3, "hypertension": 0.6, "obesity": 0.01, "3 codes": 0.5})


@pytest.fixture
def source(tmp_path: Path) -> Path:
    rng, path = random.Random(4), tmp_path / "stays.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["patient_id", "age", "sex", "diabetes", "dx"])
        for i in range(900):
            codes = rng.sample(CODES, rng.randint(2, 5))
            rows.writerow([f"p{i}", rng.randint(20, 90), rng.choice("FM"), rng.choice(["yes", "no"]), ";".join(codes)])
    return path


def test_no_category_is_in_two_groups() -> None:
    for system in ("icd9cm", "icd10cm"):
        listed = [code for systems in known_groups().values() for code in systems[system]]
        assert len(set(listed)) == len(listed) > 15


def test_groups_that_enough_have_the_commonest_first_and_none_by_the_name_of_a_column() -> None:
    assert [one.name for one in groups_of(FIGURES, "icd9cm", 10, ())] == ["hypertension", "diabetes"]
    assert [one.name for one in groups_of(FIGURES, "icd9cm", 10, {"diabetes"})] == ["hypertension", "diabetes_coded"]
    assert [one.name for one in groups_of(replace(FIGURES, rows=60), "icd9cm", 10, ())] == []
    assert groups_of(replace(FIGURES, missing=1000), "icd9cm", 10, ()) == ()
    assert groups_of(ColumnFigures("dx", 0), "icd9cm", 10, ()) == ()


def test_no_more_groups_than_the_longest_list_has_codes() -> None:
    short = replace(FIGURES, contains={**FIGURES.contains, "stroke": 0.2, "3 codes": 0.0, "2 codes": 0.1})
    assert [one.name for one in groups_of(short, "icd9cm", 10, ())] == ["hypertension", "diabetes"]


def test_patterns_are_of_every_group_and_of_lengths() -> None:
    assert {"diabetes", "2 codes", "6 codes"} <= set(patterns_of("icd10cm", "|"))


def test_lists_of_codes_are_drafted_as_views_that_publish_without_a_warning(source: Path, tmp_path: Path) -> None:
    drafted = draft_from(str(source))
    policy = parse_policy(drafted.text)
    assert policy.views is not None
    flags = {column.name for column in policy.columns if column.of_codes is not None}
    assert flags == {"diabetes_coded", "hypertension", "heart_failure", "lipid_disorder"}
    opened = new_site(tmp_path)
    report = put(opened, drafted.text, source)
    assert report.measured.k >= 10
    assert not report.warnings
    (row,) = ask(opened, "SELECT COUNT(*) FILTER (WHERE hypertension) AS n FROM stays", "stays")
    with source.open(encoding="utf-8") as file:
        truth = sum("401.9" in line for line in file)
    assert row["n"]["low"] <= truth <= row["n"]["high"]


def test_classes_of_lists_that_find_many_people_are_published_with_a_warning(source: Path, tmp_path: Path) -> None:
    text = draft_from(str(source)).text.split("# Views instead of")[0]
    tables = text.replace("bins = 1 ", "bins = 5 ") + '\n[anonymise]\nmethod = "mondrian"\n'
    report = put(new_site(tmp_path), tables, source)
    (warning,) = [one for one in report.warnings if one.startswith("columns.dx: ")]
    assert "finds fewer than 10 records" in warning
    assert "views.codes" in warning


# -- which system it is ------------------------------------------------------------------------------------------------

WHO = ["J45.0", "J45", "J451", "j45.9 ", "I10.90", "E14.90", "G63.2*", "K21.-", "Z92.1!", "U07.1", "I64", "E78.5"]
"""As other countries write them. Of these ICD-10-CM has three."""


def listed(path: Path, codes: list[str], people: int = 260) -> Path:
    rng = random.Random(8)
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["patient_id", "age", "sex", "dx"])
        for i in range(people):
            held = rng.sample(codes, rng.randint(2, min(5, len(codes)))) if i % 11 else []
            rows.writerow([f"p{i}", rng.randint(20, 80), rng.choice("FM"), ";".join(held)])
    return path


def truth(path: Path, *starts: str) -> int:
    with path.open(encoding="utf-8") as file:
        lists = [row["dx"].replace(".", "").upper().split(";") for row in csv.DictReader(file)]
    return sum(any(code.strip().startswith(starts) for code in held) for held in lists)


def test_codes_of_other_countries_are_drafted_in_their_own_system_and_publish_untouched(tmp_path: Path) -> None:
    path = listed(tmp_path / "asthma.csv", WHO)
    drafted = draft_from(str(path))
    assert 'system = "icd10"  # ICD-10 (WHO, GM) has 100 % of the codes' in drafted.text
    opened = new_site(tmp_path)
    report = put(opened, drafted.text, path)
    assert not report.warnings
    wanted = {"chronic_lung_disease": ("J4",), "diabetes": ("E14",), "stroke": ("I64",)}
    asked = ", ".join(f"COUNT(*) FILTER (WHERE {name}) AS {name}" for name in wanted)
    (row,) = ask(opened, f"SELECT {asked} FROM asthma", "asthma")
    for name, starts in wanted.items():
        assert row[name]["low"] <= truth(path, *starts) <= row[name]["high"], name


@pytest.mark.parametrize(
    ("codes", "system", "unknown"),
    [
        (["E11.65", "I10", "J45.909", "S72.001A", "C7A.010"], "icd10cm", False),
        (["I10", "E11.9", "J44.9"], "icd10cm", False),  # both have all of them
        (["J45.0", "J45.1", "I10", "E14", "J45.0A"], "icd10", True),
        (["250.00", "401.9", "V10.3", "250.99"], "icd9cm", True),
    ],
)
def test_the_list_that_has_most_codes_is_named(codes: list[str], system: str, unknown: bool, tmp_path: Path) -> None:
    text = draft_from(str(listed(tmp_path / "s.csv", codes, people=60))).text
    policy = parse_policy(text).column("dx").codes
    assert policy is not None
    assert (policy.system, policy.unknown) == (system, "other" if unknown else "refuse")


def test_codes_under_a_german_name_are_not_those_of_the_united_states(tmp_path: Path) -> None:
    """ICD-10-GM and ICD-10-CM have most codes in common."""
    path = listed(tmp_path / "s.csv", ["I10", "E11.9", "J44.9"], people=60)
    path.write_text(path.read_text(encoding="utf-8").replace("dx", "Nebendiagnosen", 1), encoding="utf-8")
    policy = parse_policy(draft_from(str(path)).text).column("Nebendiagnosen").codes
    assert policy is not None
    assert policy.system == "icd10"


def test_a_part_of_a_group_is_not_told_as_the_whole(tmp_path: Path) -> None:
    """Of a list that lacks some of them, all codes that begin like a group are counted in it."""
    path = listed(tmp_path / "t.csv", ["250.00", "250.98", "401.95", "401.9", "V10.3", "786.50", "nonsense"])
    columns = {"age": AGE, "sex": SEX, "dx": code_list("icd9cm", separator=";", unknown="other")}
    groups = {"diabetes": ["250"], "pressure": ["401.9"]}
    opened = new_site(tmp_path)
    put(opened, make_policy("t", columns, k_counts="rows", views={"codes": {"dx": groups}}), path)
    counts = "COUNT(*) FILTER (WHERE has_code_under(dx, '250')) AS d, COUNT(*) FILTER (WHERE pressure) AS p"
    (row,) = ask(opened, f"SELECT {counts} FROM t", "t")
    assert row["d"]["low"] <= truth(path, "250") <= row["d"]["high"]
    assert row["p"]["low"] <= truth(path, "4019") <= row["p"]["high"]


def test_lists_of_both_systems_are_proposed_as_one_and_publish(tmp_path: Path) -> None:
    """Records from before and after October 2015: half of the lists are of each."""
    rng, path = random.Random(6), tmp_path / "stays.csv"
    old, new = ["250.00", "401.9", "428.0", "272.4"], ["E11.9", "I10", "I50.9", "E78.5"]
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["patient_id", "age", "sex", "dx"])
        for i in range(400):
            codes = rng.sample(old if i % 2 else new, rng.randint(1, 4))
            rows.writerow([f"p{i}", rng.randint(20, 90), rng.choice("FM"), ";".join(codes)])
    drafted = draft_from(str(path))
    policy = parse_policy(drafted.text)
    assert policy.column("dx").role == "codes"
    assert 'system = "icd9cm+icd10cm"' in drafted.text
    assert '"diabetes" = ["250", "E08"' in drafted.text
    opened = new_site(tmp_path / "site")
    put(opened, drafted.text, path)
