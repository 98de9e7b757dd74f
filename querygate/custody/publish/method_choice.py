"""Which partition is published: the method of the policy, or the best of several; and the k that keeps ranges narrow.

`auto` makes several partitions, each of which keeps every promise, and takes the one whose ranges of the policy's
statistics are narrowest; for an extract that names no statistics, the one with the least loss. The choice looks at the
data, so it reveals something about them: which method of a short public list did best, and nothing else. The comparison
itself is for the custodian alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from querygate.core.errors import ConfigError
from querygate.core.types import Floats, Ints
from querygate.custody.policy import Policy
from querygate.custody.publish.expected_widths import ExpectedWidths, statistics_of
from querygate.custody.publish.method_trial import Trial
from querygate.custody.publish.step_state import PublicationState
from querygate.custody.publish.width_limits import WidthLimits
from querygate.methods.anonymise import (
    ANONYMISERS,
    Guard,
    Infeasible,
    Method,
    Progress,
    Table,
    Unsuitable,
    blind,
    directed,
    directed_by_record,
    loss_by_attribute,
    ncp,
    record_weights,
    statistic_weights,
)

COMPARED_ROWS = 200_000
"""With more records `auto` is Mondrian alone: comparing would take longer than the rest of the publication."""

POLISHED_ROWS = 5_000
"""With more records slow methods are left out of the comparison: the polish alone would take longer than all others."""

SEARCHED_ROWS = 1_000
"""With more records slow methods are left out of the search for the largest k, which makes about twenty partitions."""

QUICK = ("mondrian", "mondrian-relaxed", "snake")
SLOW = ("snake-polished", "bottom-up", "top-down", "boxes")
"""Each of these takes longer than all quick ones together, on tables of ten thousand records and more."""

DIRECTED = ("boxes", "boxes-by-point")
"""Methods whose weights follow from the statistics that the policy names."""

MARGIN = {True: 0.97, False: 0.9}
"""Mondrian stays unless the mean width of another method is below this share of its own: its boxes do not overlap,
which is worth something to every question that nobody named, and they change least when the data does, so that versions
laid over each other tell least. By whether the policy names statistics."""

Clock = Callable[[], float]


def needs_records(policy: Policy, rows: int) -> bool:
    """Whether classes must be made from single records: the method separates equal ones, or ranges are measured."""
    method = policy.anonymise.method
    if is_measured(policy):
        return True
    return rows <= COMPARED_ROWS if method == "auto" else ANONYMISERS.get(method).by_record


def choose(state: PublicationState, guards: Sequence[Guard], clock_s: Clock) -> tuple[Ints, tuple[Trial, ...]]:
    """The class of each row of the state's table, and how the choice was made, the chosen one first."""
    table = _table(state)
    measured = is_measured(state.policy) or (
        state.policy.anonymise.method == "auto" and state.rows <= COMPARED_ROWS and not state.is_extract
    )
    maker = PartitionMaker(
        state, guards, ExpectedWidths(state, statistics_of(state.policy)) if measured else None, clock_s
    )
    limits = WidthLimits(state.policy.anonymise.max_width)
    found = []
    ways = _ways(state, maker.utility)
    for i, way in enumerate(ways):
        state.progress.say(f"making classes: {way.name}")
        found.append(
            (way, *maker.made(way, table, state.policy.k, partial(_part, state.progress.within, i, len(ways))))
        )
    costs = _costs(state, table, [(labels, tried) for _, labels, tried in found])
    order = sorted(range(len(found)), key=lambda i: (limits.excess(found[i][2]), costs[i]))
    found = [found[i] for i in order]
    way, labels, tried = found[0]
    if limits.excess(tried) > 1:
        raise limits.refusal(table, tried, partial(_made_again, maker, way, table))
    if state.policy.anonymise.largest_k:
        state.progress.say("looking for the largest k")
        way, labels, tried = _largest(maker, table, found, limits)
    return labels, (replace(tried, chosen=True), *(other for one, _, other in found if one is not way))


