"""Recognises categories whose values have an order.

Words come from data/ordinal_values.toml; bands of numbers, such as 5000-9999, are ordered by their lower end.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from querygate.custody.policy.identifier_signs import words_of

LEAST = 3
"""The fewest values of an order; the order of just two is a matter of opinion."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """The rank of each spelling; for mere numbers, the required name of the column."""

    name: str
    steps: dict[str, int]
    names: str = ""


@cache
def ladders() -> tuple[Ladder, ...]:
    text = files("querygate.custody.policy").joinpath("data/ordinal_values.toml").read_text(encoding="utf-8")
    return tuple(
        Ladder(name, {word: at for at, step in enumerate(entry["steps"]) for word in step}, entry.get("names", ""))
        for name, entry in tomllib.loads(text).items()
    )


def in_order(column: str, values: Sequence[str]) -> tuple[str, ...]:
    """The values from lowest to highest; empty if they have no known order.

    >>> in_order("health", ["Excellent", "Fair", "Good", "Poor", "Vgood"])
    ('Poor', 'Fair', 'Good', 'Vgood', 'Excellent')
    >>> in_order("tumour_stage", ["II", "I", "IV"]), in_order("ward", ["2", "1", "3"])
    (('I', 'II', 'IV'), ())
    """
    if len(values) < LEAST:
        return ()
    for ladder in ladders():
        steps = [ladder.steps.get(" ".join(value.split()).casefold()) for value in values]
        known = [step for step in steps if step is not None]
        named = not ladder.names or re.search(ladder.names, words_of(column)) is not None
        if named and len(known) == len(values) == len(set(known)):
            return tuple(value for _, value in sorted(zip(known, values, strict=True)))
    bands = [_band(value) for value in values]
    begins = [band for band in bands if band is not None]
    if len(begins) == len(values) == len(set(begins)):
        return tuple(value for _, value in sorted(zip(begins, values, strict=True)))
    return ()


_NUMBER = r"[$€£]?\s*(\d[\d,.]*)\s*[a-z%]*"
_BANDS = (
    (re.compile(rf"{_NUMBER}\s*(?:-|–|to|bis|à)\s*{_NUMBER}", re.IGNORECASE), 0),
    (re.compile(rf"(?:<|<=|≤|under|below|less than|up to|unter|bis)\s*{_NUMBER}", re.IGNORECASE), -1),
    (re.compile(rf"(?:>|>=|≥|over|above|more|more than|at least|über|ab)\s*{_NUMBER}", re.IGNORECASE), 1),
    (
        re.compile(rf"{_NUMBER}\s*(?:\+|(?:and|or) (?:over|above|more|older)|und mehr)", re.IGNORECASE),
        1,
    ),
)


def _band(value: str) -> tuple[float, int] | None:
    """The lower end of a band of numbers, such as 5000-9999, under 18, 65+; None if it is not a band.

    >>> in_order("income", ["0-4999", "10000-14999", "5000-9999", "more 14999"])
    ('0-4999', '5000-9999', '10000-14999', 'more 14999')
    """
    for pattern, side in _BANDS:
        found = pattern.fullmatch(value.strip())
        if found:
            number = found[1].replace(",", "").rstrip(".")
            return (float(number), side) if number.count(".") <= 1 else None
    return None
