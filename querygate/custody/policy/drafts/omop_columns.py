"""The columns that a proposed policy derives for each person from an OMOP common data model: sex, race and ethnicity by
name, the last value of the most common measurements, the most common conditions as yes or no, and counts of visits and
drugs.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from querygate.core.derived_columns import DerivedColumn, EventCondition, Take
from querygate.core.vault_ports import Source
from querygate.custody.policy.toml_reader import RawTable

COMMONEST, SHARE = 8, 0.02
"""The most measurements and conditions, the least share of people with one, and the share who must not have it."""

TABLES = {
    "person": "",
    "visit_occurrence": "visit_start_date",
    "condition_occurrence": "condition_start_date",
    "drug_exposure": "drug_exposure_start_date",
    "measurement": "measurement_date",
    "death": "death_date",
}
"""The tables in use, with the column for the time of an event."""

CountPeople = Callable[[Source, str, Sequence[str]], list[tuple[tuple[str, ...], int]]]
"""Each combination of texts in some columns, the most common first, with the number of people."""


@dataclass(frozen=True, slots=True)
class OmopColumn:
    """A derived column, the type that it has, and the table that it comes from."""

    table: str
    type: str
    column: DerivedColumn


def omop_columns(tables: Mapping[str, Source], count_people: CountPeople) -> tuple[OmopColumn, ...]:
    """The columns that the existing tables allow; `person` must be one of them."""
    people = sum(n for _, n in count_people(tables["person"], spelled(tables["person"], "person_id"), ()))
    found = [*_person(tables["person"]), *_visits(tables, count_people)]
    if "drug_exposure" in tables:
        found.append(_column("drug_exposure", "integer", "drug_count", "distinct", "drug_concept_id"))
    found += [*_measurements(tables, people, count_people), *_conditions(tables, people, count_people)]
    if "death" in tables:
        found.append(_column("death", "boolean", "died", "any"))
    return tuple(found)


def as_tables(columns: Sequence[OmopColumn], places: Mapping[str, str]) -> RawTable:
    """Tables [events] and [derive] of a policy file; `places` says where each table is."""
    used = [table for table in TABLES if any(column.table == table for column in columns)]
    events: RawTable = {
        table: {"source": places[table], "on": {"person_id": "person_id"}}
        | ({"time": TABLES[table]} if TABLES[table] else {})
        for table in used
    }
    return {"events": events, "derive": {one.column.name: _told(one) for one in columns}}


def spelled(source: Source, name: str) -> str:
    """A column of the data model as the table spells it."""
    return next((there for there in source.columns() if there.lower() == name), name)


@cache
def concepts() -> Mapping[str, Mapping[str, str]]:
    """Names by concept id, for each kind of concept."""
    text = files("querygate.custody.policy.data").joinpath("omop_concepts.toml").read_text(encoding="utf-8")
    return {kind: {str(key): str(name) for key, name in names.items()} for kind, names in tomllib.loads(text).items()}


def _told(one: OmopColumn) -> RawTable:
    column = one.column
    told: RawTable = {"events": one.table, "take": column.take}
    if column.column:
        told["column"] = column.column
    if column.where:
        told["where"] = {
            test.column: test.texts[0] if len(test.texts) == 1 else list(test.texts) for test in column.where
        }
    if column.names:
        told["names"] = dict(column.names)
    return told


def _column(
    table: str,
    kind: str,
    name: str,
    take: Take,
    column: str = "",
    names: Mapping[str, str] | None = None,
    where: Mapping[str, str] | None = None,
) -> OmopColumn:
    tests = tuple(EventCondition(key, (text,)) for key, text in (where or {}).items())
    return OmopColumn(table, kind, DerivedColumn(name, take, column, tests, names=tuple(sorted((names or {}).items()))))


def _person(source: Source) -> Iterator[OmopColumn]:
    """Columns from the person's only row."""
    for name, column in (("sex", "gender"), ("race", "race"), ("ethnicity", "ethnicity")):
        if f"{column}_concept_id" in source.columns():
            names = {**concepts()[name], "0": "not stated"}
            yield _column("person", "category", name, "min", f"{column}_concept_id", names)


def _visits(tables: Mapping[str, Source], count_people: CountPeople) -> Iterator[OmopColumn]:
    if "visit_occurrence" not in tables:
        return
    yield _column("visit_occurrence", "integer", "visit_count", "count")
    counted = dict(count_people(tables["visit_occurrence"], "person_id", ("visit_concept_id",)))
    for concept, name in concepts()["visits"].items():
        if (concept,) in counted and len(counted) > 1:
            yield _column("visit_occurrence", "integer", name, "count", where={"visit_concept_id": concept})


def _measurements(tables: Mapping[str, Source], people: int, count_people: CountPeople) -> Iterator[OmopColumn]:
    """Only in the most common unit, if a measurement has several."""
    if "measurement" not in tables:
        return
    by = ("measurement_concept_id", "unit_concept_id")
    units: dict[str, list[tuple[str, int]]] = {}
    for (concept, unit), count in count_people(tables["measurement"], "person_id", by):
        units.setdefault(concept, []).append((unit, count))
    names = {**concepts()["measurements"]}
    measured = [concept for concept, found in units.items() if concept in names and found[0][1] >= SHARE * people]
    measured.sort(key=lambda concept: (-units[concept][0][1], list(names).index(concept)))
    for concept in measured[:COMMONEST]:
        where = {"measurement_concept_id": concept}
        if len(units[concept]) > 1:
            where["unit_concept_id"] = units[concept][0][0]
        yield _column("measurement", "number", names[concept], "last", "value_as_number", where=where)


def _conditions(tables: Mapping[str, Source], people: int, count_people: CountPeople) -> Iterator[OmopColumn]:
    """Named if the concept is known, otherwise by its number: the vocabulary is not part of the tables."""
    if "condition_occurrence" not in tables:
        return
    counted = count_people(tables["condition_occurrence"], "person_id", ("condition_concept_id",))
    common = [
        concept for (concept,), n in counted if SHARE * people <= n <= (1 - SHARE) * people and concept not in ("", "0")
    ]
    known = [concept for concept in common if concept in concepts()["conditions"]]
    for concept in [*known, *(c for c in common if c not in known)][:COMMONEST]:
        name = f"has_{concepts()['conditions'].get(concept, f'condition_{concept}')}"
        yield _column(
            "condition_occurrence", "boolean", re.sub(r"\W", "_", name), "any", where={"condition_concept_id": concept}
        )
