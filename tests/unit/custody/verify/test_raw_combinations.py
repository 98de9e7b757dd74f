"""Raw quasi-identifiers, each combination once."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from querygate.core.publications.vault_ports import RawColumn
from querygate.custody.verify.raw_combinations import RawCombinations

AGE = [3, 3, None, 3, -7, None, 10**15, None]
TOWN = ["ä", "", "ä", "ä", None, "ä", "007", None]
WEIGHT = [0.1, 0.1, 2.5, 0.1, None, 2.5, -1e300, 0.0]


def column(values: list[Any]) -> RawColumn:
    """As a vault tells it; where a value is missing there is anything."""
    missing = np.array([value is None for value in values])
    if any(isinstance(value, str) for value in values):
        texts = tuple(sorted({value for value in values if value is not None}))
        return RawColumn(np.array([-1 if v is None else texts.index(v) for v in values]), missing, texts)
    if any(isinstance(value, float) for value in values):
        return RawColumn(np.array([np.nan if v is None else v for v in values]), missing)
    return RawColumn(np.array([i if v is None else v for i, v in enumerate(values)]), missing)


def told(raw: RawColumn) -> list[Any]:
    values = [raw.texts[value] if raw.texts else value for value in raw.values.tolist()]
    return [None if gone else value for value, gone in zip(values, raw.missing.tolist(), strict=True)]


@pytest.mark.parametrize("rows", [1, 3, 8])
def test_every_record_has_its_combination(rows: int) -> None:
    given = {"age": AGE[:rows], "town": TOWN[:rows], "weight": WEIGHT[:rows], "none": [None] * rows}
    found = RawCombinations.of(given, lambda name: column(given[name]), rows)
    combinations = list(zip(*(told(found.read(name)) for name in given), strict=True))
    records = list(zip(*given.values(), strict=True))
    assert [combinations[place] for place in found.place.tolist()] == records
    assert dict(zip(combinations, found.times.tolist(), strict=True)) == Counter(records)


def test_without_a_column_all_records_are_one() -> None:
    found = RawCombinations.of([], column, 4)
    assert (found.place.tolist(), found.times.tolist()) == ([0] * 4, [4])
