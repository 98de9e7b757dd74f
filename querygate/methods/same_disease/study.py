"""A file of one disease and the population it is part of, in the columns that both have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Ints
from querygate.methods.same_disease.part_tree import CodeAtoms
from querygate.methods.same_disease.quasi_ranges import ColumnCodes, Quasi, Values, code

Table = Mapping[str, Values]


@dataclass(frozen=True, slots=True)
class Study:
    """Both tables as codes. The file is a part of the population or shares its columns with it."""

    columns: tuple[ColumnCodes, ...]
    persons: Ints  # how many people each row of the population stands for
    records: int

    @classmethod
    def of(cls, columns: Sequence[Quasi], population: Table, file: Table, persons: Ints | None = None) -> Study:
        """Of a table of the population and one of the file. Rows may stand for several people, or for nobody.

        >>> import numpy as np
        >>> people = {"age": np.array([30, 31, 32, 33]), "sex": np.array(["F", "M", "F", "M"])}
        >>> both = [Quasi("age", "age"), Quasi("sex", "category")]
        >>> Study.of(both, people, {"age": np.array([31]), "sex": np.array(["M"])}).records
        1
        >>> Study.of(both, people, {"age": np.array([31]), "sex": np.array(["M"])}, np.array([9, 0, 2, 4])).people
        15
        """
        if not columns:
            raise ValueError("a population is compared in at least one column")
        lengths = [{len(table[column.name]) for column in columns} for table in (population, file)]
        if any(len(length) > 1 for length in lengths):
            raise ValueError("every column of a table has as many rows")
        rows, records = (length.pop() for length in lengths)
        held = _persons(persons, rows)
        # Rows of nobody would leave their values among those that people have.
        some = held > 0
        everybody = {one.name: np.asarray(population[one.name])[some] for one in columns}
        coded = tuple(code(column, everybody[column.name], file[column.name], held[some]) for column in columns)
        return cls(coded, held[some], records)

    @classmethod
    def within(cls, columns: Sequence[Quasi], population: Table, chosen: Values) -> Study:
        """Of a table of the population and the rows (a mask or places) that are the file."""
        return cls.of(columns, population, {one.name: np.asarray(population[one.name])[chosen] for one in columns})

    @property
    def people(self) -> int:
        return int(self.persons.sum())

    @property
    def prevalence(self) -> float:
        """The share of the population that is in the file: no partition has a smaller R."""
        return min(1.0, self.records / self.people) if self.people else 1.0

    def counts(self, label: Ints) -> tuple[Ints, Ints]:
        """People and records of each label; `label` has those of the rows of the population, then of the records."""
        size, rows = int(label.max(initial=-1)) + 1, self.persons.size
        people = np.bincount(label[:rows], self.persons, size).astype(np.int64)  # exact below 2^53
        return people, np.bincount(label[rows:], minlength=size)

    def atoms(self) -> tuple[CodeAtoms, Ints]:
        """Every combination of codes once, and which one each record has."""
        codes = [np.concatenate([column.people, column.records]) for column in self.columns]
        label = np.zeros(self.persons.size + self.records, dtype=np.int64)
        for column, one in zip(self.columns, codes, strict=True):
            label = np.unique(label * max(column.size, 1) + one, return_inverse=True)[1].reshape(-1)
        first = np.empty(int(label.max(initial=-1)) + 1, dtype=np.int64)
        first[label] = np.arange(label.size)
        people, records = self.counts(label)
        depths = tuple(column.depth() for column in self.columns)
        return CodeAtoms(tuple(one[first] for one in codes), people, records, depths), label[self.persons.size :]


def _persons(persons: Ints | None, rows: int) -> Ints:
    if persons is None:
        return np.ones(rows, dtype=np.int64)
    if persons.shape != (rows,) or (persons < 0).any():
        raise ValueError("a number of people for each row of the population, not below 0")
    return persons.astype(np.int64)
