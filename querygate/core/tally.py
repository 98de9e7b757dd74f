"""Noisy answers: what a policy allows, and what is asked of the raw rows for one. The numbers come back exact, so all
that holds them is vault; only what a mechanism has made of them leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from querygate.core.ports import Limits
from querygate.core.types import NoiseOptions, Scalar

Figure: TypeAlias = Literal["count", "distinct", "sum", "histogram"]


@dataclass(frozen=True, slots=True)
class WantedTally:
    """One number of each group, or one histogram: of the rows that `where` selects, what becomes of `value`.

    Texts are SQL over raw columns, written by the gate. A value counts as the number of steps from zero, rounded and
    clamped to [first, last], so that sums are whole numbers and exact.
    """

    figure: Figure
    value: str = ""
    where: str = ""
    first: int = 0
    last: int = 0
    step: float = 1.0


@dataclass(frozen=True, slots=True)
class Tally:
    """What is counted in one pass over the rows of a version: per group of `keys`, each of the wanted numbers."""

    keys: tuple[str, ...]
    where: str
    wanted: tuple[WantedTally, ...]


Tallied: TypeAlias = "dict[tuple[Scalar, ...], tuple[int | dict[int, int], ...]]"
"""By the group's keys: a whole number for each of the wanted, or for a histogram how often each step occurs."""


class Counter(Protocol):
    """The raw rows of published versions, as far as noisy answers may use them."""

    def tally(self, dataset: str, version: int, tally: Tally, options: NoiseOptions, limits: Limits) -> Tallied: ...
