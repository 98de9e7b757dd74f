"""From the exact numbers of groups to noisy ones, and from these to the rows of an answer.

Groups come from public domains and are shown whether anybody is in them or not. One person changes the numbers of all
groups together by at most `sensitivity`, because the policy limits the rows per person; so every group gets the full
noise (parallel composition, McSherry 2009), and the numbers of a statement share its epsilon.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import TypedDict

from querygate.core.answer_bodies import NoisyBody, Row
from querygate.core.budget_types import Cost
from querygate.core.errors import UnsupportedSQL
from querygate.core.expression import Lookup
from querygate.core.limits.deadline import check_deadline
from querygate.core.noise_ports import ExactNumber, Figure, Tallied, Tally, WantedTally
from querygate.core.plan import GroupKey, Plan
from querygate.core.ports import Limits
from querygate.core.types import Catalog, Scalar
from querygate.custody.noise.expression_domains import public_domain
from querygate.gate.render import key_value
from querygate.methods.dp import (
    Entropy,
    Grid,
    Mechanism,
    Noisy,
    consistent,
    mean_cost,
    noisy_mean,
    noisy_quantile,
    noisy_sum,
    non_negative,
    pure,
)
from querygate.sql.noisy_plan import NoisyNumber, NoisyPlan

FINEST = 2**20
"""Steps in the domain of a sum: values are rounded to them, so that sums are whole and exact. Rounding a million values
changes the sum by less than half a value; the noise is larger than one."""

COARSEST = 2**10
"""Steps in the domain of a quantile: its possible answers."""

MOST_PLACES = 1 << 23
"""The most steps of a quantile in all groups together; each has a counter."""


class NoisyGroup(TypedDict):
    """Noisy numbers of one group, by the ids of keys and numbers."""

    keys: dict[str, Scalar]
    cells: dict[str, NoisyBody]


class NoisyNumbers(TypedDict):
    """The recorded form of an answer, so that another wording of the question gets it again."""

    rows: list[NoisyGroup]


@dataclass(frozen=True, slots=True)
class Figures:
    """How one number of the statement is made: what is counted, the noise, and the cost."""

    release: NoisyNumber
    wanted: tuple[WantedTally, ...]
    grid: Grid | None  # for values that are added or ranked
    mechanism: Mechanism
    epsilon: float
    delta: float
    rows: int  # by one person
    cost: Cost
    groups: int

    @property
    def half_width(self) -> float | None:
        """In 95 of 100 answers the truth is within this distance; None if it depends on the data."""
        if self.release.kind in ("avg", "quantile"):
            return None
        sensitivity = self.rows if self.grid is None else self.grid.sum_sensitivity(self.rows)
        off = self.mechanism.half_width(sensitivity=sensitivity, epsilon=self.epsilon, delta=self.delta)
        return off * (1.0 if self.grid is None else self.grid.step)

    def perturb(self, exact: Sequence[ExactNumber], entropy: Entropy) -> NoisyBody:
        """The cell of one group, from its exact numbers."""
        numbers = [number for number in exact if not isinstance(number, dict)]
        histograms = [number for number in exact if isinstance(number, dict)]
        if self.grid is None:
            noisy = self.mechanism.release(
                numbers[0], sensitivity=self.rows, epsilon=self.epsilon, delta=self.delta, entropy=entropy
            )
            return self._cell(noisy)
        if self.release.kind == "quantile":
            return self._quantile(histograms[0], self.grid, entropy)
        single = self.release.kind == "sum"
        made = partial(noisy_sum, numbers[0]) if single else partial(noisy_mean, numbers[0], numbers[1])
        noisy = made(
            self.grid,
            epsilon=self.epsilon,
            entropy=entropy,
            delta=self.delta,
            rows_per_person=self.rows,
            mechanism=self.mechanism.name,
        )
        return self._cell(noisy)

    def _quantile(self, counted: dict[int, int], grid: Grid, entropy: Entropy) -> NoisyBody:
        counts = [int(counted.get(step, 0)) for step in range(grid.first, grid.last + 1)]
        place = noisy_quantile(
            counts, self.release.share, epsilon=self.epsilon, entropy=entropy, rows_per_person=self.rows
        )
        value = (grid.first + place) * grid.step
        return {"value": value, "noise": "choice", "scale": None, "interval95": None, "epsilon": self.epsilon}

    def _cell(self, noisy: Noisy) -> NoisyBody:
        return {
            "value": noisy.value,
            "noise": noisy.mechanism,
            "scale": noisy.scale,
            "interval95": [noisy.low95, noisy.high95],
            "epsilon": self.epsilon,
        }


def figures_of(
    release: NoisyNumber, catalog: Catalog, plan: NoisyPlan, epsilon: float, mechanism: Mechanism, limits: Limits
) -> Figures:
    """What has to be counted for a number, and what it costs."""
    options = catalog.noise
    if options is None:
        raise ValueError("the dataset gives no noisy answers")
    delta = options.delta / plan.number
    groups = sum(1 for chosen in plan.plan.sets for _ in _groups(plan.plan, chosen, catalog, limits))
    grid = _grid(release, catalog)
    if release.kind == "quantile" and grid is not None and groups * (grid.last - grid.first + 1) > MOST_PLACES:
        raise _too_many("a quantile is chosen among many values in each")
    rows = 1 if release.persons and not plan.plan.keys else options.rows_per_person  # a person may be in several groups
    if release.kind == "quantile":
        cost = pure(epsilon)
    elif release.kind == "avg":
        cost = mean_cost(epsilon=epsilon, delta=delta, mechanism=mechanism.name)
    else:
        cost = mechanism.cost(epsilon=epsilon, delta=delta)
    return Figures(release, _wanted(release, grid), grid, mechanism, epsilon, delta, rows, cost, groups)


def _wanted(release: NoisyNumber, grid: Grid | None) -> tuple[WantedTally, ...]:
    count = WantedTally("count", release.where)
    if release.kind == "distinct":
        return (WantedTally("distinct", release.where, release.value),)
    if grid is None:
        return (count,)
    figure: Figure = "histogram" if release.kind == "quantile" else "sum"
    values = WantedTally(figure, release.where, release.value, grid.first, grid.last, grid.step)
    return (values, count) if release.kind == "avg" else (values,)


def _grid(release: NoisyNumber, catalog: Catalog) -> Grid | None:
    """The public domain of the value that is added or ranked, in steps; None for counts."""
    if release.value is None or release.kind == "distinct":
        return None
    domain = public_domain(release.value, release.where, catalog)
    if domain is None:
        raise UnsupportedSQL(
            "QG216",
            "One person could change this number without limit.",
            "Aggregate a column with a public domain, or limit it, for example LEAST(x, 200).",
        )
    low, high = domain
    steps = COARSEST if release.kind == "quantile" else FINEST
    # a power of two, so that dividing by it is exact; at least 1 for whole numbers, and not too fine for the ends
    step = max(2.0 ** math.floor(math.log2(high - low or 1.0) - math.log2(steps)), math.ulp(max(abs(low), abs(high))))
    if release.value.type == "integer":
        step = max(step, 1.0)
    return Grid(low, max(high, low + step), step)


# -- groups ----------------------------------------------------------------------------------------------------


def perturbed(
    plan: NoisyPlan,
    figures: Sequence[Figures],
    tallied: Sequence[Tallied],
    catalog: Catalog,
    entropy: Entropy,
) -> NoisyNumbers:
    """Every group with its noisy numbers, keyed by meaning, so that another wording finds its own."""
    rows: list[NoisyGroup] = []
    for chosen, found in zip(plan.plan.sets, tallied, strict=True):
        for group in _groups(plan.plan, chosen, catalog):
            check_deadline()
            exact = iter(found.get(group, ()))
            cells = {}
            for figure in figures:
                numbers = [next(exact, {} if wanted.figure == "histogram" else 0) for wanted in figure.wanted]
                cells[figure.release.id] = figure.perturb(numbers, entropy)
            keys = {plan.plan.keys[i].id: value for i, value in zip(chosen, group, strict=True)}
            rows.append({"keys": keys, "cells": cells})
    return {"rows": rows}


def _groups(
    plan: Plan, chosen: Sequence[int], catalog: Catalog, limits: Limits | None = None
) -> Iterator[tuple[Scalar, ...]]:
    """Every possible group, from public domains."""
    values = [_values(plan.keys[i], catalog) for i in chosen]
    if limits is not None and math.prod(map(len, values)) > limits.max_groups:
        raise _too_many("noise must be added to every one")
    return itertools.product(*values)


def _too_many(why: str) -> UnsupportedSQL:
    return UnsupportedSQL(
        "QG212", f"These columns form too many groups: {why}.", "Group by fewer columns, or in wider steps."
    )


def tally_of(plan: NoisyPlan, chosen: Sequence[int], figures: Sequence[Figures], catalog: Catalog) -> Tally:
    """What is counted for one grouping set."""
    keys = tuple(plan.plan.keys[i] for i in chosen)
    wanted = tuple(wanted for figure in figures for wanted in figure.wanted)
    return Tally(keys, tuple(_values(key, catalog) for key in keys), plan.where, wanted)


def _values(key: GroupKey, catalog: Catalog) -> tuple[Scalar, ...]:
    """The values of a key; NULL only where it can occur."""
    by = key.by
    if isinstance(by, Lookup):
        column = catalog.column(by.column)
        if column is not None and not column.nullable and None not in by.results[:-1]:
            return tuple(value for value in key.values if value is not None)
    return key.values


def make_rows(plan: NoisyPlan, told: NoisyNumbers) -> list[Row]:
    """The rows of this wording: its columns, in its order, under its names."""
    rows = []
    for found in told["rows"]:
        row: Row = {}
        for output, item in zip(plan.plan.outputs, plan.items, strict=False):
            if item is None:
                key = found["keys"].get(plan.plan.keys[output.source].id)
                row[output.name] = key_value(key, output.type)
            else:
                row[output.name] = found["cells"][plan.releases[item].id]
        if len(plan.plan.sets) > 1:
            row["_group"] = {"rolled_up": _rolled_up(plan, found["keys"])}
        rows.append(row)
    return rows


def _rolled_up(plan: NoisyPlan, keys: Mapping[str, Scalar]) -> list[str]:
    """The keys that a row aggregates over."""
    shown = zip(plan.plan.outputs, plan.items, strict=False)
    return [output.name for output, item in shown if item is None and plan.plan.keys[output.source].id not in keys]


def made_consistent(rows: list[Row], plan: NoisyPlan) -> list[Row]:
    """Counts of which none is below zero and whose parts add up to the total, where the statement asked for both.

    A function of what was already published with noise, so it costs nothing. Intervals stay those of the noise.
    """
    sets = plan.plan.sets
    outputs = zip(plan.plan.outputs, plan.items, strict=False)
    counted = [o.name for o, item in outputs if item is not None and plan.releases[item].kind in ("count", "distinct")]
    total = len(sets) == 2 and sets[1] == () and len(rows) > 1
    for name in counted:
        values = [row[name]["value"] for row in rows]
        # one person may count as distinct in several parts
        summed = total and plan.releases[_item(plan, name)].kind == "count"
        if summed:
            parts, whole = consistent(values[:-1], values[-1], whole=isinstance(values[-1], int))
            values = [*parts, whole]
        rows = [
            {**row, name: {**row[name], "value": value}} for row, value in zip(rows, non_negative(values), strict=True)
        ]
    return rows


def _item(plan: NoisyPlan, name: str) -> int:
    return next(
        item for o, item in zip(plan.plan.outputs, plan.items, strict=False) if o.name == name and item is not None
    )


def arranged(rows: list[Row], plan: Plan) -> list[Row]:
    """ORDER BY and LIMIT over noisy numbers, which cost nothing more."""
    for order in reversed(plan.orders):
        name = plan.outputs[order.output].name

        places = [row[name]["value"] if isinstance(row[name], dict) else row[name] for row in rows]
        found = [(place, row) for place, row in zip(places, rows, strict=True) if place is not None]
        known = [row for _, row in sorted(found, key=itemgetter(0), reverse=order.descending)]
        unknown = [row for place, row in zip(places, rows, strict=True) if place is None]
        rows = unknown + known if order.nulls_first else known + unknown
    return rows[plan.offset :][: plan.limit]
