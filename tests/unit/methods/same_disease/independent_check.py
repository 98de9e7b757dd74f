"""An independent check of a partition: what is published against the raw tables, one part after the other.

Shares no code with the making of partitions: it reads the values as they were given and the spans and nodes as they
are published, and counts by looking at every person. The cost is that of parts times people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from querygate.core.types import Array, Bools
from querygate.methods.same_disease.population_parts import Partition
from querygate.methods.same_disease.quasi_ranges import Cell, Quasi, ValueSpan

TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class PartitionCheck:
    """What was found: faults in words (none if all is well), and the risk counted anew."""

    faults: tuple[str, ...]
    greatest_match: float
    average_match: float
    greatest_instance: float
    average_instance: float
    overlapping: int  # people who match more than one part


class _Values(NamedTuple):
    rows: Array  # days, numbers, or places among the names
    names: list[str | None]


def check_partition(
    columns: Sequence[Quasi],
    population: Mapping[str, Array],
    file: Mapping[str, Array],
    made: Partition,
    persons: Array | None = None,
) -> PartitionCheck:
    """Every record in one part, its values in what is published, people and risks as they are told.

    `persons` says how many people each row of the population stands for; one, where it is not given.

    >>> import numpy as np
    >>> from querygate.methods.same_disease import Study, partition
    >>> people, file = {"age": np.arange(30, 50)}, {"age": np.array([33, 44])}
    >>> columns = [Quasi("age", "age")]
    >>> check_partition(columns, people, file, partition(Study.of(columns, people, file))).faults
    ()
    """
    read = [(column, _read(column, population), _read(column, file)) for column in columns]
    records, people = len(read[0][2].rows), len(read[0][1].rows)
    weights = np.ones(people, dtype=np.int64) if persons is None else np.asarray(persons)
    if len(made.part_of) != records:
        return PartitionCheck(("not every record has a part, or there are other records",), *(np.nan,) * 4, 0)
    faults: list[str] = []
    times = np.zeros(people, dtype=np.int64)
    risks = []
    for number, part in enumerate(made.parts):
        match, inside = np.ones(people, dtype=np.bool_), np.ones(records, dtype=np.bool_)
        for (column, everybody, recorded), cell in zip(read, part.cells, strict=True):
            match &= _matches(column, everybody, cell)
            inside &= _matches(column, recorded, cell)
        mine = np.asarray(made.part_of) == number
        times += match
        matching = int(weights[match].sum())
        faults += _faults(number, part.records, part.people, mine, inside, matching)
        risks.append((int(mine.sum()), max(matching, int(mine.sum()))))
    if sum(held for held, _ in risks) != records:
        faults.append("the parts do not have all records")
    q = max((1 / among for _, among in risks if among), default=0.0)
    r = max((held / among for held, among in risks if among), default=0.0)
    total = max(records, 1)
    average_q = sum(held / among for held, among in risks if among) / total
    average_r = sum(held * held / among for held, among in risks if among) / total
    told = made.risk.greatest_match, made.risk.average_match, made.risk.greatest_instance, made.risk.average_instance
    if any(abs(one - two) > TOLERANCE for one, two in zip(told, (q, average_q, r, average_r), strict=True)):
        faults.append(f"the risks are not those told: {(q, average_q, r, average_r)} and not {told}")
    return PartitionCheck(tuple(faults), q, average_q, r, average_r, int(weights[times > 1].sum()))


def _faults(number: int, records: int, people: int, mine: Bools, inside: Bools, match: int) -> list[str]:
    found = []
    if not mine.any():
        found.append(f"part {number} has no record")
    if (mine & ~inside).any():
        found.append(f"part {number} publishes values that a record of it does not have")
    if int(mine.sum()) != records:
        found.append(f"part {number} has {int(mine.sum())} records and not {records}")
    if match != people:
        found.append(f"{match} people match part {number} and not {people}")
    return found


def _read(column: Quasi, table: Mapping[str, Array]) -> _Values:
    """Days and numbers as they are, the rest as texts; a missing one is NaT, nan or None."""
    values = np.asarray(table[column.name])
    if column.kind in ("date", "birth"):
        return _Values(values.astype("datetime64[D]"), [])
    if column.kind in ("number", "age"):
        return _Values(values.astype(np.float64), [])
    texts = [None if value is None or value != value else str(value) for value in values.tolist()]
    names = list(dict.fromkeys(texts))
    places = {name: place for place, name in enumerate(names)}
    return _Values(np.array([places[text] for text in texts], dtype=np.int64), names)


def _matches(column: Quasi, values: _Values, cell: Cell) -> Bools:
    rows = values.rows
    if not isinstance(cell, ValueSpan):
        wanted = set(cell.nodes)
        found = [
            cell.missing if name is None else any(node in wanted for node in enumerate(_path(column, name)))
            for name in values.names
        ]
        named: Bools = np.array(found, dtype=np.bool_)[rows]
        return named
    missing: Bools = (rows != rows) & cell.missing
    if cell.low is None:
        return missing
    dated = rows.dtype.kind == "M"
    low, high = (np.datetime64(str(end)) if dated else end for end in (cell.low, cell.high))
    spanned: Bools = (rows >= low) & (rows <= high)
    return missing | spanned


def _path(column: Quasi, value: str) -> list[str]:
    """The nodes over a value, from the most general to itself."""
    if column.kind == "zip":
        return [value[:3], value[:4], value]
    return [*column.above.get(value, ()), value]
