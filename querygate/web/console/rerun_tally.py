"""What became of a log under another version, counted: by kind of change, for a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ORDER = (
    "refused now",
    "wider",
    "other groups",
    "answered now",
    "narrower",
    "same width",
    "still answered",
    "still refused",
)
"""What a custodian would look at first comes first."""

MOST_LISTED = 100


@dataclass(frozen=True, slots=True)
class ChangeCount:
    """So many texts have changed in this way; they were sent so many times."""

    name: str
    questions: int
    times: int


@dataclass(frozen=True, slots=True)
class RerunTally:
    days: int
    counts: tuple[ChangeCount, ...]
    listed: Sequence[Mapping[str, Any]]
    questions: int
    left_out: int
    is_sample: bool

    @property
    def not_listed(self) -> int:
        return self.questions - len(self.listed)


def tally_rerun(body: Mapping[str, Any]) -> RerunTally:
    """From what the worker found; those that changed most are listed first."""
    found = body["questions"]
    counts = []
    for name in ORDER:
        times = [one["times"] for one in found if one["change"] == name]
        if times:
            counts.append(ChangeCount(name, len(times), sum(times)))
    listed = sorted(found, key=lambda one: (ORDER.index(one["change"]), -abs(one["width"] or 0.0)))[:MOST_LISTED]
    return RerunTally(body["days"], tuple(counts), listed, len(found), body["left_out"], body["is_sample"])
