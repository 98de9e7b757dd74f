"""The hospital of `omop_study` in other data models: as an i2b2 star schema, and as FHIR resources in Parquet files, as
different programs write them. Codes are those of the same concepts in LOINC and SNOMED CT.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Literal

import duckdb

Writer = Literal["specification", "data pipes"]

UNITS = {"8876": "mm[Hg]", "9529": "kg", "8582": "cm", "8541": "/min"}


@contextmanager
def _opened(hospital: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The tables of the hospital, and the codes of concepts."""
    data = files("querygate.custody.policy.data")
    omop, coded = (
        tomllib.loads(data.joinpath(f"{name}_concepts.toml").read_text(encoding="utf-8")) for name in ("omop", "coded")
    )
    with duckdb.connect() as database:
        for file in hospital.glob("*.parquet"):
            database.execute(f"CREATE VIEW {file.stem} AS FROM '{file}'")
        for kind in ("measurements", "conditions"):
            code_of = {name: code for code, name in reversed(coded[kind].items())}
            database.execute(f"CREATE TABLE {kind}_codes (concept VARCHAR, code VARCHAR)")
            pairs = [(concept, code_of[name]) for concept, name in omop[kind].items() if name in code_of]
            database.executemany(f"INSERT INTO {kind}_codes VALUES (?, ?)", pairs)
        units = ", ".join(f"('{concept}', '{unit}')" for concept, unit in UNITS.items())
        database.execute(f"CREATE TABLE units AS FROM (VALUES {units}) t(concept, unit)")
        database.execute(_MEASURED)
        database.execute(_DIAGNOSED)
        yield database


_MEASURED = """
CREATE VIEW measured AS SELECT person_id, COALESCE(k.code, 'x' || measurement_concept_id) AS code, value_as_number AS
value, COALESCE(u.unit, 'u' || unit_concept_id) AS unit, CAST(measurement_date AS VARCHAR) AS day, measurement_id AS id
FROM measurement LEFT JOIN measurements_codes k ON k.concept = measurement_concept_id
LEFT JOIN units u ON u.concept = unit_concept_id
"""
_DIAGNOSED = """
CREATE VIEW diagnosed AS SELECT person_id, COALESCE(k.code, condition_concept_id) AS code,
CAST(condition_start_date AS VARCHAR) AS day FROM condition_occurrence
LEFT JOIN conditions_codes k ON k.concept = condition_concept_id
"""


def write_i2b2(hospital: Path, folder: Path) -> Path:
    """Three CSV files."""
    tables = {
        "patient_dimension": """
            SELECT p.person_id AS patient_num, CASE WHEN d.person_id IS NULL THEN 'N' ELSE 'Y' END AS vital_status_cd,
            birth_datetime AS birth_date, d.death_date, CASE gender_concept_id WHEN 8507 THEN 'M' WHEN 8532 THEN 'F'
            ELSE 'U' END AS sex_cd, CASE race_concept_id WHEN 8527 THEN 'white' WHEN 8516 THEN 'black' WHEN 8515 THEN
            'asian' ELSE '@' END AS race_cd, '12345' AS zip_cd FROM person p LEFT JOIN death d USING (person_id)""",
        "visit_dimension": """
            SELECT visit_occurrence_id AS encounter_num, person_id AS patient_num, CASE visit_concept_id WHEN '9201'
            THEN 'I' WHEN '9202' THEN 'O' WHEN '9203' THEN 'E' ELSE '@' END AS inout_cd, visit_start_date AS start_date
            FROM visit_occurrence""",
        "observation_fact": """
            SELECT person_id AS patient_num, 'LOINC:' || code AS concept_cd, '@' AS modifier_cd, day AS start_date,
            'N' AS valtype_cd, 'E' AS tval_char, CAST(value AS DECIMAL(18, 5)) AS nval_num, unit AS units_cd
            FROM measured
            UNION ALL BY NAME SELECT person_id AS patient_num, 'LOINC:8480-6' AS concept_cd, '2099-01-01' AS start_date,
            'N' AS valtype_cd, 'L' AS tval_char, 10 AS nval_num, 'mm[Hg]' AS units_cd FROM person
            UNION ALL BY NAME SELECT person_id AS patient_num, 'SNOMED:' || code AS concept_cd, '@' AS modifier_cd,
            day AS start_date FROM diagnosed
            UNION ALL BY NAME SELECT person_id AS patient_num, 'RXNORM:' || drug_concept_id AS concept_cd,
            CAST(drug_exposure_start_date AS VARCHAR) AS start_date FROM drug_exposure""",
    }
    folder.mkdir()
    with _opened(hospital) as database:
        for table, query in tables.items():
            database.execute(f"COPY ({query}) TO '{folder / table}.csv'")
    return folder


