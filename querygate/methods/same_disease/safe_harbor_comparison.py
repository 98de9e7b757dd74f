"""Partitioning beside Safe Harbor on the same file."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from querygate.methods.same_disease.part_tree import LEAST, Rules
from querygate.methods.same_disease.population_parts import Partition, tightened
from querygate.methods.same_disease.safe_harbor_classes import RuleClasses, safe_harbor
from querygate.methods.same_disease.study import Study


@dataclass(frozen=True, slots=True)
class SafeHarborComparison:
    """Both on one file. No way of publishing has a smaller R than the share of the population that is in the file."""

    safe_harbor: RuleClasses
    partition: Partition
    prevalence: float

    @property
    def greatest_ratio(self) -> float:
        """The greatest r of the partition, as a share of that of Safe Harbor."""
        return _ratio(self.partition.risk.greatest_instance, self.safe_harbor.risk.greatest_instance)

    @property
    def average_ratio(self) -> float:
        """R of the partition, as a share of that of Safe Harbor."""
        return _ratio(self.partition.risk.average_instance, self.safe_harbor.risk.average_instance)

    @property
    def least_ratio(self) -> float:
        """What the ratio of R would be at best, every class having the same share in the file."""
        return _ratio(self.prevalence, self.safe_harbor.risk.average_instance)


def compare(
    study: Study, small_areas: Collection[str] = (), rules: Rules = LEAST, classes: int | None = None
) -> SafeHarborComparison:
    """Safe Harbor, and a partition into as many classes as Safe Harbor has (or so many).

    When the file is a part of the population and the rules are the least ones, there are never fewer classes than Safe
    Harbor has: the tree can tell apart all records whose values differ, and Safe Harbor only those it has not merged.
    """
    yardstick = safe_harbor(study, small_areas)
    wanted = yardstick.risk.classes if classes is None else classes
    return SafeHarborComparison(yardstick, tightened(study, wanted, rules), study.prevalence)


def explain_comparison(found: SafeHarborComparison) -> str:
    """One sentence for those who decide.

    >>> import numpy as np
    >>> from querygate.methods.same_disease import Quasi
    >>> people = {"birth": np.arange("1950-01-01", "1954-01-01", 30, dtype="datetime64[D]")}
    >>> file = np.array([0, 15, 30, 45])
    >>> explain_comparison(compare(Study.within([Quasi("birth", "birth", on="2020-01-01")], people, file)))
    'At 4 classes against 4 of Safe Harbor, the chance that somebody who matches is in the file is 8.17 % on average \
against 8.17 %, and at most 8.33 % against 8.33 %; the largest class has 1 record against 1. No way of publishing has \
less than 8.16 % on average, the share of the population that is in the file.'
    """
    ours, theirs = found.partition.risk, found.safe_harbor.risk
    if not ours.records:
        return "There are no records, so being in the file discloses nothing."
    return (
        f"At {ours.classes:,} classes against {theirs.classes:,} of Safe Harbor, the chance that somebody who matches "
        f"is in the file is {100 * ours.average_instance:.2f} % on average against "
        f"{100 * theirs.average_instance:.2f} %, and at most {100 * ours.greatest_instance:.2f} % against "
        f"{100 * theirs.greatest_instance:.2f} %; the largest class has {ours.largest:,} "
        f"record{'s' if ours.largest > 1 else ''} against {theirs.largest:,}. No way of publishing has less than "
        f"{100 * found.prevalence:.2f} % on average, the share of the population that is in the file."
    )


def _ratio(ours: float, theirs: float) -> float:
    return ours / theirs if theirs else 1.0
