"""The headline of the report: what was required, what was measured, and the sizes of classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Ints
from querygate.custody.policy import DiversityPolicy, Policy
from querygate.custody.publish_report.column_widths import shares
from querygate.custody.publish_report.report_case import ReportCase
from querygate.custody.verify.code_knowledge import found_measure, told_measure
from querygate.custody.verify.pattern_marks import MOST, marks_measure
from querygate.methods.anonymise.class_disclosure import quantiles

BARS = 24
"""Of the histogram of class sizes, at most."""


@dataclass(frozen=True, slots=True)
class Headline:
    rows: int
    persons: int
    classes: int
    cells: int
    k: int
    k_asked: int
    largest: int
    average: float
    ncp: float
    um: float  # the same of classes, each counting once, however many records it has
    seconds: float


@dataclass(frozen=True, slots=True)
class Guarantee:
    """A promise, and the figure that the verifier measured; `asked` is None if the policy requires nothing."""

    measure: str
    rule: str
    asked: float | None
    measured: float


@dataclass(frozen=True, slots=True)
class Bar:
    """Classes of `from_` to `to` records, and the records in them."""

    from_: int
    to: int
    classes: int
    records: int


@dataclass(frozen=True, slots=True)
class ClassSizes:
    smallest: int
    quartiles: tuple[int, ...]
    largest: int
    mean: float
    histogram: tuple[Bar, ...]


def headline(case: ReportCase) -> Headline:
    published = case.published
    classes = int(case.sizes.size)
    return Headline(
        rows=published.rows,
        persons=published.persons,
        classes=classes,
        cells=published.cells,
        k=published.measured.k,
        k_asked=case.policy.k,
        largest=published.measured.largest,
        average=published.rows / classes,
        ncp=float(np.mean(list(published.loss.values()))) if published.loss else 0.0,
        um=utility_measure(case),
        seconds=round(published.seconds, 2),
    )


def utility_measure(case: ReportCase) -> float:
    """UM (Loukides, Shao, SAC 2007): the mean share of its domain that a class covers, over quasi-identifiers."""
    covered = [shares(case, column)[case.first] for column in case.quasi]
    return float(np.mean(covered)) if covered else 0.0


# -- guarantees ----------------------------------------------------------------------------------------------------


def guarantees(case: ReportCase) -> tuple[Guarantee, ...]:
    """Every promise of the policy, and what was measured beside."""
    policy, measured = case.policy, case.published.measured
    counted = "records" if measured.people is None else "people"
    lines = [Guarantee(f"{counted} in the smallest class (k)", "at least", policy.k, measured.k)]
    asked = dict(asked_of(policy))
    for measure, figure in measured.kept.items():
        rule, wanted = asked.get(measure, ("", None))
        lines.append(Guarantee(measure, rule, wanted, figure))
    for name, width in measured.hull.items():
        guard = policy.column(name).guard
        lines.append(Guarantee(f"narrowest class of {name} (guard)", "at least", guard, width))
    for name, distinct in measured.l.items():
        if f"distinct values of {name}" not in measured.kept:
            lines.append(Guarantee(f"distinct published values of {name} in a class (l)", "", None, distinct))
        if not any(measure.endswith(f" t of {name}") for measure in measured.kept):
            lines.append(Guarantee(f"farthest class from the whole in {name} (t)", "", None, measured.t[name]))
    return tuple(lines)


def asked_of(policy: Policy) -> Iterator[tuple[str, tuple[str, float]]]:
    """By the verifier's name of a figure: the rule, and what the policy requires."""
    for column in policy.published:
        for diversity in column.diversity:
            yield from _asked(column.name, diversity)
        if column.codes is not None:
            protect = column.codes.protect
            if protect.kind != "uncertainty":
                yield found_measure(column.name, protect), ("at least", protect.k or policy.k)
            if protect.share:
                yield told_measure(column.name, protect), ("at most", protect.share)
            if protect.kind == "patterns":
                yield marks_measure(column.name), ("at most", MOST)
    if policy.k_map is not None:
        yield "people of the population", ("at least", policy.k_map.k)


def _asked(name: str, d: DiversityPolicy) -> Iterator[tuple[str, tuple[str, float]]]:
    match d.kind:
        case "distinct" | "p-sensitive":
            yield f"distinct values of {name}", ("at least", float(d.l or d.p or 0))
        case "entropy":
            yield f"entropy l of {name}", ("at least", float(d.l or 0))
        case "recursive":
            yield f"recursive c of {name}, l = {d.l}", ("below", float(d.c or 0))
        case "alpha":
            yield f"largest share of {name}", ("at most", float(d.alpha or 0))
            for value, share in d.alphas:
                yield f"largest share of {name} = {value}", ("at most", share)
        case "range":
            yield f"narrowest range of {name}, of the domain", ("at least", float(d.share or 0))
        case "ck":
            yield f"surest belief in {name}, {d.pieces} pieces known", ("at most", float(d.share or 0))
        case "growth":
            yield f"growth of belief in {name}", ("at most", float(d.share or 0))
        case "mined":
            yield f"plausible values of {name}", ("at least", float(d.l or 0))
        case "t-closeness":
            yield f"{d.distance or 'equal'} t of {name}", ("at most", float(d.t or 0))
        case "em":
            yield f"share within {d.epsilon} of {name}", ("at most", 1 / float(d.m or 1))
        case "ke":
            yield f"narrowest range of {name}", ("at least", float(d.e or 0))
            if d.distinct:
                yield f"distinct numbers of {name}", ("at least", d.distinct)
        case "personalised":
            yield f"share that {d.by} guards", ("at most", float(d.share or 0))


# -- sizes and widths ----------------------------------------------------------------------------------------------


def class_sizes(case: ReportCase) -> ClassSizes:
    sizes = case.sizes
    return ClassSizes(
        smallest=int(sizes.min()),
        quartiles=tuple(map(int, quantiles(sizes.astype(np.float64), np.ones_like(sizes)))),
        largest=int(sizes.max()),
        mean=float(sizes.mean()),
        histogram=tuple(_histogram(sizes)),
    )


def _histogram(sizes: Ints) -> Iterator[Bar]:
    """Bars of one size each for small sizes; then they grow by a factor, so that a long tail is visible too."""
    least, most = int(sizes.min()), int(sizes.max())
    factor, step = ((most + 1) / least) ** (1 / BARS) - 1, 1
    edges = [least]
    while edges[-1] <= most:
        step = max(step, round(edges[-1] * factor))
        edges.append(edges[-1] + step)
    which = np.searchsorted(edges, sizes, side="right") - 1
    classes, records = np.bincount(which, minlength=len(edges) - 1), np.bincount(which, sizes, len(edges) - 1)
    for low, high, number, people in zip(edges[:-1], edges[1:], classes, records, strict=True):
        yield Bar(low, high - 1, int(number), int(people))
