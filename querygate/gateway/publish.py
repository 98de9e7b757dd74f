"""The path of a publication: source to vault to classes to cells, verified, then served.

Each step below is a function of the draft so far. Nothing is served before the independent verifier has re-measured
what was written; whatever fails, the version before goes on serving.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from querygate.anonymise import (
    ANONYMISERS,
    Alpha,
    Attribute,
    Closeness,
    Distinct,
    Entropy,
    Guard,
    Infeasible,
    Method,
    NumericHull,
    Recursive,
    Sensitive,
    Table,
    loss_by_attribute,
)
from querygate.core.errors import ConfigError
from querygate.core.ports import Joined, Profile, Source, Workshop
from querygate.core.types import Catalog, Ints
from querygate.gateway.coding import bin_codes, check_values, exact_codes, grid_codes
from querygate.gateway.draft import Draft, Progress
from querygate.gateway.generalise import generalise, tables
from querygate.gateway.joining import Beside, check_columns, open_joined, tell_no_others, wanted_columns
from querygate.gateway.references import read_references
from querygate.gateway.verify import Measured, Written, verify_release
from querygate.policy import ColumnPolicy, Policy

METHODS = {"auto": "mondrian", "mondrian": "mondrian"}


class Publication(Protocol):
    """One version in the making, under the dataset's lock."""

    version: int

    def workshop(self) -> Workshop: ...

    def write(self, catalog: Catalog, tables: Mapping[str, Any]) -> Written: ...

    def switch(self) -> None: ...


class Shelf(Protocol):
    """Where publications are made."""

    def publishing(self, dataset: str) -> AbstractContextManager[Publication]: ...


@dataclass(frozen=True, slots=True)
class Report:
    """What was published, in figures that are safe to print."""

    dataset: str
    version: int
    rows: int
    classes: int
    cells: int
    measured: Measured
    loss: Mapping[str, float]  # per quasi-identifier, the mean share of its domain that a class covers
    warnings: tuple[str, ...]
    seconds: float
    joined: Mapping[str, int]  # per joined table, records of the source that have a row there
    references: Mapping[str, str]  # per reference table, its hash


def publish(
    policy: Policy,
    source: Source,
    shelf: Shelf,
    *,
    now: Callable[[], str],
    clock_s: Callable[[], float],
    open_beside: Beside = tell_no_others,
    progress: Progress = lambda text: None,
    anonymiser: Method | None = None,
) -> Report:
    """Publish a source under a policy as the next version. ConfigError says what to change; nothing is half done.

    `open_beside` opens the other tables that the policy names. `anonymiser` stands in for the policy's method; its
    classes are verified like any others.
    """
    began = clock_s()
    joins = open_joined(policy, open_beside)
    check_columns(policy, source, joins)
    with shelf.publishing(policy.dataset) as publication:
        draft = Draft(policy, publication.workshop(), progress, references=read_references(policy, open_beside))
        try:
            load(draft, source, joins)
            code(draft)
            partition(draft, anonymiser or ANONYMISERS.get(METHODS[policy.anonymise.method]))
            generalise(draft)
            catalog = make_catalog(draft, publication.version, now())
            progress("writing and verifying")
            measured = verify_release(publication.write(catalog, tables(draft)), policy, draft.workshop, draft.rows)
        finally:
            draft.workshop.close()
        publication.switch()
    return Report(
        policy.dataset,
        publication.version,
        draft.rows,
        int(draft.labels.max()) + 1,
        len(draft.cells["n"]),
        measured,
        _loss(draft),
        policy.warnings,
        clock_s() - began,
        draft.workshop.matched,
        {table.name: table.hash for table in draft.references},
    )


# -- the steps -----------------------------------------------------------------------------------------------


def load(draft: Draft, source: Source, joins: Sequence[Joined]) -> None:
    """Raw rows into the vault, typed by the policy; identifiers as text; withheld columns stay where they are."""
    draft.progress(" and ".join(["reading the source", *(f"joining {join.name}" for join in joins)]))
    wanted = wanted_columns(draft.policy, exclude=[name for join in draft.policy.joins for name in join.columns])
    draft.rows = draft.workshop.load(source, wanted, joins)
    if draft.rows < draft.policy.k:
        raise ConfigError(
            "QG803",
            f"The source has {draft.rows:,} rows, fewer than k = {draft.policy.k}.",
            "Publish more records, or lower k in the policy.",
        )


def code(draft: Draft) -> None:
    """Give every published value its code."""
    draft.progress("coding")
    for column in draft.published:
        profile = draft.workshop.profile(column.name)
        check_values(column, profile)
        draft.profiles[column.name] = profile
        if column.is_numeric:
            codes = _number_codes(draft, column, profile)
        else:
            draft.texts[column.name] = tuple(sorted({*column.values, *map(str, profile.values)}))
            codes = np.searchsorted(np.array(draft.texts[column.name], dtype=object), profile.values).astype(np.int64)
        draft.workshop.set_codes(column.name, profile.values, codes)


