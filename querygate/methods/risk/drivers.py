"""Which quasi-identifiers drive the risk: what is left of it when each of them is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.json_body import JsonValue, to_json
from querygate.core.types import Ints


@dataclass(frozen=True, slots=True)
class Driver:
    """What is left of the risk when one quasi-identifier is left out, and how far that is below the whole."""

    column: str
    average: float
    uniqueness: float
    average_fall: float
    uniqueness_fall: float
    alone: float  # the average risk when this column is all that is known

    def to_dict(self) -> dict[str, JsonValue]:
        return to_json(self)


def leave_one_out(codes: Ints, names: Sequence[str]) -> tuple[Driver, ...]:
    """Which quasi-identifiers drive the prosecutor's risk, those that matter most first.

    Rows are records and columns codes. The average risk is the number of classes divided by that of records. Classes
    without a column are those of all before it joined with those of all behind it, so all columns together cost three
    passes and not as many as there are columns.

    >>> import numpy as np
    >>> day = np.arange(8)
    >>> found = leave_one_out(np.stack([day, day % 2], axis=1), ["birth", "sex"])
    >>> [(one.column, one.average, one.average_fall) for one in found]
    [('birth', 0.25, 0.75), ('sex', 1.0, 0.0)]
    """
    if codes.ndim != 2 or codes.shape[1] != len(names):
        raise ValueError("one name for each column of codes")
    before, behind = _passes(codes), _passes(codes[:, ::-1])
    average, alone = _risk(before[-1])
    drivers = []
    for place, name in enumerate(names):
        left, unique = _risk(_joined(before[place], behind[len(names) - 1 - place]))
        own, _ = _risk(np.unique(codes[:, place], return_inverse=True)[1].reshape(-1).astype(np.int64))
        drivers.append(Driver(name, left, unique, average - left, alone - unique, own))
    return tuple(sorted(drivers, key=lambda one: (-one.average_fall, -one.uniqueness_fall, one.column)))


def _passes(codes: Ints) -> list[Ints]:
    """Labels of the classes of no column, of the first, of the first two ..."""
    labels = [np.zeros(len(codes), dtype=np.int64)]
    for column in codes.T:
        labels.append(_joined(labels[-1], column))
    return labels


def _risk(label: Ints) -> tuple[float, float]:
    if not label.size:
        return 0.0, 0.0
    sizes = np.bincount(label)
    return sizes.size / label.size, float((sizes == 1).sum() / label.size)


def explain_drivers(drivers: Sequence[Driver]) -> str:
    """One sentence for those who decide.

    >>> import numpy as np
    >>> day = np.arange(8)
    >>> explain_drivers(leave_one_out(np.stack([day, day % 2], axis=1), ["birth", "sex"]))
    'birth drives the risk most: without it, the average falls from 100.0 % to 25.0 %.'
    """
    if not drivers or drivers[0].average_fall <= 0:
        return "No single column drives the risk: it stays the same without any one of them."
    first = drivers[0]
    whole = first.average + first.average_fall
    return (
        f"{first.column} drives the risk most: without it, the average falls from {100 * whole:.1f} % to "
        f"{100 * first.average:.1f} %."
    )


def class_sizes(codes: Ints) -> Ints:
    """Sizes of the classes that rows of codes, a column for each quasi-identifier, fall into.

    >>> import numpy as np
    >>> class_sizes(np.array([[1, 1], [1, 1], [1, 2]])).tolist()
    [2, 1]
    """
    return np.bincount(class_labels(codes)).astype(np.int64)


def class_labels(codes: Ints) -> Ints:
    """The class of each row, from 0."""
    label = np.zeros(len(codes), dtype=np.int64)
    for column in codes.T:
        label = _joined(label, column)
    return label


def _joined(label: Ints, more: Ints) -> Ints:
    """Labels from 0 of pairs; `label` is from 0."""
    code = np.unique(more, return_inverse=True)[1].reshape(-1)
    return np.unique(label * (code.max(initial=0) + 1) + code, return_inverse=True)[1].reshape(-1).astype(np.int64)
