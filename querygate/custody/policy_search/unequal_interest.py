"""Attackers who look for some people more than others: `dx=HIV:5` looks five times as keenly for people with HIV."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Floats
from querygate.custody.policy import ColumnPolicy

FORM = "such as disease=HIV:5: a category of the policy, one of its values, and a weight above 0 and at most 1000"
_TEXT = re.compile(r"\s*(?P<column>[^=]+?)\s*=\s*(?P<value>.+?)\s*:\s*(?P<weight>\d+(?:\.\d+)?)\s*")


@dataclass(frozen=True, slots=True)
class Interest:
    """How much more, or less, people with a value are looked for than others."""

    column: str
    value: str
    weight: float

    def __str__(self) -> str:
        return f"{self.column}={self.value}:{self.weight:g}"


def read_interest(text: str, columns: Iterable[ColumnPolicy]) -> Interest | None:
    """None if the text is not an interest, or names no published category.

    >>> str(read_interest("disease = HIV : 5", [ColumnPolicy("disease", "sensitive", "category")]))
    'disease=HIV:5'
    >>> read_interest("age=5:2", [ColumnPolicy("age", "sensitive", "integer")]) is None
    True
    """
    found = _TEXT.fullmatch(text)
    named = [c for c in columns if found and c.name == found["column"] and c.is_published and not c.is_numeric]
    if not found or not named or not 0 < float(found["weight"]) <= 1000:
        return None
    return Interest(named[0].name, found["value"], float(found["weight"]))


def weights_of(interests: Sequence[Interest], texts: Sequence[Sequence[str | None]], records: int) -> Floats:
    """The weight of each record: 1, times that of each interest whose value it has."""
    weights = np.ones(records)
    for one, values in zip(interests, texts, strict=True):
        weights[np.array([value == one.value for value in values], dtype=np.bool_)] *= one.weight
    return weights
