"""Data models that hospitals share, as data: which tables they have, how these name a person, and which columns hold
what a proposed policy asks for. To add a model, describe it here and give it a command.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ModelTable:
    """A table of a model: its column with the person, the one with the time of an event, if it has any, and the name
    of its file, if that is written otherwise than the table."""

    person: str
    time: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class Coded:
    """Events that say by a code what they are; in a table with others too, those whose code begins so."""

    table: str
    code: str
    begins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Measured:
    """Numbers by code. Those of one code can be compared where each column of `alike` has the same text, such as the
    unit; and this one, if one is given.
    """

    table: str
    code: str
    value: str
    alike: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Death:
    """Where a death is seen: in a row for which the condition is true and which has something in the column."""

    table: str
    column: str = ""
    where: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClinicalModel:
    """The first of `tables` has one row per person; each of the others may be missing."""

    name: str
    tables: Mapping[str, ModelTable]
    categories: Mapping[str, str]  # what is said of a person, by the column that says it
    birth: str
    parts_of_birth: tuple[str, ...]
    visits: Coded
    drugs: Coded
    measurements: Measured
    conditions: Coded
    death: Death
    concepts: str  # the file with names for codes
    unnamed: str = ""  # what begins the name of a condition whose code has none
    kind: str = ""  # of source that reads its files, if these have a layout of their own

    @property
    def persons(self) -> str:
        return next(iter(self.tables))

    @property
    def key(self) -> str:
        return self.tables[self.persons].person


OMOP = ClinicalModel(
    name="OMOP",
    tables={
        "person": ModelTable("person_id"),
        "visit_occurrence": ModelTable("person_id", "visit_start_date"),
        "condition_occurrence": ModelTable("person_id", "condition_start_date"),
        "drug_exposure": ModelTable("person_id", "drug_exposure_start_date"),
        "measurement": ModelTable("person_id", "measurement_date"),
        "death": ModelTable("person_id", "death_date"),
    },
    categories={"sex": "gender_concept_id", "race": "race_concept_id", "ethnicity": "ethnicity_concept_id"},
    birth="birth_datetime",
    parts_of_birth=("year_of_birth", "month_of_birth", "day_of_birth"),
    visits=Coded("visit_occurrence", "visit_concept_id"),
    drugs=Coded("drug_exposure", "drug_concept_id"),
    measurements=Measured("measurement", "measurement_concept_id", "value_as_number", {"unit_concept_id": ""}),
    conditions=Coded("condition_occurrence", "condition_concept_id"),
    death=Death("death"),
    concepts="omop_concepts.toml",
    unnamed="condition_",
)

I2B2 = ClinicalModel(
    name="i2b2",
    tables={
        "patient_dimension": ModelTable("patient_num"),
        "visit_dimension": ModelTable("patient_num", "start_date"),
        "observation_fact": ModelTable("patient_num", "start_date"),
    },
    categories={"sex": "sex_cd", "race": "race_cd", "ethnicity": "ethnicity_cd"},
    birth="birth_date",
    parts_of_birth=(),
    visits=Coded("visit_dimension", "inout_cd"),
    drugs=Coded("observation_fact", "concept_cd", ("ATC:", "NDC:", "RXNORM:")),
    measurements=Measured("observation_fact", "concept_cd", "nval_num", {"units_cd": "", "tval_char": "E"}),
    conditions=Coded("observation_fact", "concept_cd", ("ICD10:", "ICD10CM:", "ICD9:", "ICD9CM:", "SNOMED:")),
    death=Death("patient_dimension", "death_date"),
    concepts="coded_concepts.toml",
)

FHIR = ClinicalModel(
    name="FHIR",
    tables={
        "patient": ModelTable("id", file="Patient.parquet"),
        "encounter": ModelTable("patient_id", "start_date", file="Encounter.parquet"),
        "condition": ModelTable("patient_id", "onset_date", file="Condition.parquet"),
        "medicationrequest": ModelTable("patient_id", "authored_date", file="MedicationRequest.parquet"),
        "observation": ModelTable("patient_id", "effective_date", file="Observation.parquet"),
    },
    categories={"sex": "gender"},
    birth="birth_date",
    parts_of_birth=(),
    visits=Coded("encounter", "class"),
    drugs=Coded("medicationrequest", "code"),
    measurements=Measured("observation", "code", "value", {"unit": ""}),
    conditions=Coded("condition", "code"),
    death=Death("patient", where={"deceased": "true"}),
    concepts="coded_concepts.toml",
    kind="fhir",
)
