"""The headline of the report: what was asked and what is kept, sizes of classes, widths of what is published."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Column, Floats, Ints, Role
from querygate.custody.policy import DiversityPolicy, Policy
from querygate.custody.publish_report.report_case import ReportCase, scale_of, unit_of
from querygate.custody.verify.code_knowledge import found_measure, told_measure
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
    seconds: float


@dataclass(frozen=True, slots=True)
class Guarantee:
    """A promise, and the figure that the verifier measured; `asked` is None where the policy asks for nothing."""

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


@dataclass(frozen=True, slots=True)
class ColumnWidth:
    """What is left open of a column, over records, in its unit; `share` is the mean share of its domain."""

    column: str
    role: Role
    unit: str
    mean: float
    quartiles: tuple[float, ...]
    domain: float | None
    share: float


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
        seconds=round(published.seconds, 2),
    )


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
    """By the name under which the verifier tells a figure: the rule, and what the policy asks for."""
    for column in policy.columns:
        for diversity in column.diversity:
            yield from _asked(column.name, diversity)
        if column.codes is not None:
            protect = column.codes.protect
            if protect.kind != "uncertainty":
                yield found_measure(column.name, protect), ("at least", protect.k or policy.k)
            if protect.share:
                yield told_measure(column.name), ("at most", protect.share)
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
    """Bars of one size each where sizes are small; then they grow by a factor, so that a long tail is seen too."""
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


def widths(case: ReportCase) -> tuple[ColumnWidth, ...]:
    """Of every published column, over records: widths of intervals, or numbers of values, and shares of the domain."""
    columns = [column for column in case.catalog.columns if not column.is_codes]  # what became of codes is told apart
    return tuple(_of_numbers(case, column) if column.is_numeric else _of_values(case, column) for column in columns)


def _of_numbers(case: ReportCase, column: Column) -> ColumnWidth:
    low, high, known = case.ends(column)
    width = (high - low)[known] / scale_of(column)
    domain = None if column.low is None or column.high is None else float(column.high - column.low) / scale_of(column)
    return _described(case, column, unit_of(column), width, case.counts[known], domain)


def _of_values(case: ReportCase, column: Column) -> ColumnWidth:
    return _described(case, column, "values", _set_sizes(case, column), case.counts, float(len(column.values)))


def _described(
    case: ReportCase, column: Column, unit: str, width: Floats, counts: Ints, domain: float | None
) -> ColumnWidth:
    return ColumnWidth(
        column=column.name,
        role=column.role,
        unit=unit,
        mean=float(np.average(width, weights=counts)) if width.size else 0.0,
        quartiles=quantiles(width, counts),
        domain=domain,
        share=float(np.average(shares(case, column), weights=case.counts)),
    )


def shares(case: ReportCase, column: Column) -> Floats:
    """In each cell the share of its domain that a column covers: none for one value, all where some are missing."""
    if column.is_numeric:
        low, high, known = case.ends(column)
        domain = float((column.high or 0) - (column.low or 0)) or 1.0
        width = np.where(known, (high - low) / domain, 0.0)
        return np.where(case.nulls(column) == 1, 1.0, width)
    set_ids, value_ids, _ = case.written.sets(column.index)
    number = _set_sizes(case, column)
    missing = np.isin(np.asarray(case.cells[f"c{column.index}_set"]), set_ids[value_ids < 0])
    return np.where(number > 1, np.where(missing, 1.0, number / max(1, len(column.values))), 0.0)


def _set_sizes(case: ReportCase, column: Column) -> Floats:
    """How many values each cell's set has; a missing one counts as a value."""
    set_ids, _, _ = case.written.sets(column.index)
    size = np.bincount(set_ids).astype(np.float64)
    return size[np.asarray(case.cells[f"c{column.index}_set"], dtype=np.int64)]
