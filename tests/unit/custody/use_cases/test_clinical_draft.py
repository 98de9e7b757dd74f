"""Policies over clinical data models, proposed, published untouched, and asked."""

from __future__ import annotations

import re
import shutil
import tomllib
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from querygate.core.errors import ConfigError
from querygate.custody.columns.source_columns import open_joined, wanted_columns
from querygate.custody.policy import parse_policy
from querygate.custody.policy.drafts.clinical_models import FHIR, I2B2, OMOP
from querygate.custody.policy.drafts.draft_steps import DraftedPolicy
from querygate.custody.policy.source_rules import reading_of
from querygate.custody.use_cases.clinical_draft import draft_clinical
from querygate.custody.use_cases.trial_version import published_on_trial
from querygate.custody.workload.trial_answers import ask_version
from querygate.custody.workload.workload_sample import drawn
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.vault.staging_tables import DuckDBStagingTables
from tests.clinical_forms import write_fhir, write_i2b2
from tests.omop_study import TABLES, outside, truth_of, write_omop

PERSONS, QUESTIONS = 400, 60


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_omop(tmp_path_factory.mktemp("cdm"), PERSONS)


@pytest.fixture(scope="module")
def drafted(hospital: Path) -> DraftedPolicy:
    return draft_clinical(OMOP, str(hospital), hospital)


def test_people_are_the_unit_and_events_are_worked_out(drafted: DraftedPolicy) -> None:
    raw = tomllib.loads(drafted.text)

    assert (drafted.rows, raw["person"]) == (PERSONS, "person_id")
    assert raw["columns"]["age"]["from"] == "birth_datetime"
    assert raw["derive"]["systolic"] == {
        "events": "measurement",
        "take": "last",
        "column": "value_as_number",
        "where": {"measurement_concept_id": "3004249", "unit_concept_id": "8876"},
    }
    assert raw["events"]["measurement"]["source"] == "measurement.parquet"
    roles = {name: column["role"] for name, column in raw["columns"].items()}
    assert {roles[name] for name in ("sex", "age")} == {"quasi-identifier"}
    assert {roles[name] for name in ("systolic", "died", "has_viral_sinusitis")} == {"sensitive"}
    assert "person_source_value" not in roles
    assert "mrn-" not in drafted.text


def test_it_is_published_as_it_stands_and_true(hospital: Path, drafted: DraftedPolicy) -> None:
    """The truth is worked out from the tables themselves, in other words than the product's."""
    policy = parse_policy(drafted.text)
    source = open_source(str(hospital / "person.parquet"))

    with published_on_trial(policy, source, hospital) as trial, truth_of(hospital, policy) as truth:
        asked = drawn(trial.questions(100_000), QUESTIONS)
        answered = [ask_version(question.sql, trial.release, trial.native) for question in asked]

        found = [outside(q.sql, groups, truth) for q, groups in zip(asked, answered, strict=True) if groups is not None]

    assert len(found) > QUESTIONS / 2
    assert not [line for lines in found for line in lines]


def test_tables_are_found_in_databases_too(hospital: Path, tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "cdm.duckdb")) as database:
        for table in ("person", *TABLES):
            database.execute(f"CREATE TABLE {table} AS FROM '{hospital / table}.parquet'")

    found = draft_clinical(OMOP, f"duckdb:{tmp_path / 'cdm.duckdb'}", tmp_path)

    assert tomllib.loads(found.text)["events"]["death"]["source"] == f"duckdb:{tmp_path / 'cdm.duckdb'}#death"


def whole(text: str) -> str:
    """The policy with the columns that the draft leaves out for now."""
    return re.sub(
        r'role = "withheld"\n(# role = "sensitive"\n(# \w+ = .*\n)+)',
        lambda found: re.sub("(?m)^# ", "", found[1]),
        text,
    )


