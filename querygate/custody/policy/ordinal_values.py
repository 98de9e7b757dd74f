"""Values of a category that are greater and smaller, and in which order: by data/ordinal_values.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from querygate.custody.policy.identifier_signs import words_of

LEAST = 3
"""Values of an order: two are greater and smaller only by what somebody thinks of them."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """The step of each spelling; of values that are mere numbers, what the column has to be called."""

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
    """The values from the least to the greatest; none where they have no order that is known.

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
    return ()
