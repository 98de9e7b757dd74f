"""FHIR resources in Parquet files as tables with one row per event.

    fhir:cdm/Observation.parquet      a file, or a folder of them, called as its resource is

Files nest as the resource does. Writers differ in two things: a choice of types is a column for each type
(`effectiveDateTime`: the Parquet on FHIR specification, Pathling) or a struct (`effective.dateTime`: FHIR Data Pipes);
and they leave out what no resource has. So each column of the table names the places where it may be, and of those that
are there the first with a value counts. A resource with several codes gives a row for each, and each component of an
observation counts as an observation, as in the flat views of SQL on FHIR.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from querygate.core.errors import ConfigError
from querygate_adapters.sources.files import ParquetFile, quoted

_TEXT = "{x}"
_KEY = (  # of Patient/7, urn:uuid:7 and https://host/Patient/7/_history/2 the 7; a group of people is nobody
    "CASE WHEN NOT contains({x}, '/') OR regexp_matches({x}, '(^|/)Patient/[^/]+(/_history/.*)?$') "
    "THEN regexp_extract(regexp_replace({x}, '/_history/.*$', ''), '[^/:]+$') END"
)
_DAY = "CASE WHEN regexp_matches({x}, '^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}') THEN {x} END"  # not 2019-05
_IS_KNOWN = "CASE WHEN {x} IS NOT NULL THEN 'true' END"

Column = tuple[tuple[str, str], ...]
"""Places in a resource, each with SQL for what is made of the text there."""


def _column(form: str, *places: str) -> Column:
    return tuple((place, form) for place in places)


_PERSON = _column(_KEY, "subject.reference", "subject.patientId")


@dataclass(frozen=True, slots=True)
class Resource:
    """Columns of a resource, which does not count if it says one of the texts of `void`. If it has a code: the concept
    that holds its codes, under the names it may have; columns of whatever has a code, of which `value` is missing where
    something `inexact` says that it is only a bound; and parts with codes of their own.
    """

    columns: Mapping[str, Column]
    void: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    concept: tuple[str, ...] = ()
    coded: Mapping[str, Column] = field(default_factory=dict)
    inexact: tuple[str, ...] = ()
    parts: str = ""


RESOURCES = {
    "Patient": Resource(
        {
            "id": _column(_KEY, "id"),
            "gender": _column(_TEXT, "gender"),
            "birth_date": _column(_DAY, "birthDate"),
            "deceased": _column(_TEXT, "deceasedBoolean", "deceased.boolean")
            + _column(_IS_KNOWN, "deceasedDateTime", "deceased.dateTime"),
        }
    ),
    "Encounter": Resource(
        {
            "patient_id": _PERSON,
            "class": _column(_TEXT, "class.code", "class.coding.code"),
            "start_date": _column(_DAY, "period.start", "actualPeriod.start"),
        },
        void={"status": ("entered-in-error", "cancelled", "planned")},
    ),
    "Condition": Resource(
        {
            "patient_id": _PERSON,
            "onset_date": _column(
                _DAY, "onsetDateTime", "onset.dateTime", "onsetPeriod.start", "onset.period.start", "recordedDate"
            ),
        },
        concept=("code",),
        void={"verificationStatus.coding.code": ("entered-in-error", "refuted")},
    ),
    "MedicationRequest": Resource(
        {"patient_id": _PERSON, "authored_date": _column(_DAY, "authoredOn")},
        concept=("medicationCodeableConcept", "medication.codeableConcept", "medication.concept"),
        void={"status": ("entered-in-error", "cancelled", "draft")},
    ),
    "Observation": Resource(
        {
            "patient_id": _PERSON,
            "effective_date": _column(
                _DAY, "effectiveDateTime", "effective.dateTime", "effectivePeriod.start", "effective.period.start"
            ),
        },
        concept=("code",),
        coded={
            "value": _column(_TEXT, "valueQuantity.value", "value.quantity.value", "valueInteger", "value.integer"),
            "unit": _column(_TEXT, "valueQuantity.code", "value.quantity.code")
            + _column(_TEXT, "valueQuantity.unit", "value.quantity.unit"),
        },
        inexact=("valueQuantity.comparator", "value.quantity.comparator"),
        parts="component",
        void={"status": ("entered-in-error", "cancelled")},
    ),
}


class FhirResource(ParquetFile):
    """The resources of one type."""

    def _read_columns(self) -> tuple[str, ...]:
        named = re.match("[A-Za-z]+", self.path.name)
        resource = {name.lower(): one for name, one in RESOURCES.items()}.get(named[0].lower() if named else "")
        if resource is None:
            raise ConfigError(
                "QG802",
                f"{self.path.name}: FHIR resources of this kind are not read as a table.",
                f"Accepted: {', '.join(RESOURCES)}; the file is called as its resource is, as Patient.parquet.",
            )
        relation, values = super()._relation()
        read = self._connection.sql(f"SELECT * FROM {relation} LIMIT 0", params=values)
        self._table = _table(resource, read.to_arrow_reader().schema, relation)
        self._connection.execute(f"SELECT * FROM {self._table} LIMIT 0", values)
        return tuple(str(column[0]) for column in self._connection.description or ())

    def _relation(self) -> tuple[str, list[Any]]:
        return self._table, super()._relation()[1]


@dataclass(frozen=True, slots=True)
class _Place:
    """A place in a resource: SQL for what is there, and its type."""

    sql: str
    type: pa.DataType

    def find(self, place: str) -> _Place | None:
        """A place within it, if the files have it; of a list on the way there the first element."""
        found = self
        for step in place.split("."):
            if pa.types.is_list(found.type):
                found = _Place(f"{found.sql}[1]", found.type.value_type)
            inner = list(found.type) if pa.types.is_struct(found.type) else []
            named = [one for one in inner if one.name.lower() == step.lower() and not pa.types.is_null(one.type)]
            if not named:
                return None
            found = _Place(f"{found.sql}.{quoted(named[0].name)}", named[0].type)
        return found

    def column(self, column: Column) -> str:
        """SQL for the first value of a column; empty if the files have none of its places."""
        found = [
            form.format(x=f"CAST({there.sql} AS VARCHAR)") for place, form in column if (there := self.find(place))
        ]
        return f"COALESCE({', '.join(found)})" if found else ""


def _table(resource: Resource, schema: pa.Schema, files: str) -> str:
    """SQL for the table of a resource, from files with this schema."""
    whole = _Place("r", pa.struct(list(schema)))
    own = {name: whole.column(column) for name, column in resource.columns.items()}
    tests = [
        f"COALESCE({said} NOT IN ({', '.join(map(_literal, texts))}), TRUE)"
        for place, texts in resource.void.items()
        if (said := whole.column(_column(_TEXT, place)))
    ]
    where = " AND ".join(tests) or "TRUE"
    if not resource.concept:
        return f"(SELECT {_shown(own)} FROM {files} r WHERE {where})"
    rows = [_coded(resource, own, whole, "read r", where)]
    if (parts := whole.find(resource.parts)) is not None and pa.types.is_list(parts.type):
        part = _Place("p.part", parts.type.value_type)
        rows.append(_coded(resource, own, part, f"read r, UNNEST({parts.sql}) p(part)", where))
    union = " UNION ALL BY NAME ".join(row for row in rows if row)
    return f"(WITH read AS (FROM {files}) {union or f'SELECT {_shown(own)} FROM read r WHERE FALSE'})"


def _coded(resource: Resource, own: Mapping[str, str], of: _Place, rows: str, where: str) -> str:
    """SQL for a row for each code of a resource, or of each part of it; empty if the files have no codes there."""
    codings = next((found for place in resource.concept if (found := of.find(f"{place}.coding"))), None)
    if codings is None or not pa.types.is_list(codings.type):
        return ""
    coding = _Place("c.coding", codings.type.value_type)
    system, code = (coding.column(_column(_TEXT, name)) for name in ("system", "code"))
    shown = {"code": f"COALESCE({system or 'NULL'} || '|', '') || {code}" if code else ""}
    shown |= {name: of.column(column) for name, column in resource.coded.items()}
    bounds = [f"{there.sql} IS NOT NULL" for place in resource.inexact if (there := of.find(place))]
    if bounds and shown.get("value"):
        shown["value"] = f"CASE WHEN NOT ({' OR '.join(bounds)}) THEN {shown['value']} END"
    return f"SELECT {_shown({**own, **shown})} FROM {rows}, UNNEST({codings.sql}) c(coding) WHERE {where}"


def _shown(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{sql} AS {name}" for name, sql in columns.items() if sql) or "1"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
