"""The columns that a proposed policy derives for each person from a clinical data model: sex, race and ethnicity by
name, the last value of the most common measurements, the most common conditions as yes or no, and counts of visits and
drugs.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from querygate.core.derived_columns import DerivedColumn, EventCondition, Take
from querygate.core.publications.vault_ports import Source
from querygate.custody.policy.drafts.clinical_models import ClinicalModel
from querygate.custody.policy.toml_reader import RawTable

COMMONEST, SHARE = 8, 0.02
"""The most measurements and conditions, the least share of people with one, and the share who must not have it."""

NOTHING_KNOWN = ("", "0")
"""Texts that stand for no concept."""

Counts = list[tuple[tuple[str, ...], int]]
"""Each combination of texts in some columns, the most common first, with the number of people."""

CountPeople = Callable[[Source, str, Sequence[str]], Counts]


@dataclass(frozen=True, slots=True)
class ClinicalColumn:
    """A derived column, the type that it has, and the table that it comes from."""

    table: str
    type: str
    column: DerivedColumn


def clinical_columns(
    model: ClinicalModel, tables: Mapping[str, Source], count_people: CountPeople
) -> tuple[ClinicalColumn, ...]:
    """The columns that the existing tables allow; that of persons must be one of them."""

    @cache
    def counted(table: str, by: tuple[str, ...]) -> Counts:
        return count_people(tables[table], model.tables[table].person, by)

    found = _Columns(model, tables, counted, _concepts(model.concepts))
    return (
        *found.categories(),
        *found.visits(),
        *found.drugs(),
        *found.measurements(),
        *found.conditions(),
        *found.death(),
    )


def as_tables(model: ClinicalModel, columns: Sequence[ClinicalColumn], places: Mapping[str, str]) -> RawTable:
    """Tables [events] and [derive] of a policy file; `places` says where each table is."""
    used = {name: table for name, table in model.tables.items() if any(column.table == name for column in columns)}
    events: RawTable = {
        name: {"source": places[name], "on": {table.person: model.key}} | ({"time": table.time} if table.time else {})
        for name, table in used.items()
    }
    return {"events": events, "derive": {one.column.name: _told(one) for one in columns}}


@cache
def _concepts(file: str) -> Mapping[str, Mapping[str, str]]:
    """Names by code, for each kind of concept."""
    text = files("querygate.custody.policy.data").joinpath(file).read_text(encoding="utf-8")
    return {kind: {str(key): str(name) for key, name in names.items()} for kind, names in tomllib.loads(text).items()}


def _told(one: ClinicalColumn) -> RawTable:
    column = one.column
    told: RawTable = {"events": one.table, "take": column.take}
    if column.column:
        told["column"] = column.column
    if column.where:
        told["where"] = {test.column: _told_test(test) for test in column.where}
    if column.names:
        told["names"] = dict(column.names)
    return told


def _told_test(test: EventCondition) -> str | list[str] | RawTable:
    if test.begins:
        return {"begins": list(test.begins)}
    return test.texts[0] if len(test.texts) == 1 else list(test.texts)


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns, kind by kind."""

    model: ClinicalModel
    tables: Mapping[str, Source]
    count: Callable[[str, tuple[str, ...]], Counts]
    concepts: Mapping[str, Mapping[str, str]]

    def categories(self) -> Iterator[ClinicalColumn]:
        """Columns from the person's only row."""
        persons = self.model.persons
        for name, column in self.model.categories.items():
            if self._has(persons, column):
                names = self.concepts.get(name, {})
                told = names if any(code in names for (code,), _ in self._counted(persons, column)) else {}
                yield _column(persons, "category", name, "min", column, names=told)

    def visits(self) -> Iterator[ClinicalColumn]:
        visits = self.model.visits
        if visits.table not in self.tables:
            return
        yield _column(visits.table, "integer", "visit_count", "count")
        if not self._has(visits.table, visits.code):
            return
        counted, kinds = {code for (code,), _ in self._counted(visits.table, visits.code)}, self.concepts["visits"]
        for name in dict.fromkeys(kinds.values()):
            codes = tuple(code for code, called in kinds.items() if called == name and code in counted)
            if codes and len(counted) > 1:
                yield _column(visits.table, "integer", name, "count", where=[EventCondition(visits.code, codes)])

    def drugs(self) -> Iterator[ClinicalColumn]:
        drugs = self.model.drugs
        if self._has(drugs.table, drugs.code) and self._codes(drugs.table, drugs.code, drugs.begins):
            where = [EventCondition(drugs.code, begins=drugs.begins)] if drugs.begins else []
            yield _column(drugs.table, "integer", "drug_count", "distinct", drugs.code, where)

    def measurements(self) -> Iterator[ClinicalColumn]:
        """Only in the most common unit, if a measurement has several."""
        measured, names = self.model.measurements, self.concepts["measurements"]
        if not (self._has(measured.table, measured.code, measured.value) and self.model.tables[measured.table].time):
            return
        alike = {name: text for name, text in measured.alike.items() if self._has(measured.table, name)}
        forms: dict[str, list[tuple[dict[str, str], int]]] = {}
        for (code, *form), count in self._counted(measured.table, measured.code, *alike):
            forms.setdefault(code, []).append((dict(zip(alike, form, strict=True)), count))
        found: list[tuple[int, int, ClinicalColumn]] = []
        for code, counted in forms.items():
            several = [name for name in alike if len({form[name] for form, _ in counted}) > 1]
            told = [  # no condition finds what is missing
                (form, n)
                for form, n in counted
                if all(form[name] == (alike[name] or form[name] or None) for name in several)
            ]
            if _bare(code) in names and told and told[0][1] >= SHARE * self._people():
                tests = [EventCondition(name, (told[0][0][name],)) for name in several]
                where, called = [EventCondition(measured.code, (code,)), *tests], names[_bare(code)]
                column = _column(measured.table, "number", called, "last", measured.value, where)
                found.append((-told[0][1], list(names.values()).index(called), column))
        yield from _commonest(column for *_, column in sorted(found, key=lambda one: one[:2]))

    def conditions(self) -> Iterator[ClinicalColumn]:
        """Named if the code is known, otherwise by the code: the vocabulary is not part of the tables."""
        conditions, names = self.model.conditions, self.concepts["conditions"]
        if not self._has(conditions.table, conditions.code):
            return
        people = self._people()
        counted = self._codes(conditions.table, conditions.code, conditions.begins)
        common = [code for code, n in counted.items() if SHARE * people <= n <= (1 - SHARE) * people]
        known = [code for code in common if _bare(code) in names]
        found = []
        for code in [*known, *(code for code in common if code not in known)]:
            name = names.get(_bare(code), self.model.unnamed + code.rpartition("/")[2])
            where = [EventCondition(conditions.code, (code,))]
            found.append(
                _column(conditions.table, "boolean", "has_" + re.sub(r"\W+", "_", name).lower(), "any", where=where)
            )
        yield from _commonest(found)

    def death(self) -> Iterator[ClinicalColumn]:
        death = self.model.death
        where = tuple(EventCondition(column, (text,)) for column, text in death.where.items())
        told = DerivedColumn("died", "any", death.column, where)
        if self._has(death.table, *told.read):
            yield ClinicalColumn(death.table, "boolean", told)

    def _has(self, table: str, *columns: str) -> bool:
        return table in self.tables and set(columns) <= set(self.tables[table].columns())

    def _people(self) -> int:
        return sum(n for _, n in self._counted(self.model.persons))

    def _codes(self, table: str, code: str, begins: tuple[str, ...]) -> dict[str, int]:
        """The codes of a table that begin so, with the number of people who have them."""
        return {
            text: n
            for (text,), n in self._counted(table, code)
            if text not in NOTHING_KNOWN and (not begins or text.startswith(begins))
        }

    def _counted(self, table: str, *by: str) -> Counts:
        return self.count(table, by)


def _commonest(columns: Iterable[ClinicalColumn]) -> list[ClinicalColumn]:
    """The first few; of two with the same name the first, as where a code is there in two systems."""
    named: dict[str, ClinicalColumn] = {}
    for one in columns:
        named.setdefault(one.column.name, one)
    return list(named.values())[:COMMONEST]


def _bare(code: str) -> str:
    """A code without the system that it belongs to: of LOINC:2345-7 and of http://loinc.org|2345-7 the number."""
    return re.split(r"[:|]", code)[-1]


def _column(
    table: str,
    kind: str,
    name: str,
    take: Take,
    column: str = "",
    where: Sequence[EventCondition] = (),
    names: Mapping[str, str] | None = None,
) -> ClinicalColumn:
    told = tuple(sorted((names or {}).items()))
    return ClinicalColumn(table, kind, DerivedColumn(name, take, column, tuple(where), names=told))
