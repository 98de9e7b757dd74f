"""How many people are alone in the population, judged from a sample of it.

A record that is alone in its combination of quasi-identifiers need not be alone among the people it was drawn from.
What a sample of n out of N tells about the uniques of the population is estimated from its frequencies of frequencies:
s_j combinations are shared by exactly j records.

- `zayatz`: Zayatz, "Estimation of the number of unique population elements using a sample", Proceedings of the Survey
  Research Methods Section, American Statistical Association, 1991.
- `pitman`: Hoshino, "Applying Pitman's sampling formula to microdata disclosure risk assessment", Journal of Official
  Statistics 17(4), 2001.
- `snb`, the slide negative binomial: Chen and Keller-McNulty, "Estimation of identification disclosure risk in
  microdata", Journal of Official Statistics 14(1), 1998.
- Which of them to believe: Dankar, El Emam, Neisa and Roffey, "Estimating the re-identification risk of clinical data
  sets", BMC Medical Informatics and Decision Making 12:66, 2012.

All take the records for a simple random sample of the population. An estimate that its equations do not yield is said
to be missing, with the reason, and is never made up.

>>> import numpy as np
>>> sizes = np.repeat([1, 2, 3, 11], [60, 20, 10, 10])
>>> sample_uniqueness(sizes)
0.25
>>> found = population_uniqueness(sizes, people=2400)
>>> found.chosen.method, round(found.share or 0, 3)
('pitman', 0.075)
>>> population_uniqueness(sizes, people=240).share  # everybody is in the sample: counted, and not estimated
0.25
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from querygate.core.types import Ints
from querygate.methods.risk.pitman import pitman_uniques
from querygate.methods.risk.snb import snb_uniques

Method = Literal["counted", "zayatz", "pitman", "snb"]

SMALL_FRACTION = 0.1
"""Up to this sampling fraction Dankar et al. (2012) rely on the Pitman model."""


@dataclass(frozen=True, slots=True)
class Uniques:
    """The estimated share of the population that is alone in its combination; none where `why` says so."""

    method: Method
    share: float | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class PopulationUniqueness:
    """What a sample tells about the uniques of its population. `share` is the chosen estimate's.

    It is at once the expected share of the *records* whose person is alone in the population, because a random sample
    takes uniques as often as others.
    """

    records: int
    people: int
    sample_share: float
    chosen: Uniques
    estimates: tuple[Uniques, ...] = field(default=())

    DERIVED: ClassVar[tuple[str, ...]] = ("fraction", "share", "of_sample_uniques")

    @property
    def fraction(self) -> float:
        """The share of the population that is in the sample."""
        return self.records / self.people if self.people else 1.0

    @property
    def share(self) -> float | None:
        return self.chosen.share

    @property
    def of_sample_uniques(self) -> float | None:
        """The share of those alone in the sample who are alone in the population, too."""
        if self.share is None or not self.sample_share:
            return None
        return min(1.0, self.share / self.sample_share)


def sample_uniqueness(sizes: Ints) -> float:
    """The share of records that are alone in their combination, of classes of these sizes."""
    records = int(sizes.sum())
    return float((sizes == 1).sum() / records) if records else 0.0


def population_uniqueness(sizes: Ints, people: int) -> PopulationUniqueness:
    """Estimates by all three models, and the one that the rule of Dankar et al. chooses.

    `sizes` are the numbers of records that share each combination, `people` the number of people in the population.
    The rule: the Pitman model where at most a tenth was sampled; otherwise the smaller of Zayatz and SNB, because both
    err upwards more than downwards. Where a model gives nothing, Zayatz, which always does.
    """
    sizes = sizes[sizes > 0]
    records, alone = int(sizes.sum()), sample_uniqueness(sizes)
    if people < records:
        raise ValueError("the population has at least as many people as the sample has records")
    if people == records:
        return PopulationUniqueness(records, people, alone, Uniques("counted", alone))
    found = (zayatz(sizes, people), pitman(sizes, people), snb(sizes, people))
    return PopulationUniqueness(records, people, alone, _choose(*found, records / people), found)


def _choose(zayatz: Uniques, pitman: Uniques, snb: Uniques, fraction: float) -> Uniques:
    if fraction <= SMALL_FRACTION:
        return zayatz if pitman.share is None else pitman
    if snb.share is None or zayatz.share is None:
        return zayatz
    return min(zayatz, snb, key=lambda one: one.share or 0.0)


def zayatz(sizes: Ints, people: int) -> Uniques:
    """By Bayes' rule, taking the population's classes to be as large as the sample's.

    With p_j the share of classes of size j, P(F=1 | f=1) = p_1 P(f=1 | F=1) / sum_j p_j P(f=1 | F=j), where f is
    hypergeometric: the records drawn of a class of j people, n drawn of N. The estimate is s_1 P(F=1 | f=1) N/n.
    The population's classes are larger than the sample's, so it is too high, and more so the smaller the fraction.
    """
    size, classes = np.unique(sizes[sizes > 0], return_counts=True)
    records = int(size @ classes)
    if not records or size[0] > 1:
        return Uniques("zayatz", 0.0)
    # P(f=1 | F=j) = j n/N prod_{i=0}^{j-2} (N-n-i)/(N-1-i): one is drawn, and the other j-1 are not.
    i = np.arange(int(size[-1]) - 1)
    with np.errstate(divide="ignore"):
        missed = np.log(np.maximum(people - records - i, 0)) - np.log(np.maximum(people - 1 - i, 1))
    others = np.concatenate([[0.0], np.cumsum(missed)])
    single = size * records / people * np.exp(others[size - 1])
    truly = float(classes[0] * single[0] / (classes @ single))
    return Uniques("zayatz", min(1.0, float(classes[0]) * truly / records))


def pitman(sizes: Ints, people: int) -> Uniques:
    """By the Ewens-Pitman sampling formula, fitted to the sample by maximum likelihood."""
    sizes = sizes[sizes > 0]
    if sample_uniqueness(sizes) in (0.0, 1.0):
        return Uniques("pitman", sample_uniqueness(sizes))
    found = pitman_uniques(sizes, people)
    return (
        Uniques("pitman", None, "the likelihood has no maximum") if found is None else _share("pitman", found, people)
    )


def snb(sizes: Ints, people: int) -> Uniques:
    """By class sizes of 1 + a negative binomial, fitted to the numbers of classes of one and of two records."""
    sizes = sizes[sizes > 0]
    if sample_uniqueness(sizes) in (0.0, 1.0):
        return Uniques("snb", sample_uniqueness(sizes))
    found = snb_uniques(sizes, people)
    return Uniques("snb", None, "its equations have no solution") if found is None else _share("snb", found, people)


def _share(method: Method, uniques: float, people: int) -> Uniques:
    return Uniques(method, min(1.0, max(0.0, uniques / people)))


def explain_uniqueness(found: PopulationUniqueness) -> str:
    """One sentence for those who decide.

    >>> explain_uniqueness(PopulationUniqueness(100, 1000, 0.4, Uniques("pitman", 0.1)))
    '40.0 % of the 100 records are alone in their combination; in the population of 1,000 about 10.0 % of people are \
(estimate: pitman), so about 1 in 4 of those alone here is alone there, too.'
    """
    begin = f"{found.sample_share:.1%} of the {found.records:,} records have a unique combination of values"
    begin = begin.replace("%", " %")
    if found.share is None:
        return f"{begin}; how many people are unique in the population of {found.people:,} cannot be estimated."
    if found.chosen.method == "counted":
        return f"{begin}, and the records are the whole population."
    share = f"{found.share:.1%}".replace("%", " %")
    begin = (
        f"{begin}; in the population of {found.people:,} about {share} of people do (estimate: {found.chosen.method})"
    )
    if not found.of_sample_uniques:
        return f"{begin}."
    return f"{begin}, so about 1 in {1 / found.of_sample_uniques:.0f} of those unique here is unique there too."
