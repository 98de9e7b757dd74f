"""What classes give away of a sensitive column, without anybody being found.

Who knows the class of a person knows how the sensitive values are spread there. A class that has a single value gives
it away (homogeneity; Machanavajjhala et al., "l-Diversity", ICDE 2006); a value far more common in a class than in the
extract turns a small suspicion into a large one (Li et al., "t-Closeness", ICDE 2007). What counts is what the class
adds to what everybody knows anyway: to the share of the value in all records (Brickell and Shmatikov, "The cost of
privacy", KDD 2008).

>>> import numpy as np
>>> classes = np.array([0, 0, 0, 0, 1, 1, 1, 1])
>>> illness = np.array([0, 0, 0, 0, 0, 1, 1, 2])
>>> found = values_told(classes, illness)
>>> found.same, found.right_overall, found.right_by_class
(Disclosure(classes=1, records=4), 0.625, 0.75)
>>> numbers_told(classes, np.array([50.0, 51, 51, 52, 10, 80, 30, 45]), width=5.0).narrow
Disclosure(classes=1, records=4)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from querygate.core.json_body import JsonValue, to_json
from querygate.core.types import Bools, Floats, Ints

LIKELY = 0.8
"""A share of a class from which a guess of its value is as good as knowledge."""


@dataclass(frozen=True, slots=True)
class Disclosure:
    """Classes that give something away, and the records in them."""

    classes: int
    records: int

    @classmethod
    def of(cls, which: Bools, sizes: Ints) -> Disclosure:
        return cls(int(which.sum()), int(sizes[which].sum()))


@dataclass(frozen=True, slots=True)
class ValuesTold:
    """Of a column of categories. Who guesses the most frequent value of the class is right in `right_by_class`."""

    records: int
    classes: int
    same: Disclosure
    likely: Disclosure
    right_overall: float
    right_by_class: float

    @property
    def gain(self) -> float:
        """The share of records that a guesser gets right thanks to the classes."""
        return self.right_by_class - self.right_overall

    def to_dict(self) -> dict[str, JsonValue]:
        return {**to_json(self), "gain": self.gain}


@dataclass(frozen=True, slots=True)
class NumbersTold:
    """Of a column of numbers. Errors are the mean absolute ones of guessing the median, of all and of the class."""

    records: int
    classes: int
    width: float
    narrow: Disclosure
    error_overall: float
    error_by_class: float

    @property
    def gain(self) -> float:
        """By how much the classes shorten the guesser's error, as a share of it."""
        return 1 - self.error_by_class / self.error_overall if self.error_overall else 0.0

    def to_dict(self) -> dict[str, JsonValue]:
        return {**to_json(self), "gain": self.gain}


def values_told(classes: Ints, values: Ints) -> ValuesTold:
    """Of the code of the sensitive value of each record, in classes numbered from 0. A missing value is a value."""
    if classes.shape != values.shape:
        raise ValueError("one class and one value for each record")
    if not classes.size:
        return ValuesTold(0, 0, Disclosure(0, 0), Disclosure(0, 0), 0.0, 0.0)
    label = np.unique(classes, return_inverse=True)[1].reshape(-1)
    known, value = np.unique(values, return_inverse=True)
    size, overall = np.bincount(label), np.bincount(value.reshape(-1))
    pair, held = np.unique(label * known.size + value.reshape(-1), return_counts=True)
    most = np.zeros(size.size, dtype=np.int64)
    np.maximum.at(most, pair // known.size, held)
    return ValuesTold(
        label.size,
        size.size,
        Disclosure.of(most == size, size),
        Disclosure.of(most >= LIKELY * size, size),
        float(overall.max() / label.size),
        float(most.sum() / label.size),
    )


def numbers_told(classes: Ints, values: Floats, width: float) -> NumbersTold:
    """Of the sensitive number of each record; nan is unknown, and classes of unknown numbers alone tell none.

    A class is narrow when its known values span less than `width`.
    """
    if classes.shape != values.shape:
        raise ValueError("one class and one value for each record")
    known = ~np.isnan(values)
    label, values = np.unique(classes[known], return_inverse=True)[1].reshape(-1), values[known]
    if not values.size:
        return NumbersTold(0, 0, width, Disclosure(0, 0), 0.0, 0.0)
    order = np.lexsort((values, label))
    ordered, of = values[order], label[order]
    size = np.bincount(of)
    first = np.concatenate([[0], np.cumsum(size)[:-1]])
    spread = ordered[first + size - 1] - ordered[first]
    middle = (ordered[first + (size - 1) // 2] + ordered[first + size // 2]) / 2
    return NumbersTold(
        values.size,
        size.size,
        width,
        Disclosure.of(spread < width, size),
        float(np.abs(values - np.median(values)).mean()),
        float(np.abs(ordered - middle[of]).mean()),
    )


def explain_values_told(found: ValuesTold, column: str) -> str:
    """One sentence for those who decide.

    >>> import numpy as np
    >>> explain_values_told(values_told(np.array([0, 0, 1, 1]), np.array([5, 5, 5, 6])), "illness")
    'Somebody who knows the class of a person guesses illness right for 75.0 % of the 4 records (75.0 % without it); \
in 1 of 2 classes (2 records) everybody has the same value.'
    """
    return (
        f"Somebody who knows the class of a person guesses {column} right for {100 * found.right_by_class:.1f} % of "
        f"the {found.records:,} records ({100 * found.right_overall:.1f} % without it); in {found.same.classes:,} of "
        f"{found.classes:,} classes ({found.same.records:,} records) everybody has the same value."
    )


def explain_numbers_told(found: NumbersTold, column: str) -> str:
    """One sentence for those who decide.

    >>> import numpy as np
    >>> explain_numbers_told(numbers_told(np.array([0, 0, 1, 1]), np.array([1.0, 2, 10, 30]), 5), "income")
    'Somebody who knows the class of a person guesses income with a mean error of 5.25 (9.25 without it); in 1 of 2 \
classes (2 records) its values span less than 5.'
    """
    return (
        f"Somebody who knows the class of a person guesses {column} with a mean error of {found.error_by_class:.4g} "
        f"({found.error_overall:.4g} without it); in {found.narrow.classes:,} of {found.classes:,} classes "
        f"({found.narrow.records:,} records) its values span less than {found.width:g}."
    )
