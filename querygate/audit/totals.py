"""What the auditor reasons about: totals over query sets, and what it says of them.

A logged query becomes one *total* for each measure and each group it showed: which places were added up, over which
measure, and what the answer was. AVG is a total because the number of records is assumed to be known; a variance beside
a mean is a total of squares; a count is a total of the measure *presence*, and one with a condition on a secret is a
total of that secret's own measure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias

from querygate.core.types import Bools

PRESENCE = "(presence)"
"""The measure of plain counts: that a person is in the data."""

Kind: TypeAlias = Literal["differencing", "tracker", "linear", "averaging", "narrow", "collusion", "extreme"]
Severity: TypeAlias = Literal["attempt", "exposed", "disclosed"]


@dataclass(frozen=True, eq=False)
class Total:
    """One number that a query was given: a sum over `members` of a measure, or an extreme of it.

    `low` and `high` bound what the answer says the *sum* is (for an extreme, the value); None where the log has no
    answer. An exact answer has low = high.
    """

    query: str
    user: str
    measure: str
    members: Bools  # over places
    extreme: Literal["", "min", "max", "median"] = ""
    low: Fraction | None = None
    high: Fraction | None = None
    said: str = ""  # the answer as it was given, for the arithmetic: "10*110"


@dataclass(frozen=True)
class Inferred:
    """What follows about the isolated records: the sum of a measure lies in [low, high]."""

    measure: str
    low: Fraction | None
    high: Fraction | None
    arithmetic: str  # "11*115 - 10*110"


@dataclass(frozen=True, eq=False)
class Finding:
    """Query sets that isolate fewer than k records, with the proof."""

    kind: Kind
    severity: Severity
    queries: tuple[str, ...]
    users: tuple[str, ...]
    records: int
    places: Bools
    coefficients: tuple[tuple[str, str, Fraction], ...]  # (measure, query, number it is multiplied by)
    inferred: tuple[Inferred, ...] = ()
    view: str = ""
    totals: tuple[Total, ...] = field(default=(), repr=False)
