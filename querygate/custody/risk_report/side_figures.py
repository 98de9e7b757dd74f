"""The figures of one side: who can be found, who is unique, whom being listed discloses, what classes reveal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from querygate.core.types import Ints
from querygate.custody.policy import Policy
from querygate.custody.risk_report.risk_body import (
    CurvePoint,
    InstanceFigures,
    KnownBy,
    NumbersGiven,
    SideFigures,
    SideWords,
    SizeBar,
    Uniqueness,
    ValuesGiven,
)
from querygate.custody.risk_report.sides import Side
from querygate.methods.risk import (
    Attackers,
    attack,
    explain_attackers,
    explain_drivers,
    explain_numbers_told,
    explain_uniqueness,
    explain_values_told,
    leave_one_out,
    numbers_told,
    population_uniqueness,
    sample_uniqueness,
    values_told,
)
from querygate.methods.same_disease import explain_instance, instance_risk

BINS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500)
"""Class sizes at which a bar of the histogram begins."""

POINTS = 60
"""Points of a curve of risk."""


def side_figures(side: Side, policy: Policy, people: int | None) -> SideFigures:
    """All measures of a side, and each in a sentence. `people` is the size of the register, if there is one."""
    attackers = _attackers(side)
    drivers = leave_one_out(side.told, side.names)
    unique, words_unique = _uniqueness(side, people)
    instance, words_instance = _instance(side)
    told, words_told = _told(side, policy)
    known = tuple(_known(side))
    return SideFigures(
        records=len(side.told),
        left_out=side.left_out,
        classes=int(side.sizes.size),
        attackers=attackers,
        uniqueness=unique,
        instance=instance,
        told=told,
        drivers=tuple(drivers),
        sizes=_histogram(side.sizes),
        curve=_curve(side.sizes),
        words=SideWords(
            attackers=explain_attackers(attackers),
            uniqueness=words_unique,
            instance=words_instance,
            told=words_told,
            drivers=explain_drivers(drivers),
            known=tuple(map(explain_known, known)),
        ),
        known=known,
    )


def _known(side: Side) -> Iterator[KnownBy]:
    for columns, sizes in side.text_sizes.items():
        found = attack(sizes).prosecutor
        yield KnownBy(columns, int(sizes.size), found.greatest, found.average, sample_uniqueness(sizes))


def explain_known(known: KnownBy) -> str:
    """A sentence on who can be found by texts.

    >>> explain_known(KnownBy(("dx",), 40, 1.0, 0.4, 0.25))
    'Somebody whose dx is known is found with a probability of 40.0 % on average; 25.0 % of the records are alone.'
    """
    *others, last = known.columns
    named = f"{', '.join(others)} and {last} are" if others else f"{last} is"
    return (
        f"Somebody whose {named} known is found with a probability of {100 * known.average:.1f} % on average; "
        f"{100 * known.alone:.1f} % of the records are alone."
    )


def _attackers(side: Side) -> Attackers:
    """The prosecutor knows every quasi-identifier; anyone with the register knows those in it."""
    found = attack(side.sizes, None, side.left_out)
    if side.people is None:
        return found
    linked = attack(side.linked_sizes, side.people, side.left_out)
    return replace(
        found,
        journalist=linked.journalist,
        marketer=linked.marketer,
        k_map=linked.k_map,
        unmatched=linked.unmatched,
        short=linked.short,
    )


def _uniqueness(side: Side, people: int | None) -> tuple[Uniqueness, str]:
    alone = sample_uniqueness(side.sizes)
    estimate, share = None, None
    words = f"{100 * alone:.1f} % of the {len(side.told):,} records have a unique combination of values."
    if people is not None and people >= len(side.told):
        estimate = population_uniqueness(side.sizes, people)
        words = explain_uniqueness(estimate)
    if side.people is not None and len(side.told):
        share = float(side.linked_sizes[side.people == 1].sum() / len(side.told))
        words += f" {100 * share:.1f} % of the records match exactly one person in the register."
    return Uniqueness(alone, estimate, share), words


def _instance(side: Side) -> tuple[InstanceFigures | None, str]:
    if side.people is None or side.at_stake is None:
        return None, ""
    records = np.bincount(side.linked_labels[side.at_stake], minlength=side.people.size).astype(np.int64)
    found = instance_risk(records, side.people)
    return InstanceFigures.of(found), explain_instance(found)


def _told(side: Side, policy: Policy) -> tuple[tuple[ValuesGiven | NumbersGiven, ...], dict[str, str]]:
    """What classes give away of each sensitive column that the side has."""
    lines: list[ValuesGiven | NumbersGiven] = []
    words: dict[str, str] = {}
    for column in policy.named("sensitive"):
        values = side.sensitive.get(column.name)
        if values is None:
            continue
        if column.is_numeric:
            width = float(column.guard or 2 * (column.grid or 0))
            numbers = numbers_told(side.labels, np.asarray(values, dtype=np.float64), width)
            lines.append(NumbersGiven.of(column.name, numbers))
            words[column.name] = explain_numbers_told(numbers, column.name)
        else:
            found = values_told(side.labels, np.asarray(values, dtype=np.int64))
            lines.append(ValuesGiven.of(column.name, found))
            words[column.name] = explain_values_told(found, column.name)
    return tuple(lines), words


def _histogram(sizes: Ints) -> tuple[SizeBar, ...]:
    """Classes and records by size of class."""
    place = np.searchsorted(BINS, sizes, side="right") - 1
    classes = np.bincount(place, minlength=len(BINS))
    records = np.bincount(place, sizes, len(BINS)).astype(np.int64)
    ends = [*(begin - 1 for begin in BINS[1:]), None]
    whole = max(int(sizes.sum()), 1)
    return tuple(
        SizeBar(begin, end, int(n), int(held), int(held) / whole)
        for begin, end, n, held in zip(BINS, ends, classes, records, strict=True)
    )


def _curve(sizes: Ints) -> tuple[CurvePoint, ...]:
    """For each risk, the share of records whose prosecutor's risk is at least that; the greatest risk first.

    Exact at every point. Small sizes have one point each; large ones are in equal steps of the logarithm.
    """
    if not sizes.size:
        return ()
    records = np.cumsum(np.bincount(sizes, sizes))
    shown = np.unique(np.geomspace(1, sizes.max(), POINTS).round().astype(np.int64))
    return tuple(CurvePoint(1 / size, float(records[size] / records[-1])) for size in shown.tolist())