def _largest(
    maker: PartitionMaker, table: Table, found: Sequence[tuple[MethodWeights, Ints, Trial]], limits: WidthLimits
) -> tuple[MethodWeights, Ints, Trial]:
    """The largest k with which any of the ways keeps the limits; of equal ones, that of the better way: it is first."""
    searched = [
        (way, *limits.largest(table.records, labels, tried, partial(_made_again, maker, way, table)))
        for way, labels, tried in found
        if limits.excess(tried) <= 1 and (way.method not in SLOW or table.records <= SEARCHED_ROWS)
    ]
    return max(searched or found[:1], key=lambda made: made[2].k)


def _made_again(
    maker: PartitionMaker, way: MethodWeights, whole: Table, k: int, table: Table | None = None
) -> tuple[Ints, Trial]:
    return maker.made(way, whole if table is None else table, k)


def is_measured(policy: Policy) -> bool:
    return bool(policy.anonymise.statistics or policy.anonymise.max_width)


def _table(state: PublicationState) -> Table:
    if state.table is None:
        raise ValueError("there is no table yet")
    return state.table


# -- ways to make classes ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MethodWeights:
    """A method and its weights; no weights if those of the policy apply."""

    name: str
    method: str
    weights: Mapping[str, float] = field(default_factory=dict)
    is_directed: bool = False
    note: str = ""
    by_record: Mapping[str, Floats] = field(default_factory=dict)

    def weighed(self, table: Table) -> Table:
        if self.by_record and all(pull.size == table.combinations for pull in self.by_record.values()):
            return directed_by_record(table, self.by_record)
        if self.is_directed:
            return directed(table, self.weights)
        attributes = (replace(a, weight=self.weights.get(a.name, a.weight)) for a in table.attributes)
        return replace(table, attributes=tuple(attributes))


def _ways(state: PublicationState, utility: ExpectedWidths | None) -> list[MethodWeights]:
    method = state.policy.anonymise.method
    pull = _pull(state, utility)
    if method != "auto":
        points = _pull_by_record(state, utility) if method == "boxes-by-point" and pull else {}
        is_directed = bool(pull) and method in DIRECTED
        return [MethodWeights(method, method, pull, is_directed=is_directed, by_record=points)]
    if state.rows > COMPARED_ROWS:
        return [MethodWeights("mondrian", "mondrian", note=f"not compared: more than {COMPARED_ROWS:,} records")]
    ways = [MethodWeights("mondrian", "mondrian")]
    numbers = [a for a in _table(state).attributes if a.ordered and a.tree is None]
    for weight in () if state.is_extract else (2.0, 4.0):
        if any(a.weight != weight for a in numbers):
            name = f"mondrian, numbers weigh {weight:g}"
            ways.append(MethodWeights(name, "mondrian", {a.name: weight for a in numbers}))
    ways += [MethodWeights(name, name) for name in _others(state)]
    if pull:
        ways = [way for way in ways if way.name != "boxes"]
        ways.append(MethodWeights("mondrian, directed", "mondrian", pull, is_directed=True))
        ways.append(MethodWeights("boxes", "boxes", pull, is_directed=True))
    if len(numbers) == len(_table(state).attributes) == 1:
        ways.append(MethodWeights("univariate", "univariate"))
    return ways


def _others(state: PublicationState) -> Sequence[str]:
    """The methods besides Mondrian. Boxes of an extract may overlap, since nobody queries it for ranges, so all are
    tried."""
    if not state.is_extract:
        named = ("snake",) if is_measured(state.policy) else ()
        return ("mondrian-relaxed", *named, *(("snake-polished",) if state.rows <= POLISHED_ROWS else ()))
    return (*QUICK[1:], *(SLOW if state.rows <= POLISHED_ROWS else ()))


def _pull(state: PublicationState, utility: ExpectedWidths | None) -> dict[str, float]:
    """Weights from the statistics that the policy names, for the attributes of the table; none if they name none."""
    told = _statistics(state, utility)
    if told is None:
        return {}
    names = {a.name for a in _table(state).attributes}
    inside = {name: weight for name, weight in statistic_weights(*told).items() if name in names}
    greatest = max(inside.values(), default=0.0)
    return {name: weight / greatest for name, weight in inside.items()}


def _pull_by_record(state: PublicationState, utility: ExpectedWidths | None) -> dict[str, Floats]:
    """The same by record: how steep the statistics are at each."""
    told = _statistics(state, utility)
    names = {a.name for a in _table(state).attributes}
    return {} if told is None else {name: pull for name, pull in record_weights(*told).items() if name in names}


