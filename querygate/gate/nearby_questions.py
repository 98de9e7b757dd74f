"""Questions near one that was asked, and how wide their answers are.

The gate asks itself: the same statement with one end moved to where nobody straddles it, then with the next one moved
too, as long as that helps. Where it does not help enough, keys and conditions are left out, and an average becomes the
share of those above a cut.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from querygate.core.types import Answer, Scalar
from querygate.gate.straddled_cells import FIVE_TIMES, PlaceCells
from querygate.gate.widths import mean_widths, range_names
from querygate.sql import Filling, Place, StatementPlaces

MOST_ASKED = 48
"""Statements that are tried for one explanation."""

MOST_SUGGESTED = 5
"""Questions that one explanation suggests."""

FEW = 0.1
"""Groups with at most this part of the records may be left out of a question that is otherwise the same."""

GAIN = 0.95
"""What leaves more of the width than this is no help."""

Ask = Callable[[str], "Answer | None"]
"""The answer to a statement; None where it is refused. Raises QG305 when there is no time for more."""

Fillings = Mapping[Place, Filling]


@dataclass(frozen=True, slots=True)
class Trial:
    """A statement that was asked, the width of each of its ranges, and the part that is left of what was asked about:
    the mean over its columns."""

    fillings: Fillings
    sql: str
    names: tuple[str, ...]
    widths: tuple[float, ...]
    left: float

    @property
    def distance(self) -> float:
        return sum(_distance(place, filling) for place, filling in self.fillings.items())

    @property
    def rank(self) -> tuple[float, float, float]:
        """Narrow first, the nearest first among those that are about as narrow."""
        return round(self.left, 1), self.distance, self.left


class Step(NamedTuple):
    """A place that was filled, and the statement with it and all before it."""

    place: Place
    trial: Trial


@dataclass(slots=True)
class NearbyQuestions:
    """The search from one answer. `steps` are those of the staircase, `tried` everything by its text."""

    statement: StatementPlaces
    answer: Answer
    cells: PlaceCells
    ask: Ask
    steps: list[Step] = field(default_factory=list)
    tried: dict[str, Trial | None] = field(default_factory=dict)

    def search(self, straddled: Sequence[Place]) -> None:
        """Try what may be sharper. Raises QG305 when there is no time for more; what was found is kept."""
        options = {place: self.cells.fillings(place) for place in straddled}
        for place in self.statement.places:
            if place.kind == "key" and (kept := self._narrow_groups(place)):
                self._trial({place: kept})
        if any(place.kind == "average" and not place.is_place for place in self.statement.places):
            # of a spread or a relation no range may become narrow, and each may take long
            self._try_shares(options, {})
            self._try_shares(options, self._without_parts)
        self._staircase({place: fillings for place, fillings in options.items() if fillings})
        for place in self._begun:  # the other way round at one place: it may be as sharp
            for filling in options[place]:
                self._trial({**self._begun, place: filling})
        if self._left > FIVE_TIMES:
            others = [p for p in self.statement.places if p.kind in ("key", "condition") and p not in self._begun]
            self._staircase({place: [None] for place in others})
        if self._left > FIVE_TIMES:
            self._try_shares(options, self._begun)
        if not self._is_sharp:
            self._trial(self._without_parts)
            self._try_shares(options, self._without_parts)

    def _narrow_groups(self, place: Place) -> frozenset[str]:
        """The groups of a category without those that make the answer wide, where few records are in these."""
        column = self.answer.columns[self.statement.item_of(place)]
        if place.column.type != "category" or column.kind != "key":
            return frozenset()
        before = mean_widths(self.answer)
        narrow: dict[Scalar, bool] = {}
        records: dict[Scalar, int] = {}
        for group in self.answer.groups:
            key = group.keys[column.source]
            widths = mean_widths(replace(self.answer, groups=(group,)))
            parts = [_part(now, then) for now, then in zip(widths, before, strict=True) if then > 0]
            narrow[key] = narrow.get(key, True) and max(parts, default=0.0) <= FIVE_TIMES
            records[key] = records.get(key, 0) + int(group.count.high or 0)
        wide = [key for key, is_narrow in narrow.items() if not is_narrow]
        if not wide or sum(records[key] for key in wide) > FEW * sum(records.values()):
            return frozenset()
        return frozenset(str(key) for key in narrow if key not in wide and key is not None)

    @property
    def _without_parts(self) -> Fillings:
        """The same of everybody: without keys and conditions."""
        return {place: None for place in self.statement.places if place.kind in ("key", "condition")}

    @property
    def _is_sharp(self) -> bool:
        return any(trial is not None and trial.left <= FIVE_TIMES for trial in self.tried.values())

    @property
    def is_exhausted(self) -> bool:
        """Were there as many trials as may be?"""
        return len(self.tried) >= MOST_ASKED

    def best(self) -> list[Trial]:
        """What to suggest: the nearest that are sharp, then what is narrower at all."""
        useful = [trial for trial in self.tried.values() if trial is not None and trial.left <= GAIN]
        sharp = sorted((t for t in useful if t.left <= FIVE_TIMES), key=lambda trial: (trial.distance, trial.left))
        return (sharp + sorted((t for t in useful if t.left > FIVE_TIMES), key=_rank))[:MOST_SUGGESTED]

    @property
    def _begun(self) -> Fillings:
        return self.steps[-1].trial.fillings if self.steps else {}

    @property
    def _left(self) -> float:
        return self.steps[-1].trial.left if self.steps else 1.0

    def _staircase(self, options: Mapping[Place, Sequence[Filling]]) -> None:
        """Place by place the filling that helps most, until none helps."""
        while options:
            found: dict[Place, Trial] = {}
            for place, fillings in options.items():
                trials = [self._trial({**self._begun, place: filling}) for filling in fillings]
                best = min((trial for trial in trials if trial is not None), key=_rank, default=None)
                if best is not None:
                    found[place] = best
            step = min((Step(*item) for item in found.items()), key=lambda step: step.trial.rank, default=None)
            if step is None or step.trial.left > self._left * GAIN:
                return
            self.steps.append(step)
            # the others keep what is best of them by itself: all pairs would be too many
            options = {place: [trial.fillings[place]] for place, trial in found.items() if place != step.place}

    def _trial(self, fillings: Fillings) -> Trial | None:
        sql = self.statement.filled(fillings)
        if sql is None:
            return None
        if sql not in self.tried:
            if self.is_exhausted:
                return None
            self.tried[sql] = self._asked(sql, fillings)
        found = self.tried[sql]
        return None if found is None else replace(found, fillings=fillings)  # other fillings may say the same

    def _asked(self, sql: str, fillings: Fillings) -> Trial | None:
        answer, before = self.ask(sql), mean_widths(self.answer)
        if answer is None or not any(group.certain and group.count.high for group in answer.groups):
            return None
        widths = mean_widths(answer)
        if len(widths) != len(before):
            return None
        compared = list(widths)
        for place in fillings:
            if place.kind == "average":  # a share of a hundred beside a part of the domain
                compared[self.statement.outputs.index(place.node)] *= place.whole / 100
        parts = [_part(now, then) for now, then in zip(compared, before, strict=True) if then > 0]
        return Trial(fillings, sql, range_names(answer), widths, sum(parts) / len(parts))

    def _try_shares(self, options: Mapping[Place, Sequence[Filling]], begun: Fillings) -> None:
        """In place of statistics whose values are published too coarsely, the shares of those above a sharp cut; and
        these with ends that follow what is published, which may not have helped the statistic itself."""
        ranges = self.answer.groups[0].ranges if self.answer.groups else ()
        fillings = dict(begun)
        for place in self.statement.places:
            if place.kind != "average":
                continue
            found = ranges[self.statement.outputs.index(place.node)]
            if not place.is_place:
                self._cut_evenly(place, fillings)
                continue
            cuts = [cut for cut in self.cells.sharp_cuts(place.column) if cut > (place.column.low or 0)]
            if cuts and found.low is not None and found.high is not None and math.isfinite(found.low + found.high):
                middle = found.low / 2 + found.high / 2
                fillings[place] = min(cuts, key=lambda cut: abs(cut - middle))
        best = self._trial(fillings) if len(fillings) > len(begun) else None
        for place, others in options.items():
            if best is None or best.left <= FIVE_TIMES or place in begun:
                continue
            trials = [self._trial({**best.fillings, place: filling}) for filling in others]
            best = min((trial for trial in (best, *trials) if trial is not None), key=_rank)

    def _cut_evenly(self, place: Place, fillings: dict[Place, Filling]) -> None:
        """A statistic that is no value of its column: cuts that divide the records in halves, or in quarters."""
        cuts = [self.cells.even_cut(each) for each in (place.column, place.other) if each is not None]
        known = [cut for cut in cuts if cut is not None]
        if len(known) == len(cuts):
            fillings[place] = known[0] if len(known) == 1 else (known[0], known[1])


def _rank(trial: Trial) -> tuple[float, float, float]:
    return trial.rank


def _part(now: float, then: float) -> float:
    if math.isinf(then):
        return 1.0 if math.isinf(now) else 0.0
    return now / then


def _span(place: Place) -> float:
    return float((place.column.high or 0) - (place.column.low or 0)) or 1.0


def _distance(place: Place, filling: Filling) -> float:
    """How far another filling is from what was asked: a part of the domain, or more for what is left out."""
    if place.kind == "average":
        return 2.0
    if isinstance(filling, frozenset) and place.kind == "key":
        return 0.0  # the groups that are left are those that were asked about
    if isinstance(filling, frozenset):
        return 0.3 + 0.05 * len(filling ^ place.values)
    if filling is None or place.cut is None:
        return 1.0
    if isinstance(filling, tuple):
        return 2.0
    inward = (filling > place.cut) == (place.kind == "low")  # who was asked about should stay in the answer
    return abs(filling - place.cut) / _span(place) + 0.001 * inward