def write_fhir(hospital: Path, folder: Path, writer: Writer) -> Path:
    """A Parquet file per resource type, and of observations a folder with two. Pressures are components of one
    observation; some resources are not to be counted.
    """
    if writer == "specification":
        person, when, quantity, died = (
            "{'reference': 'Patient/' || person_id} AS subject", "{} AS {}DateTime", "AS valueQuantity",
            "CAST(d.death_date AS VARCHAR) AS deceasedDateTime",
        )  # fmt: skip
        drug = "AS medicationCodeableConcept"
    else:
        person, when, quantity, died = (
            "{'patientId': CAST(person_id AS VARCHAR)} AS subject", "{{'dateTime': {}}} AS {}", "AS value",
            "{'boolean': d.person_id IS NOT NULL} AS deceased",
        )  # fmt: skip
        drug = "AS medication"
    codes = "{{'coding': [{{'system': '{}', 'code': {}}}]}}"
    loinc, snomed = codes.format("http://loinc.org", "code"), codes.format("http://snomed.info/sct", "code")
    rxnorm = codes.format("http://www.nlm.nih.gov/research/umls/rxnorm", "drug_concept_id")
    value = "{'value': CAST(value AS VARCHAR), 'code': unit, 'unit': 'as told', 'comparator': CAST(NULL AS VARCHAR)}"
    if writer == "data pipes":
        value, rxnorm = f"{{'quantity': {value}}}", f"{{'codeableConcept': {rxnorm}}}"
    moment = when.format("day || 'T08:30:00.000-05:00'", "effective")
    plain = f"'final' AS status, {person}, {moment}"
    part = f"list({{'code': {loinc}, '{quantity.split()[1]}': {value}}})"
    low = (
        value.replace("CAST(NULL AS VARCHAR)", "'<'")
        .replace("CAST(value AS VARCHAR)", "'10'")
        .replace("unit,", "'mm[Hg]',")
    )
    wrong = "'entered-in-error'"
    tables = {
        "Patient.parquet": f"""
            SELECT CAST(p.person_id AS VARCHAR) AS id, CASE gender_concept_id WHEN 8507 THEN 'male' WHEN 8532 THEN
            'female' ELSE 'unknown' END AS gender, CAST(CAST(birth_datetime AS DATE) AS VARCHAR) AS birthDate, {died},
            [{{'family': 'Name ' || p.person_id}}] AS name FROM person p LEFT JOIN death d USING (person_id)""",
        "Encounter.parquet": f"""
            SELECT visit_occurrence_id AS id, 'finished' AS status, {person}, {{'code': CASE visit_concept_id
            WHEN '9201' THEN 'IMP' WHEN '9202' THEN 'AMB' WHEN '9203' THEN 'EMER' ELSE 'VR' END}} AS class,
            {{'start': visit_start_date || 'T10:00:00-05:00'}} AS period FROM visit_occurrence
            UNION ALL BY NAME SELECT {wrong} AS status, {person} FROM person""",
        "Condition.parquet": f"""
            SELECT {person}, {snomed} AS code, {when.format("day", "onset")}, {{'coding': [{{'code': 'confirmed'}}]}}
            AS verificationStatus FROM diagnosed UNION ALL BY NAME SELECT {person}, {snomed} AS code, {{'coding':
            [{{'code': 'refuted'}}]}} AS verificationStatus FROM person, (SELECT DISTINCT code FROM diagnosed)""",
        "MedicationRequest.parquet": f"""
            SELECT 'active' AS status, {person}, {rxnorm} {drug},
            CAST(drug_exposure_start_date AS VARCHAR) AS authoredOn FROM drug_exposure""",
        "Observation/part-1.parquet": f"""
            SELECT {plain}, {loinc} AS code, {value} {quantity} FROM measured WHERE code NOT IN ('8480-6', '8462-4')""",
        "Observation/part-2.parquet": f"""
            SELECT {plain}, {loinc.replace("code}", "'85354-9'}")} AS code, {part} AS component FROM measured
            WHERE code IN ('8480-6', '8462-4') GROUP BY person_id, day, id
            UNION ALL BY NAME SELECT 'final' AS status, {person}, {when.format("'2099-01-01'", "effective")},
            {loinc.replace("code}", "'8480-6'}")} AS code, {low} {quantity} FROM person""",
    }
    (folder / "Observation").mkdir(parents=True)
    with _opened(hospital) as database:
        for file, query in tables.items():
            database.execute(f"COPY ({query}) TO '{folder / file}' (FORMAT parquet)")
    return folder
