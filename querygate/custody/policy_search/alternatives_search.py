"""The search for alternatives to Safe Harbor, and what is said of it to those who decide.

The threshold is the risk of Safe Harbor on the same records and the same population, or a number. Every figure is an
aggregate; values that are named are public, from the policy or the population.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.custody.columns.population import Population
from querygate.custody.policy import ColumnPolicy, Policy
from querygate.custody.policy.policy_types import SAFE_HARBOR
from querygate.custody.policy_search.lattice_study import LatticeStudy, harbor, lay_out
from querygate.custody.policy_search.search_report import (
    KindFigures,
    PolicyFigures,
    SafeHarborFigures,
    SearchedColumn,
    SearchedPopulation,
    SearchFigures,
    SearchReport,
)
from querygate.methods.policy_search import (
    PolicyRisk,
    PolicySolution,
    SearchResult,
    SolutionKind,
    bisecting,
    directed,
    explain,
    explain_kind,
    explain_measured,
    explain_search,
    kinds,
    rules,
    within,
)

FORMAT = 1

METHODS = {"bisecting": bisecting, "directed": directed}


@dataclass(frozen=True)
class SearchOptions:
    """What is searched for, and how long."""

    threshold: float | str = SAFE_HARBOR
    iterations: int = 100
    kinds: int = 6
    seed: int = 1
    year: int = 0
    method: str = "bisecting"


@dataclass(frozen=True)
class AlternativesSearch:
    """What was found: kinds of policies over the ground, each with what it risks."""

    ground: LatticeStudy
    found: SearchResult
    kinds: tuple[SolutionKind, ...]
    report: SearchReport


def search(
    policy: Policy,
    columns: Sequence[ColumnPolicy],
    records: Population,
    people: Population,
    options: SearchOptions,
    order: Mapping[str, Sequence[str]] | None = None,
) -> AlternativesSearch:
    """Alternatives for the quasi-identifiers that the population has."""
    fine = lay_out(columns, records, people, order, fixed=False)
    celled = any(column.edges or column.groups for column in columns)
    ground = lay_out(columns, records, people, order, fixed=True) if celled else fine
    yardstick, does = harbor(fine, options.year)
    safe, intact = fine.study.measure(yardstick), fine.study.measure(fine.lattice.finest)
    threshold = safe.risk if options.threshold == SAFE_HARBOR else float(options.threshold)
    chance = np.random.default_rng(options.seed)
    found = METHODS[options.method](ground.study, threshold, options.iterations, chance, complete=True)
    if not found.solutions:
        raise ConfigError(
            "QG803",
            f"No policy was found: {explain_search(found)}",
            "Raise the threshold, or name a population that contains the people of the file.",
        )
    chosen = kinds(ground.study, found.best, options.kinds)
    report = SearchReport(
        format=FORMAT,
        dataset=policy.dataset,
        policy_hash=policy.hash,
        year=options.year,
        columns=tuple(SearchedColumn(axis.column.name, axis.told) for axis in ground.axes),
        other_columns=tuple(c.name for c in policy.named("quasi-identifier") if c not in columns),
        population=SearchedPopulation(fine.people, fine.outside, tuple(_population_words(fine, intact))),
        threshold=threshold,
        threshold_from=SAFE_HARBOR if options.threshold == SAFE_HARBOR else "a number",
        safe_harbor=SafeHarborFigures(
            **asdict(_figures(safe, threshold, safe, intact)), rules=tuple(rules(yardstick)), does=does
        ),
        intact=_figures(intact, threshold, safe, intact),
        search=SearchFigures(
            method=found.method,
            iterations=options.iterations,
            seed=options.seed,
            policies=found.distinct,
            best=len(found.best),
            words=explain_search(found),
        ),
        kinds=tuple(_kind(ground, kind, threshold, safe, intact) for kind in chosen),
    )
    return AlternativesSearch(ground, found, chosen, report)


def _kind(
    ground: LatticeStudy, kind: SolutionKind, threshold: float, safe: PolicyRisk, intact: PolicyRisk
) -> KindFigures:
    policy = kind.representative.policy
    measured = ground.study.measure(policy)
    return KindFigures(
        **asdict(_figures(measured, threshold, safe, intact)),
        rules=tuple(rules(policy)),
        text=explain(PolicySolution(policy, measured.risk), safe.risk),
        members=len(kind.members),
        about=explain_kind(kind),
    )


def _figures(measured: PolicyRisk, threshold: float, safe: PolicyRisk, intact: PolicyRisk) -> PolicyFigures:
    return PolicyFigures(
        **asdict(measured),
        of_safe_harbor=measured.risk / safe.risk,
        of_intact=measured.risk / intact.risk,
        within=within(measured.risk, threshold),
        words=explain_measured(measured),
    )


def _population_words(ground: LatticeStudy, intact: PolicyRisk) -> list[str]:
    """How far the population can be trusted, from how it stands to the records as they are."""
    said = [f"The population has {ground.people:,} people for {counted(intact.records, 'record')}."]
    if ground.outside:
        said.append(f"{ground.outside:,} of them are ignored, because no record can have their values.")
    for count, what in (
        (intact.unmatched, "match nobody in it"),
        (intact.short, "are in classes for which it has fewer people than there are records"),
    ):
        if count:
            said.append(f"{count:,} records ({count / intact.records:.1%}) {what}, so it is not complete.")
    if intact.unmatched + intact.short > intact.records / 20:
        said.append(
            "That is more than 1 in 20: the risk of Safe Harbor is overstated too. Set a number as threshold instead."
        )
    return said