_Told = tuple[list[tuple[str, tuple[str, ...]]], dict[str, Floats], dict[str, float]]


def _statistics(state: PublicationState, utility: ExpectedWidths | None) -> _Told | None:
    """The statistics that the policy names, values and spans of their columns; None if no attribute is in them."""
    named = statistics_of(state.policy) if is_measured(state.policy) else ()
    attributes = {a.name: a for a in _table(state).attributes}
    columns = {name for statistic in named for name in statistic.columns}
    if utility is None or not columns & set(attributes):
        return None
    values = {name: utility.middles(name) for name in columns}
    spans = {name: attributes[name].span if name in attributes else 1.0 for name in columns}
    return [(s.kind, s.columns) for s in named], values, spans


def again(state: PublicationState, name: str) -> Method:
    """The way that a comparison calls `name`, for use on the table of another state."""

    def run(table: Table, k: int, guards: Sequence[Guard] = (), *, progress: Progress | None = None) -> Ints:
        here = replace(state, table=table)
        ways = _ways(here, ExpectedWidths(here, statistics_of(state.policy)))
        way = next((way for way in ways if way.name == name), ways[0])
        return ANONYMISERS.get(way.method)(way.weighed(table), k, guards, progress=progress)

    return Method(run, by_record=True)


class PartitionMaker:
    """Makes and measures partitions."""

    def __init__(
        self, state: PublicationState, guards: Sequence[Guard], utility: ExpectedWidths | None, clock_s: Clock
    ) -> None:
        self.state, self.guards, self.utility, self.clock_s = state, guards, utility, clock_s

    def made(self, way: MethodWeights, table: Table, k: int, progress: Progress | None = None) -> tuple[Ints, Trial]:
        """Classes of a table made in one way, and their quality."""
        began = self.clock_s()
        labels = divided(ANONYMISERS.get(way.method), way.weighed(table), self.state.policy, k, self.guards, progress)
        seconds = self.clock_s() - began
        widths = self.utility.widths(table, labels) if self.utility else {}
        return labels, Trial(way.name, k, int(labels.max()) + 1, ncp(table, labels), widths, seconds, note=way.note)


def _part(progress: Progress, place: int, number: int, share: float) -> None:
    """The share of one of several equal parts, told as a share of all."""
    progress((place + share) / number)


def divided(
    method: Method, table: Table, policy: Policy, k: int, guards: Sequence[Guard], progress: Progress | None = None
) -> Ints:
    """The class of each row, searched as the policy says; ConfigError if the method cannot make classes."""
    run = blind(method) if policy.anonymise.search == "blind" else method
    try:
        return run(table, k, guards, progress=progress)
    except Infeasible as infeasible:
        raise ConfigError(
            "QG803",
            f"Even all records together do not satisfy {infeasible.guarantee}.",
            "Relax the guarantee in the policy, or withhold the column. If all values are published as one bin, give "
            'it narrower `bins`, or carry = "hull" where bins would have too few records.',
        ) from None
    except Unsuitable as unsuitable:
        remedy = 'Choose another method in the policy: method = "auto" always works.'
        raise ConfigError("QG803", f"The method cannot be used: {unsuitable}.", remedy) from None


def _costs(state: PublicationState, table: Table, made: Sequence[tuple[Ints, Trial]]) -> list[float]:
    """What is minimised: the widths of ranges, with an advantage for the first of a publication; or the loss of an
    extract, by the weights of the policy."""
    if state.is_extract and not is_measured(state.policy):
        weights = [attribute.weight for attribute in table.attributes]
        return [float(loss_by_attribute(table, labels) @ weights) for labels, _ in made]
    first = made[0][1]
    lead = 1.0 if state.is_extract else MARGIN[is_measured(state.policy)]
    return [lead, *(_score(first, other) for _, other in made[1:])]


def _score(first: Trial, tried: Trial) -> float:
    """Mean width relative to the first one's."""
    ratios = [_ratio(tried.widths[name], width) for name, width in first.widths.items()]
    return float(np.mean(ratios)) if ratios else 1.0


def _ratio(width: float, base: float) -> float:
    if not base or not np.isfinite(base):
        return 1.0 if width == base else (0.0 if width < base else 2.0)
    return min(width / base, 2.0)
