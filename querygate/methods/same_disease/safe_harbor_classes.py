"""The classes that the two rules of HIPAA make of the same file: Safe Harbor, the yardstick, and the limited data set.

A limited data set (45 CFR 164.514(e)) has dates and ZIP codes as they are, so its classes are those of the raw values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from querygate.core.safe_harbor import OLD
from querygate.core.types import Floats, Ints
from querygate.methods.same_disease.instance_risk import InstanceRisk, instance_risk
from querygate.methods.same_disease.quasi_ranges import ColumnCodes
from querygate.methods.same_disease.study import Study


@dataclass(frozen=True, slots=True)
class RuleClasses:
    """The class of each record under a rule, what it risks and what it loses in each column."""

    names: tuple[str, ...]
    class_of: Ints
    risk: InstanceRisk
    loss: Floats


def safe_harbor(study: Study, small_areas: Collection[str] = ()) -> RuleClasses:
    """ZIP codes to three digits, dates to years, ages over 89 together; other columns as they are.

    `small_areas` are the three-digit areas of 20,000 people or fewer, which become 000 together.

    >>> import numpy as np
    >>> from querygate.methods.same_disease import Quasi
    >>> people = {"age": np.array([50, 50, 91, 95]), "zip": np.array(["37203", "37212", "37203", "38104"])}
    >>> both = [Quasi("age", "age"), Quasi("zip", "zip")]
    >>> safe_harbor(Study.within(both, people, np.array([0, 2]))).risk.class_people
    (2, 1)
    >>> safe_harbor(Study.within(both, people, np.array([0, 2])), small_areas={"372", "381"}).risk.class_people
    (2, 2)
    """
    return _classes(study, lambda column: _groups(column, small_areas))


def limited_data_set(study: Study) -> RuleClasses:
    """Every value as it is.

    >>> import numpy as np
    >>> from querygate.methods.same_disease import Quasi
    >>> people = {"age": np.array([50, 50, 91, 95]), "zip": np.array(["37203", "37203", "37203", "38104"])}
    >>> study = Study.within([Quasi("age", "age"), Quasi("zip", "zip")], people, np.array([0, 2]))
    >>> limited_data_set(study).risk.class_people
    (2, 1)
    """
    return _classes(study, lambda column: np.arange(len(column.values) + 1, dtype=np.int64))


def _classes(study: Study, groups: Callable[[ColumnCodes], Ints]) -> RuleClasses:
    rows = study.persons.size
    label = np.zeros(rows + study.records, dtype=np.int64)
    loss = np.zeros(len(study.columns))
    for at, column in enumerate(study.columns):
        group = groups(column)
        whole = group[np.concatenate([column.people, column.records])]
        label = np.unique(label * max(column.size, 1) + whole, return_inverse=True)[1].reshape(-1)
        if study.records:
            loss[at] = (np.bincount(group)[group[column.records]] - 1).mean() / max(column.size - 1, 1)
    people, records = study.counts(label)
    classes, class_of = np.unique(label[rows:], return_inverse=True)
    names = tuple(column.quasi.name for column in study.columns)
    return RuleClasses(names, class_of.reshape(-1), instance_risk(records[classes], people[classes]), loss)


def _groups(column: ColumnCodes, small_areas: Collection[str]) -> Ints:
    """For each code of the column, the number of the group that Safe Harbor puts it in; a missing value is its own."""
    values, kind = column.values, column.quasi.kind
    if kind == "age":
        groups = np.minimum(values, OLD)
    elif kind == "date":
        groups = values.astype("datetime64[Y]").astype(np.int64)
    elif kind == "birth":
        groups = np.maximum(values.astype("datetime64[Y]").astype(np.int64), _first_year(column.quasi.on))
    elif kind == "zip":
        groups = np.array(["000" if value[:3] in small_areas else value[:3] for value in values.tolist()], dtype=str)
    else:
        groups = np.arange(len(values))
    numbers = np.unique(groups, return_inverse=True)[1].reshape(-1)
    return np.append(numbers, numbers.max(initial=-1) + 1).astype(np.int64)


def _first_year(on: str) -> int:
    """The first year of birth, counted from 1970, that does not show an age over 89 on that day.

    Who was born in the year 90 before may be 89 or 90; a year that may stand for either shows nothing. Those of the
    year before are 90 or older, and the years up to it are one group.
    """
    return int(np.datetime64(on, "Y").astype(np.int64)) - OLD - 1
