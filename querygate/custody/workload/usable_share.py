"""Is a range narrow enough to print? And how much of a workload is?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import e, inf, isfinite, log, sqrt

from querygate.core.types import Range
from querygate.custody.workload.standing_workload import Kind, Question

COUNT, PREVALENCE, DEVIATIONS, CORRELATION, ODDS = 0.10, 0.05, 0.2, 0.2, e
"""The greatest width: of a count in shares of the truth, of a prevalence, of mean, median and standard deviation in
standard deviations of the column, of a correlation; and of an odds ratio high over low."""

ROOM = 1e-9
"""For rounding of the ends."""


def usable(kind: Kind, found: Range | None, records: int, deviation: float | None) -> bool:
    """Whether a figure can be printed. `records` is the true number of its records, `deviation` the standard deviation
    of its column.

    A refusal (None) cannot be printed; a certain NULL can.
    """
    if found is None or ((found.low is None) != (found.high is None)):
        return False
    if found.low is None or found.high is None:
        return True
    if kind == "odds ratio":
        return found.low > 0 and found.high <= ODDS * found.low * (1 + ROOM)
    limit = _limit(kind, records, deviation)
    return found.high - found.low <= limit + ROOM * max(1.0, abs(found.low), abs(found.high))


def relative_width(kind: Kind, found: Range | None, records: int, deviation: float | None) -> float:
    """The width in widths that could just be printed; infinite for a refusal, and where there is no such width."""
    if found is None or ((found.low is None) != (found.high is None)):
        return inf
    if found.low is None or found.high is None or found.low == found.high:
        return 0.0
    if kind == "odds ratio":
        return log(found.high / found.low) / log(ODDS) if found.low > 0 else inf
    limit = _limit(kind, records, deviation)
    return (found.high - found.low) / limit if limit else inf


def _limit(kind: Kind, records: int, deviation: float | None) -> float:
    limits = {"count": COUNT * records, "prevalence": PREVALENCE, "correlation": CORRELATION}
    return limits.get(kind, DEVIATIONS * (deviation or 0.0))


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of an answer: a group of a question that holds somebody in truth."""

    question: Question
    is_usable: bool
    width: float = inf
    """Relative to the greatest width that could be printed."""

    records: int = 0
    """Those of the group, in truth."""

    @property
    def kind(self) -> Kind:
        return self.question.kind

    @property
    def is_free(self) -> bool:
        return self.question.ends == "free"


@dataclass(frozen=True, slots=True)
class UsableShare:
    """The number of figures, and the share that is usable; None if there are none."""

    name: str
    figures: int
    share: float | None


PAPER: frozenset[Kind] = frozenset({"count", "prevalence", "mean"})
"""The kinds that views are made for: every other kind needs more than counts and sums."""

PARTS: tuple[tuple[str, Callable[[Figure], bool]], ...] = (
    ("counts, prevalences and means", lambda figure: True),
    ("counts, prevalences and means, aligned", lambda figure: not figure.is_free),
    ("counts, prevalences and means, free", lambda figure: figure.is_free),
)
KINDS: tuple[Kind, ...] = ("count", "prevalence", "mean", "median", "sd", "correlation", "odds ratio")


def usable_shares(figures: Iterable[Figure], k: int = 0) -> tuple[UsableShare, ...]:
    """Of counts, prevalences and means, all and those with aligned and with free ends (no condition at all is aligned);
    those about k people or more, if that is asked for; and by kind. What is told of two columns at once is in no total:
    views refuse most of it, and classes tell little else.
    """
    found = list(figures)
    paper = [figure for figure in found if figure.kind in PAPER]
    parts = [(name, [figure for figure in paper if belongs(figure)]) for name, belongs in PARTS]
    if k:
        parts.append((f"counts, prevalences and means, of {k} or more", [one for one in paper if one.records >= k]))
    parts += [(kind, [figure for figure in found if figure.kind == kind]) for kind in KINDS]
    return tuple(UsableShare(name, len(part), _share(part)) for name, part in parts)


def _share(figures: Sequence[Figure]) -> float | None:
    return sum(figure.is_usable for figure in figures) / len(figures) if figures else None


def median_width(widths: Iterable[float]) -> float | None:
    """In widths that could just be printed; None where half of the figures have no bounds, and where there are none."""
    found = sorted(widths)
    middle = found[(len(found) - 1) // 2] if found else inf
    return round(middle, 4) if isfinite(middle) else None


# -- a policy by these figures ---------------------------------------------------------------------------------------

CERTAINTY = 1.96
"""Standard errors within which 95 of 100 draws lie."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Of so many counts, prevalences and means the share that is usable, and the median width of their ranges, in
    widths that could just be printed (None: most have no bounds); or why nothing can be published.

    The questions are drawn: with `error` more or less, the share is that of all of them, in 95 draws of 100.
    """

    figures: int = 0
    share: float | None = None
    width: float | None = None
    problem: str = ""
    error: float | None = None


def standing(figures: Sequence[Figure], lost: int = 0) -> Standing:
    """Of counts, prevalences and means; what is lost is not usable, and without bounds."""
    paper = [figure for figure in figures if figure.kind in PAPER]
    number = len(paper) + lost
    if not number:
        return Standing()
    share = sum(figure.is_usable for figure in paper) / number
    width = median_width([figure.width for figure in paper] + [inf] * lost)
    return Standing(number, share, width, error=sampling_error(paper))


def sampling_error(figures: Sequence[Figure]) -> float | None:
    """By how much the share may be off because questions were drawn: they are, and not figures, so that those of one
    question count together (the linearised variance of a ratio; Cochran 1977, section 6.3). None for fewer than two.
    """
    asked: dict[Question, list[bool]] = {}
    for figure in figures:
        asked.setdefault(figure.question, []).append(figure.is_usable)
    if len(asked) < 2:
        return None
    share = sum(map(sum, asked.values())) / len(figures)
    off = [sum(found) - share * len(found) for found in asked.values()]
    variance = len(asked) / (len(asked) - 1) * sum(one * one for one in off) / len(figures) ** 2
    return round(CERTAINTY * sqrt(variance), 4)
