"""The same records as readers have them: raw, as a limited data set and as Safe Harbor would leave them, and as they
are released."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa

from querygate.core.types import Bools, Floats, Ints
from querygate.custody.columns.population import Population
from querygate.custody.extract.raw_tables import floats_of
from querygate.custody.policy import ColumnPolicy, Policy
from querygate.custody.risk_report.code_table import (
    CodeTable,
    SafeHarborTreatment,
    by_limited_data_set,
    by_safe_harbor,
    code_column,
    text_codes,
)
from querygate.custody.risk_report.known_texts import Texts, raw_texts
from querygate.custody.risk_report.register_matches import people_of_values
from querygate.methods.risk import class_labels

Values = Mapping[str, "Ints | Floats"]

Counting = Callable[[Ints], Ints]
"""For rows, one from each class: how many people of the register match each."""


@dataclass(frozen=True, slots=True)
class DiseaseScope:
    """What having a record discloses: a value of a sensitive column or, without one, being in the file at all."""

    column: str = ""
    value: str = field(default="", repr=False)


@dataclass(frozen=True)
class Side:
    """Records as somebody sees them: a row of codes for each, one column for each quasi-identifier.

    Anyone who looks people up in a register can distinguish records only by its columns (`linked`), which makes larger
    classes. `at_stake` marks those for whom being listed is the disclosure; None if the records do not say.
    """

    names: tuple[str, ...]
    told: Ints
    sensitive: Values
    counting: Counting | None = None
    linked: tuple[str, ...] = ()
    left_out: int = 0
    at_stake: Bools | None = None
    texts: Texts = field(default_factory=dict)

    @cached_property
    def text_sizes(self) -> Mapping[tuple[str, ...], Ints]:
        """How many records have the same texts: by column, and together with all quasi-identifiers."""
        found: dict[tuple[str, ...], Ints] = {
            (name,): np.bincount(texts).astype(np.int64) for name, texts in self.texts.items()
        }
        if len(found) + len(self.names) > 1 and found:
            together = class_labels(np.column_stack([self.labels, *self.texts.values()]))
            found[(*self.names, *self.texts)] = np.bincount(together).astype(np.int64)
        return found

    @cached_property
    def labels(self) -> Ints:
        """The class of each record, from 0."""
        return class_labels(self.told)

    @cached_property
    def sizes(self) -> Ints:
        return np.bincount(self.labels).astype(np.int64)

    @cached_property
    def linked_labels(self) -> Ints:
        """The class of each record as somebody with the register sees it, from 0."""
        if self.linked == self.names:
            return self.labels
        return class_labels(self.told[:, [self.names.index(name) for name in self.linked]])

    @cached_property
    def linked_sizes(self) -> Ints:
        return np.bincount(self.linked_labels).astype(np.int64)

    @cached_property
    def people(self) -> Ints | None:
        """People of the register that match each class that somebody with the register sees."""
        if self.counting is None:
            return None
        first = np.empty(self.linked_sizes.size, dtype=np.int64)
        first[self.linked_labels] = np.arange(self.linked_labels.size)
        return self.counting(first)


@dataclass(frozen=True)
class RuleSides:
    """The raw records, the same under the two rules of HIPAA, and what each does to each column."""

    raw: Side
    safe_harbor: Side
    limited: Side
    by_safe_harbor: tuple[SafeHarborTreatment, ...]
    by_limited: tuple[SafeHarborTreatment, ...]


def raw_sides(
    policy: Policy, raw: pa.Table, population: Population | None, disease: DiseaseScope | None, year: int
) -> RuleSides:
    coded = [code_column(column, raw[column.name], population) for column in policy.named("quasi-identifier")]
    sensitive, stake = sensitive_of(policy, raw), at_stake(policy, raw, disease)
    harboured, limited = [by_safe_harbor(one, year) for one in coded], [by_limited_data_set(one) for one in coded]
    tables = (coded, [column for column, _ in harboured], [column for column, _ in limited])
    texts = raw_texts(policy, raw)
    sides = [_side(one, population, sensitive, stake, texts, raw.num_rows) for one in tables]
    does = [tuple(told for _, told in treated) for treated in (harboured, limited)]
    return RuleSides(sides[0], sides[1], sides[2], does[0], does[1])


def _side(
    coded: Sequence[CodeTable],
    population: Population | None,
    sensitive: Values,
    stake: Bools | None,
    texts: Texts,
    rows: int,
) -> Side:
    told = stacked([one.records for one in coded], rows)
    shared = [at for at, one in enumerate(coded) if one.people is not None]
    counting: Counting | None = None
    if population is not None:
        persons = population.persons
        people = np.stack([one.people for one in coded if one.people is not None], axis=1) if shared else None

        def counting(rows: Ints) -> Ints:
            if people is None:  # the register has none of the columns
                return np.full(rows.size, int(persons.sum()), dtype=np.int64)
            return people_of_values(told[rows][:, shared], people, persons)

    names = tuple(one.name for one in coded)
    return Side(names, told, sensitive, counting, linked_names(names, population), at_stake=stake, texts=texts)


def stacked(columns: Sequence[Ints], rows: int) -> Ints:
    """A row of codes for each record, even if there are no columns."""
    return np.stack(columns, axis=1) if columns else np.zeros((rows, 0), dtype=np.int64)


def linked_names(names: Sequence[str], population: Population | None) -> tuple[str, ...]:
    """Those that the register has."""
    return tuple(name for name in names if population is not None and name in population.values)


def sensitive_of(policy: Policy, table: pa.Table) -> dict[str, Ints | Floats]:
    """Sensitive columns that a table has: codes of categories, numbers as they are."""
    there = [column for column in policy.named("sensitive") if column.name in table.column_names]
    return {
        column.name: floats_of(table[column.name]) if column.is_numeric else text_codes(table[column.name])[1]
        for column in there
    }


def at_stake(policy: Policy, table: pa.Table, disease: DiseaseScope | None) -> Bools | None:
    """The records of those who have the disease; all of them where none is named, None where the table does not say."""
    if disease is None or not disease.column:
        return np.ones(table.num_rows, dtype=np.bool_)
    if disease.column not in table.column_names:
        return None
    column: ColumnPolicy = policy.column(disease.column)
    if column.is_numeric:
        numbers: Floats = floats_of(table[column.name])
        return np.equal(numbers, _number(disease.value)).astype(np.bool_)
    texts, codes = text_codes(table[column.name])
    wanted = texts.index(disease.value) if disease.value in texts else len(texts)
    return np.equal(codes, wanted).astype(np.bool_)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
