"""The search for alternatives to Safe Harbor, and its description for those who decide.

The threshold is the risk of Safe Harbor on the same records and the same population, or a number. Every figure is an
aggregate; values that are named are public, from the policy or the population.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.core.types import Floats, Ints
from querygate.custody.columns.population import Population
from querygate.custody.policy import ColumnPolicy, Policy
from querygate.custody.policy.policy_types import SAFE_HARBOR
from querygate.custody.policy.release_requirements import Requirement
from querygate.custody.policy_search.lattice_study import LatticeStudy, harbor, lay_out
from querygate.custody.policy_search.required_study import RequiredStudy, SensitiveRecords
from querygate.custody.policy_search.search_report import (
    KindFigures,
    PolicyFigures,
    SafeHarborFigures,
    SearchedColumn,
    SearchedPopulation,
    SearchFigures,
    SearchReport,
)
from querygate.custody.policy_search.unequal_interest import Interest
from querygate.methods.policy_search import (
    LatticeCubes,
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
    """What to search for, and for how long."""

    threshold: float | str = SAFE_HARBOR
    iterations: int = 100
    kinds: int = 6
    seed: int = 1
    year: int = 0
    method: str = "bisecting"
    required: tuple[Requirement, ...] = ()
    interests: tuple[Interest, ...] = ()


@dataclass(frozen=True)
class AlternativesSearch:
    """The results: kinds of policies over the ground, each with its risk."""

    ground: LatticeStudy
    found: SearchResult
    kinds: tuple[SolutionKind, ...]
    report: SearchReport


@dataclass(frozen=True)
class _Compared:
    """What policies are compared with: Safe Harbor, and the records as they are, on the same people."""

    fine: LatticeStudy
    safe: PolicyRisk
    intact: PolicyRisk
    threshold: float

    def figures(self, measured: PolicyRisk) -> PolicyFigures:
        return PolicyFigures(
            **asdict(measured),
            of_safe_harbor=measured.risk / self.safe.risk,
            of_intact=measured.risk / self.intact.risk,
            within=within(measured.risk, self.threshold),
            words=explain_measured(measured),
        )


def search(
    policy: Policy,
    columns: Sequence[ColumnPolicy],
    records: Population,
    people: Population,
    options: SearchOptions,
    order: Mapping[str, Sequence[str]] | None = None,
    sensitive: Mapping[str, Ints] | None = None,
    weights: Floats | None = None,
) -> AlternativesSearch:
    """Alternatives for the quasi-identifiers that the population has. `sensitive` are numbers of values by column, of
    what is required; `weights` tell how keenly each record is looked for, where that is not the same.
    """
    fine = lay_out(columns, records, people, order, fixed=False)
    celled = any(column.edges or column.groups for column in columns)
    ground = lay_out(columns, records, people, order, fixed=True) if celled else fine
    yardstick, does = harbor(fine, options.year)
    safe, intact = fine.study.measure(yardstick), fine.study.measure(fine.lattice.finest)
    compared = _Compared(
        fine, safe, intact, safe.risk if options.threshold == SAFE_HARBOR else float(options.threshold)
    )
    searched, sought = ground.study, None
    if weights is not None:
        keen = lay_out(columns, records, people, order, fixed=celled, interest=weights).study
        even = lay_out(columns, records, people, order, fixed=False, interest=weights).study
        sought = keen, even.risk(yardstick) if options.threshold == SAFE_HARBOR else compared.threshold
    if options.required or weights is not None:
        held = SensitiveRecords.of(ground.axes, records, sensitive or {})
        searched = RequiredStudy(ground, held, options.required, sought)
    found = _find(searched, compared.threshold, options)
    chosen = kinds(ground.study, found.best, options.kinds)
    harbored = SafeHarborFigures(**asdict(compared.figures(safe)), rules=tuple(rules(yardstick)), does=does)
    told = tuple(
        replace(_kind(ground, kind, compared), required=_kept(searched, kind, options.required)) for kind in chosen
    )
    axes = tuple(SearchedColumn(axis.column.name, axis.told) for axis in ground.axes)
    others = tuple(column.name for column in policy.named("quasi-identifier") if column not in columns)
    report = SearchReport(
        format=FORMAT,
        dataset=policy.dataset,
        policy_hash=policy.hash,
        year=options.year,
        columns=axes,
        other_columns=others,
        population=SearchedPopulation(fine.people, fine.outside, tuple(_population_words(fine, intact))),
        threshold=compared.threshold,
        threshold_from=SAFE_HARBOR if options.threshold == SAFE_HARBOR else "a number",
        requirements=(*map(str, options.required), *(f"looked for: {one}" for one in options.interests)),
        safe_harbor=harbored,
        intact=compared.figures(intact),
        search=_search_figures(found, options),
        kinds=told,
    )
    return AlternativesSearch(ground, found, chosen, report)


def _find(searched: LatticeCubes, threshold: float, options: SearchOptions) -> SearchResult:
    chance = np.random.default_rng(options.seed)
    found = METHODS[options.method](searched, threshold, options.iterations, chance, complete=True)
    if not found.solutions:
        raise ConfigError(
            "QG803",
            f"No policy was found: {explain_search(found)}",
            "Raise the threshold, require less of sensitive columns, or name a population that contains the people of "
            "the file.",
        )
    return found


def _search_figures(found: SearchResult, options: SearchOptions) -> SearchFigures:
    return SearchFigures(
        method=found.method,
        iterations=options.iterations,
        seed=options.seed,
        policies=found.distinct,
        best=len(found.best),
        words=explain_search(found),
    )


def _kind(ground: LatticeStudy, kind: SolutionKind, compared: _Compared) -> KindFigures:
    policy = kind.representative.policy
    measured = ground.study.measure(policy)
    return KindFigures(
        **asdict(compared.figures(measured)),
        rules=tuple(rules(policy)),
        text=explain(PolicySolution(policy, measured.risk), compared.safe.risk),
        members=len(kind.members),
        about=explain_kind(kind),
    )


def _kept(study: LatticeCubes, kind: SolutionKind, required: Sequence[Requirement]) -> dict[str, float]:
    if not isinstance(study, RequiredStudy):
        return {}
    figures = study.figures(kind.representative.policy.kept)
    return {str(one): figure for one, figure in zip(required, figures, strict=True)}


def _population_words(ground: LatticeStudy, intact: PolicyRisk) -> list[str]:
    """How far the population can be trusted, judged by how it matches the unchanged records."""
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