def _number_codes(draft: Draft, column: ColumnPolicy, profile: Profile) -> Ints:
    if column.role == "public" or (column.role == "quasi-identifier" and draft.policy.anonymise.edges == "tight"):
        numbers = exact_codes(column, profile)
    elif column.role == "quasi-identifier" or column.carry == "hull":
        numbers = grid_codes(column)
    else:
        bins = bin_codes(column)
        counts = np.bincount(bins.of(profile.values), profile.counts, bins.size).astype(np.int64)
        groups = bins.joined(counts, draft.policy.k)
        numbers = bins.merged(groups)
    draft.numbers[column.name] = numbers
    return numbers.of(profile.values)


def partition(draft: Draft, anonymiser: Method) -> None:
    """Divide the distinct combinations of quasi-identifiers into classes."""
    draft.progress("making classes")
    policy = draft.policy
    quasi = policy.named("quasi-identifier")
    sensitive = [c.name for c in policy.named("sensitive") if c.is_numeric]
    found = draft.combinations = draft.workshop.combinations(
        [c.name for c in quasi], sensitive, by_record=anonymiser.by_record
    )
    draft.table = Table(tuple(_attribute(draft, c, found.codes[c.name]) for c in quasi), found.counts)
    try:
        draft.labels = anonymiser(draft.table, policy.k, _guards(draft))
    except Infeasible as infeasible:
        raise ConfigError(
            "QG803",
            f"Even all records together do not satisfy {infeasible.guarantee}.",
            "Relax it in the policy, or withhold the column.",
        ) from None
    draft.workshop.set_classes(draft.labels)


def _attribute(draft: Draft, column: ColumnPolicy, codes: Ints) -> Attribute:
    weight = column.weight or 1.0
    if not column.is_numeric:
        return Attribute.nominal(column.name, codes, len(draft.texts[column.name]) or 1, weight)
    numbers = draft.numbers[column.name]
    low, high = numbers.low.astype(np.float64), numbers.high.astype(np.float64)
    if not numbers.size:  # nothing but missing values
        return Attribute(column.name, codes, 1, True, 1.0, np.zeros(1), np.zeros(1), weight)
    span = float((column.high or 0) - (column.low or 0))
    return Attribute(column.name, codes, numbers.size, True, span, low, high, weight, numbers.cuts(column.cuts))


def _guards(draft: Draft) -> list[Guard]:
    guards: list[Guard] = []
    found = draft.combinations
    for column in draft.policy.named("sensitive"):
        name = column.name
        if column.is_numeric and column.guard and found is not None:
            guards.append(
                NumericHull(
                    name, found.low[name], found.high[name], found.low_code[name], found.high_code[name], column.guard
                )
            )
        if column.diversity is not None:
            combination, value, count = draft.workshop.counts_by_combination(name)
            null = len(draft.texts[name])  # a missing value is a value of its own to whoever looks for a secret
            value = np.where(value < 0, null, value)
            guards.append(_diversity(column, Sensitive(name, combination, value, count, size=null + 1)))
    return guards


def _diversity(column: ColumnPolicy, sensitive: Sensitive) -> Guard:
    wanted = column.diversity
    if wanted is None:
        raise ValueError(f"column {column.name!r} has no diversity")
    match wanted.kind:
        case "distinct":
            return Distinct(sensitive, int(wanted.l or 0))
        case "entropy":
            return Entropy(sensitive, float(wanted.l or 0))
        case "recursive":
            return Recursive(sensitive, float(wanted.c or 0), int(wanted.l or 0))
        case "alpha":
            return Alpha(sensitive, float(wanted.alpha or 0))
        case "t-closeness":
            return Closeness(sensitive, float(wanted.t or 0))


def make_catalog(draft: Draft, version: int, published: str) -> Catalog:
    policy = draft.policy
    return Catalog(
        dataset=policy.dataset,
        version=version,
        title=policy.title,
        k=policy.k,
        rows=draft.rows,
        columns=tuple(draft.columns),
        tight=policy.anonymise.edges == "tight",
        min_group=policy.answers.min_group,
        modes=policy.answers.modes,
        policy_hash=policy.hash,
        published=published,
        unit=policy.unit,
        references=draft.references,
    )


def _loss(draft: Draft) -> dict[str, float]:
    if draft.table is None:
        return {}
    losses = loss_by_attribute(draft.table, draft.labels, draft.boxes)
    return {a.name: float(loss) for a, loss in zip(draft.table.attributes, losses, strict=True)}
