"""The independent check of a release extract: its risk, counted on what is released.

It reads the columns of the extract as a recipient does, looks people up in the population by its texts and numbers, and
shares no code with the search or with the code that wrote the extract. Records with the same published values are a
class; its people are those of the population whose values fit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from querygate.core.errors import ExtractRefused
from querygate.core.types import Ints
from querygate.custody.columns.population import Population
from querygate.custody.policy import ColumnPolicy

BETWEEN = " | "
ANY = "*"
MISSING, NOBODYS = -1, -2


@dataclass(frozen=True, slots=True)
class PopulationMatch:
    """How records relate to the people of a population. `matches` has the number of people for each record."""

    risk: float
    greatest: float
    k_map: int
    classes: int
    records: int
    unmatched: int
    short: int

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def look_up(table: pa.Table, columns: Sequence[ColumnPolicy], people: Population) -> tuple[PopulationMatch, Ints]:
    """The figures of an extract over the columns that the population has, and the people who match each record."""
    rows, persons = [], []
    for column in columns:
        of_rows, of_people = _numbers(table, column, people) if column.is_numeric else _texts(table, column, people)
        rows.append(of_rows)
        persons.append(of_people)
    both = np.concatenate([np.stack(rows, axis=1), np.stack(persons, axis=1)])
    _, which = np.unique(both, axis=0, return_inverse=True)
    which = which.reshape(-1)
    of_rows, of_people = which[: table.num_rows], which[table.num_rows :]
    held = np.bincount(of_rows, minlength=int(which.max()) + 1)
    fits = np.bincount(of_people, people.persons, held.size).astype(np.int64)
    mine, theirs = held[of_rows], fits[of_rows]
    among = np.maximum(mine, theirs)
    looked = PopulationMatch(
        risk=math.fsum((1.0 / among).tolist()) / table.num_rows,
        greatest=1.0 / int(among.min()),
        k_map=int(theirs.min()),
        classes=int(np.unique(of_rows).size),
        records=table.num_rows,
        unmatched=int((theirs == 0).sum()),
        short=int(((theirs > 0) & (theirs < mine)).sum()),
    )
    return looked, theirs


def _numbers(table: pa.Table, column: ColumnPolicy, people: Population) -> tuple[Ints, Ints]:
    """The interval of each record, and the one that each kind of people lies in."""
    low, high = (_floats(table[f"{column.name}_{end}"]) for end in ("low", "high"))
    missing = np.isnan(low)
    pairs = np.unique(np.stack([low[~missing], high[~missing]], axis=1), axis=0)
    if column.edges and not {tuple(pair) for pair in pairs.tolist()} <= _cells(column):
        raise _broken(column)
    begins, ends = pairs[:, 0], pairs[:, 1]
    if (ends[:-1] >= begins[1:]).any():
        raise _broken(column)
    of_rows = np.where(missing, MISSING, np.searchsorted(begins, low))
    values = people.values[column.name]
    place = np.searchsorted(begins, values, side="right") - 1
    inside = (place >= 0) & (values <= np.append(ends, -np.inf)[np.maximum(place, 0)])
    return of_rows, np.where(np.isnan(values), MISSING, np.where(inside, place, NOBODYS))


def _cells(column: ColumnPolicy) -> set[tuple[float, float]]:
    """The cells of a policy, from its edges alone."""
    found, last = set(), len(column.edges) - 1
    for place in range(last):
        top: float = column.edges[place + 1]
        if place + 1 < last:
            top = math.nextafter(top, -math.inf) if column.type == "number" else top - 1
        found.add((float(column.edges[place]), float(top)))
    return found


def _texts(table: pa.Table, column: ColumnPolicy, people: Population) -> tuple[Ints, Ints]:
    """The text of each record, and the one that each kind of people has a value of."""
    words = table[column.name].cast(pa.string()).to_pylist()
    labels = sorted({word for word in words if word is not None})
    number = {label: place for place, label in enumerate(labels)}
    label_of: dict[str, int] = {}
    for label in labels:
        for value in _members(column, label):
            if value in label_of:
                raise _broken(column)
            label_of[value] = number[label]
    of_rows = np.array([MISSING if word is None else number[word] for word in words], dtype=np.int64)
    texts = people.texts[column.name]
    known = np.array([*(label_of.get(text, NOBODYS) for text in texts), MISSING], dtype=np.int64)
    values = people.values[column.name]
    return of_rows, known[np.where(np.isnan(values), len(texts), values).astype(np.int64)]


def _members(column: ColumnPolicy, label: str) -> Sequence[str]:
    """The values that a text stands for: itself, or a whole group's."""
    if not column.groups:
        return (label,)
    wanted = {ANY} if len(column.groups) == 1 and len(column.groups[0]) > 1 else set()
    told = {BETWEEN.join(sorted(group)): group for group in column.groups} | dict.fromkeys(wanted, column.groups[0])
    if label not in told:
        raise _broken(column)
    return told[label]


def _floats(column: pa.ChunkedArray) -> Any:
    kind = column.type
    if pa.types.is_date(kind):
        column = column.cast(pa.int32())
    elif pa.types.is_timestamp(kind):
        column = column.cast(pa.int64())
    return np.array([math.nan if value is None else float(value) for value in column.to_pylist()], dtype=np.float64)


def _broken(column: ColumnPolicy) -> ExtractRefused:
    return ExtractRefused(
        "QG605",
        f"The extract does not keep the cells of {column.name}.",
        "Nothing was written. Report this fault to the makers of QueryGate.",
    )
