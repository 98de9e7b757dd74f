"""The quasi-identifiers of raw records and of a register in one set of codes, and as Safe Harbor leaves them.

A code stands for a value that records or people have; -1 is a missing one. Both sides share the codes, so that equal
codes are equal values. Safe Harbor is a map from codes to groups of codes, made from the distinct values alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from querygate.core.types import Array, Floats, Ints
from querygate.custody.columns.population import Population
from querygate.custody.extract.raw_tables import floats_of
from querygate.custody.policy import ColumnPolicy
from querygate.methods.policy_search import Suggestion, find_direct, suggest, treated

MISSING = -1

SAMPLE = 1000
"""The number of a column's values that are inspected to see what it contains."""

_DATED = {"date": "datetime64[D]", "timestamp": "datetime64[us]"}


@dataclass(frozen=True, slots=True)
class CodeTable:
    """One quasi-identifier. `people` is None where the register does not have it."""

    column: ColumnPolicy
    values: Array  # of each code: numbers, days and microseconds as floats, or texts
    records: Ints
    people: Ints | None = None

    @property
    def name(self) -> str:
        return self.column.name


def code_column(column: ColumnPolicy, raw: pa.ChunkedArray, population: Population | None) -> CodeTable:
    """The values of a column, and of the register if it has the column, as codes."""
    there = population is not None and column.name in population.values
    if column.is_numeric:
        both = [floats_of(raw), population.values[column.name] if population and there else np.zeros(0)]
        values, codes = _numbered(np.concatenate(both))
    else:
        texts, own = text_codes(raw)
        others: Sequence[str] = population.texts[column.name] if population and there else ()
        values = np.array(sorted({*texts, *others}), dtype=object)
        place = {text: i for i, text in enumerate(values.tolist())}
        theirs = _kinds(population.values[column.name]) if population and there else np.zeros(0, dtype=np.int64)
        codes = np.concatenate([_placed(texts, place)[own], _placed(others, place)[theirs]])
    records, people = np.split(codes, [len(raw)])
    return CodeTable(column, values, records, people if there else None)


def text_codes(raw: pa.ChunkedArray) -> tuple[list[str], Ints]:
    """The distinct texts of a column, and the position of each record's text among them; -1 is missing."""
    found = raw.cast(pa.string()).combine_chunks().dictionary_encode()
    if isinstance(found, pa.ChunkedArray):
        found = found.combine_chunks()
    indices = found.indices.fill_null(MISSING)
    return [str(text) for text in found.dictionary.to_pylist()], np.asarray(indices, dtype=np.int64)


def _numbered(values: Floats) -> tuple[Floats, Ints]:
    known = ~np.isnan(values)
    found, places = np.unique(values[known], return_inverse=True)
    codes = np.full(values.size, MISSING, dtype=np.int64)
    codes[known] = places.reshape(-1)
    return found, codes


def _kinds(places: Floats) -> Ints:
    return np.where(np.isnan(places), MISSING, places).astype(np.int64)


def _placed(texts: Sequence[str], place: dict[str, int]) -> Ints:
    """The new code of each old one; the last, which -1 points to, is the missing one."""
    return np.array([*(place[text] for text in texts), MISSING], dtype=np.int64)


# -- Safe Harbor -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SafeHarborTreatment:
    """What Safe Harbor does to a quasi-identifier, under which letter of the rule, and why."""

    column: str
    treatment: str  # as the preset calls it; empty if the column stays as it is
    letter: str
    does: str
    why: str


def by_safe_harbor(coded: CodeTable, year: int) -> tuple[CodeTable, SafeHarborTreatment]:
    """The column as Safe Harbor leaves it. Codes of one group become one; a removed column is missing for all.

    `year` is that of the release: birth years that reveal an age of 90 or more by then are one group.
    """
    found = _suggested(coded)
    if found is None:
        return coded, SafeHarborTreatment(coded.name, "", "", "unchanged", "not an identifier under the rule")
    groups = _groups(coded, found, year)
    if groups is None and found.treatment == "age":  # groups of ages, and no ages
        return coded, SafeHarborTreatment(coded.name, "", "C", "unchanged", "its values are not single ages")
    does = _DOES[found.treatment if groups is not None else "drop"]
    told = SafeHarborTreatment(
        coded.name, found.treatment if groups is not None else "drop", found.letter, does, found.why
    )
    if groups is None:
        gone = np.full_like(coded.records, MISSING)
        return CodeTable(coded.column, coded.values[:0], gone), told
    known, places = np.unique(groups, return_inverse=True)
    place = np.append(places.reshape(-1), MISSING)
    people = None if coded.people is None else place[coded.people]
    return CodeTable(coded.column, known, place[coded.records], people), told


def by_limited_data_set(coded: CodeTable) -> tuple[CodeTable, SafeHarborTreatment]:
    """The column as a limited data set has it: removed if it looks like one of the 16 direct identifiers."""
    found = find_direct(coded.name, _sample(coded))
    if found is None:
        return coded, SafeHarborTreatment(coded.name, "", "", "unchanged", "may stay in a limited data set")
    gone = np.full_like(coded.records, MISSING)
    told = SafeHarborTreatment(coded.name, "drop", found.place, _DOES["drop"], f"one of the sixteen: {found.kind}")
    return CodeTable(coded.column, coded.values[:0], gone), told


_DOES = {
    "drop": "goes",
    "zip3": "first three digits; 000 if they cover 20,000 people or fewer",
    "year": "year only",
    "birth year": "year only, with 90 and over combined",
    "age": "90 and over combined",
}


def _suggested(coded: CodeTable) -> Suggestion | None:
    column = coded.column
    found = suggest(column.name, _sample(coded))
    if column.type in _DATED and (found is None or found.treatment not in ("birth year", "year")):
        return Suggestion(column.name, "C", "year", "its type")
    return found


def _sample(coded: CodeTable) -> list[str]:
    if coded.column.is_numeric or coded.column.type == "boolean":
        return []
    return [str(coded.values[code]) for code in coded.records[:SAMPLE].tolist() if code >= 0]


def _groups(coded: CodeTable, found: Suggestion, year: int) -> Array | None:
    """What is released of each code, as texts; None if nothing is."""
    values = coded.values.tolist()
    if coded.column.type in _DATED:
        values = list(coded.values.astype(np.int64).astype(_DATED[str(coded.column.type)]))
    elif coded.column.is_numeric and found.treatment != "age":
        values = [int(value) for value in values]
    try:
        told = treated(values, found.treatment, at=year)
    except ValueError:  # texts that are no dates, or no ages
        return None
    return None if told is None else np.array([str(one) for one in told], dtype=str)
