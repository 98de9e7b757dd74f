"""The risk report, made of four sides. Only aggregates: no value of a record, and no identifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from querygate.core.count_text import counted
from querygate.core.progress import Progress, no_progress
from querygate.custody.columns.population import Population
from querygate.custody.policy import Policy
from querygate.custody.risk_report.allele_risk import explain_alleles
from querygate.custody.risk_report.gene_risk import explain_genes
from querygate.custody.risk_report.risk_body import (
    After,
    AlleleRisk,
    Disease,
    GeneRisk,
    MeasuredColumns,
    Records,
    Register,
    RiskReport,
    Sides,
)
from querygate.custody.risk_report.risk_measures import summary, verdict
from querygate.custody.risk_report.side_figures import side_figures
from querygate.custody.risk_report.sides import DiseaseScope, RuleSides, Side

FORMAT = 1


@dataclass(frozen=True)
class Assessment:
    """The sides of one dataset, and the register and options they were measured with."""

    policy: Policy
    after: After
    rules: RuleSides
    released: Side
    population: Population | None = None
    disease: DiseaseScope | None = None
    version: int | None = None
    made: str = ""
    notes: Sequence[str] = ()
    alleles: Sequence[AlleleRisk] = ()
    genes: Sequence[GeneRisk] = ()


def make_report(assessed: Assessment, progress: Progress = no_progress) -> RiskReport:
    policy, population = assessed.policy, assessed.population
    people = None if population is None else int(population.persons.sum())
    figures = []
    for name, side in (
        ("raw records", assessed.rules.raw),
        ("Safe Harbor", assessed.rules.safe_harbor),
        ("the release", assessed.released),
        ("a limited data set", assessed.rules.limited),
    ):
        progress(f"measuring: {name}")
        figures.append(side_figures(side, policy, people))
    sides = Sides(*figures)
    quasi = tuple(column.name for column in policy.named("quasi-identifier"))
    register = None if population is None else _register(population, quasi)
    disease = None if assessed.disease is None else Disease(assessed.disease.column or None)
    lines = verdict(sides)
    return RiskReport(
        format=FORMAT,
        dataset=policy.dataset,
        title=policy.title,
        version=assessed.version,
        made=assessed.made,
        policy_hash=policy.hash,
        after=assessed.after,
        records=Records(sides.raw.records, sides.after.records),
        columns=MeasuredColumns(quasi, tuple(column.name for column in policy.named("sensitive"))),
        register=register,
        disease=disease,
        safe_harbor=assessed.rules.by_safe_harbor,
        sides=sides,
        verdict=lines,
        words=(
            *summary(sides, lines, disease),
            *(words for one in assessed.alleles for words in explain_alleles(one)),
            *(words for other in assessed.genes for words in explain_genes(other)),
        ),
        notes=(*assessed.notes, *_notes(register, sides, has_disease=disease is not None)),
        limited=assessed.rules.by_limited,
        alleles=tuple(assessed.alleles),
        genes=tuple(assessed.genes),
    )


def _register(population: Population, quasi: Sequence[str]) -> Register:
    return Register(
        people=int(population.persons.sum()),
        kinds=int(population.persons.size),
        columns=tuple(name for name in quasi if name in population.values),
        not_in_register=tuple(name for name in quasi if name not in population.values),
    )


def _notes(register: Register | None, sides: Sides, *, has_disease: bool) -> list[str]:
    """What limits the figures."""
    notes = []
    if register is None:
        notes.append(
            "No register of the population was given, so the journalist, k-map, uniqueness in the population and the "
            "risk of being in the file were not measured."
        )
        return notes
    if register.not_in_register:
        notes.append(
            f"The register does not contain {', '.join(register.not_in_register)}: somebody with a more complete "
            "register would find more people."
        )
    if register.people < sides.raw.records:
        notes.append(
            "The register lists fewer people than there are records, so it does not cover the whole population."
        )
    elif left := sides.raw.attackers.unmatched + sides.raw.attackers.short:
        notes.append(
            f"For {counted(left, 'raw record')}, the register lists fewer people than there are records: it omits "
            "people or spells values differently, and a journalist with a better register would be stronger."
        )
    if has_disease and sides.after.instance is None:
        notes.append(
            "The risk of being in the file was not measured for the release, because the release does not show whom it "
            "covers."
        )
    return notes