@pytest.mark.parametrize("form", ["i2b2", "fhir"])
def test_other_models_give_the_same_persons(form: str, hospital: Path, drafted: DraftedPolicy, tmp_path: Path) -> None:
    """The truth is worked out from the tables of OMOP. Values that are only bounds, conditions that were refuted and
    visits that were entered in error count nowhere.
    """
    if form == "i2b2":
        model, folder = I2B2, write_i2b2(hospital, tmp_path / "model")
        source = open_source(str(folder / "patient_dimension.csv"))
    else:
        model, folder = FHIR, write_fhir(hospital, tmp_path / "model", "data pipes")
        source = open_source(f"fhir:{folder}/Patient.parquet")

    policy = parse_policy(whole(draft_clinical(model, str(folder), tmp_path).text))

    joins = open_joined(policy, lambda place: open_source(place, tmp_path), source)
    with closing(DuckDBStagingTables(tmp_path / "rows.duckdb")) as staging:
        staging.load(source, wanted_columns(policy, exclude=policy.brought), joins, reading_of(policy))
    events = [column for join in joins for column in join.derived if column.name not in model.categories]
    names = ", ".join(column.name for column in events)
    with truth_of(hospital, parse_policy(whole(drafted.text))) as truth:
        truth.execute(f"ATTACH '{tmp_path / 'rows.duckdb'}' AS made (READ_ONLY)")
        true, made = f"SELECT {names} FROM {drafted.dataset}", f"SELECT {names} FROM made.rows"
        [(people,)] = truth.execute(f"SELECT COUNT(*) FROM ({made})").fetchall()
        differ = truth.execute(f"({true} EXCEPT ALL {made}) UNION ALL ({made} EXCEPT ALL {true})").fetchall()
    assert (people, differ) == (PERSONS, [])
    assert {"visit_count", "emergency_visit_count", "drug_count", "systolic", "has_anaemia", "died"} <= {
        column.name for column in events
    }


@pytest.mark.parametrize(
    "source", [".", "nowhere", "duckdb:nothing.duckdb", "postgresql://nobody@127.0.0.1:1/none#cdm"]
)
def test_what_has_no_people_is_refused(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as caught:
        draft_clinical(OMOP, source, tmp_path)

    assert caught.value.code == "QG802"


def test_what_tables_lack_is_not_derived_and_nobody_is_refused(hospital: Path, tmp_path: Path) -> None:
    shutil.copy(hospital / "person.parquet", tmp_path)
    (tmp_path / "death.csv").write_text("person_id,death_date\n")
    (tmp_path / "visit_occurrence.csv").write_text("person_id\n1\n1\n2\n")
    (tmp_path / "measurement.csv").write_text("person_id,measurement_concept_id\n1,3004249\n")

    raw = tomllib.loads(draft_clinical(OMOP, str(tmp_path), tmp_path).text)

    assert set(raw["derive"]) == {"sex", "race", "ethnicity", "visit_count"}
    assert raw["events"]["visit_occurrence"] == {"source": "visit_occurrence.csv", "on": {"person_id": "person_id"}}

    (tmp_path / "person.parquet").unlink()
    (tmp_path / "person.csv").write_text("person_id,gender_concept_id\n")
    with pytest.raises(ConfigError, match="The table person names no persons") as caught:
        draft_clinical(OMOP, str(tmp_path), tmp_path)
    assert caught.value.code == "QG802"


def test_what_is_no_omop_table_is_named(tmp_path: Path) -> None:
    (tmp_path / "PERSON.csv").write_text("PERSON_ID,gender\n1,8507\n2,8532\n")

    with pytest.raises(ConfigError, match="The table person has no column person_id"):
        draft_clinical(OMOP, str(tmp_path), tmp_path)


def test_persons_of_whom_nothing_is_said_are_refused_with_what_is_missing(tmp_path: Path) -> None:
    """Not as mistakes in a policy that nobody wrote."""
    place = tmp_path / "Patient.parquet"
    for column, told in (
        ("", "table patient does not have: gender, birth_date. Tables that are missing or empty: Encounter.parquet, "),
        (
            ", 'male' AS gender, '1970-01-01' AS birthDate",
            "proposed. Tables that are missing or empty: Encounter.parqu",
        ),
    ):
        duckdb.sql(f"COPY (SELECT 'p' || i AS id{column} FROM range(60) t(i)) TO '{place}'")
        with pytest.raises(ConfigError) as caught:
            draft_clinical(FHIR, str(tmp_path), tmp_path)
        assert caught.value.code == "QG802"
        assert told in caught.value.detail
