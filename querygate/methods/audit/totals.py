"""What the auditor reasons about: totals over query sets, and what it says of them.

A logged query becomes one *total* for each measure and each group it showed: which places were added up, over which
measure, and what the answer was. AVG is a total because the number of records is assumed to be known; a variance beside
a mean is a total of squares; a count is a total of the measure *presence*, and one with a condition on a secret is a
total of that secret's own measure.

Secret conditions divide the records of a place into *minterms*, one for each pattern of truths of these conditions.
A total is then a sum over cells, (place, minterm), and totals of one *base* combine whatever their conditions: what is
asked of `dx = 'hiv'`, of all others, and of everybody are rows over the same cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from querygate.core.audit.audit_body import Severity
from querygate.core.types import Bools

NOTHING = Fraction(0)

PRESENCE = "(presence)"
"""The measure of plain counts: that a person is in the data."""

FAMILY = "anything about "
"""How measures begin that stand for all questions about a secret column, where it is not known which are the same."""

VARIANCE = "variance"
"""A total that is one of squares once the sum over the same set is known: `low` and `high` bound the squares about the
mean."""

Kind: TypeAlias = Literal[
    "differencing",
    "tracker",
    "linear",
    "narrow",
    "collusion",
    "bounds",
    "averaging",
    "dominance",
    "group",
    "error",
]
SEVERITIES: tuple[Severity, ...] = ("notice", "attempt", "exposed", "disclosed")
"""From the least grave to the gravest."""

Pattern: TypeAlias = tuple[int, ...]
"""What each minterm of a place is multiplied by."""


@dataclass(frozen=True, eq=False)
class QueryTotal:
    """One number that a query was given: a sum over `members` of a measure, or an extreme of it.

    `low` and `high` bound what the answer says the *sum* is (for an extreme, the value); None where the log has no
    answer. An exact answer has low = high.
    """

    query: str
    user: str
    measure: str
    members: Bools  # over places
    extreme: str = ""  # "min", "max", "median", "quantile_cont 0.9", or VARIANCE
    low: Fraction | None = None
    high: Fraction | None = None
    said: str = ""  # the answer as it was given, for the arithmetic: "10*110"
    base: str = ""  # what it combines with; empty: its measure alone
    parts: tuple[tuple[Pattern, Bools], ...] = ()  # disjoint places and their minterms; empty: all of each member
    records: int = 0  # how many values it adds up, where that is needed
    of: str = ""  # of a variance: the measure whose total it needs
    beside: tuple[QueryTotal, ...] = ()  # totals that were needed to read it
    counted: bool = False  # a count of records, so that one adds 0 or 1

    @property
    def system(self) -> str:
        return self.base or self.measure

    @property
    def cells(self) -> tuple[tuple[Pattern, Bools], ...]:
        return self.parts or (((1,), self.members),)

    @cached_property
    def width(self) -> Fraction | None:
        """How much the answer leaves open."""
        if self.low is None or self.high is None:
            return None
        return NOTHING if self.low == self.high else self.high - self.low

    @cached_property
    def mark(self) -> tuple[tuple[Pattern, bytes], ...]:
        """What it adds up: equal for equal sets."""
        return tuple((pattern, np.packbits(members).tobytes()) for pattern, members in self.cells)


@dataclass(frozen=True)
class Base:
    """Measures whose totals combine, by name: those that were asked first, then those nobody asked for."""

    measures: Mapping[str, Pattern]
    asked: int
    minterms: tuple[str, ...] = ("",)  # what holds in each

    def name(self, pattern: Pattern) -> tuple[str, int]:
        """The measure that a pattern is, and 1 or -1 times which it is; one without a name is told by its minterms,
        if these have names."""
        for name, known in self.measures.items():
            if pattern == known:
                return name, 1
            if pattern == tuple(-times for times in known):
                return name, -1
        if not all(self.minterms):
            return "", 1
        terms = [(f"{times}*" if times != 1 else "") + self.minterms[m] for m, times in enumerate(pattern) if times]
        told = " + ".join(terms)
        return (f"({told})" if told in self.measures else told), 1


@dataclass(frozen=True)
class Inference:
    """What follows about the isolated records: the sum of a measure lies in [low, high]."""

    measure: str
    low: Fraction | None
    high: Fraction | None
    arithmetic: str  # "11*115 - 10*110"
    limited: bool = False  # narrower than the arithmetic: by the number of records, and the domain of the column


@dataclass(frozen=True, eq=False)
class Finding:
    """Query sets that isolate fewer than k records, with the proof; or, as a notice, a sign that needs a look."""

    kind: Kind
    severity: Severity
    queries: tuple[str, ...]
    users: tuple[str, ...]
    records: int
    places: Bools
    coefficients: tuple[tuple[str, str, Fraction], ...]  # (measure, query, number it is multiplied by)
    inferred: tuple[Inference, ...] = ()
    view: str = ""
    totals: tuple[QueryTotal, ...] = field(default=(), repr=False)  # one for each coefficient, in their order
    note: str = ""  # what a notice is about, in a sentence
    rejected: Exception | None = field(default=None, repr=False)  # why the check of its proof failed: it is no finding


def signs_left(finding: Finding, measure: str) -> dict[int, int]:
    """Of each isolated place whether the combination leaves it with 1 or -1 times the measure.

    What cancels is gone minterm by minterm, so that sums of parts of the same people count once.
    """
    left: dict[int, list[Fraction]] = {}
    for (of, _, times), total in zip(finding.coefficients, finding.totals, strict=True):
        for pattern, members in total.cells if of == measure else ():
            for place in np.flatnonzero(members & finding.places).tolist():
                row = left.setdefault(place, [NOTHING] * len(pattern))
                left[place] = [entry + times * one for entry, one in zip(row, pattern, strict=True)]
    leading = {place: next((entry for entry in row if entry), NOTHING) for place, row in left.items()}
    return {place: 1 if entry > 0 else -1 for place, entry in leading.items() if entry}
