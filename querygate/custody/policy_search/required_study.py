"""A study in which only those policies are within a threshold that keep what is required of sensitive columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.custody.columns.population import Population
from querygate.custody.policy.release_requirements import Requirement
from querygate.custody.policy_search.axes import Axis
from querygate.custody.policy_search.lattice_study import LatticeStudy
from querygate.methods.anonymise import knowledge_check, partition_check
from querygate.methods.policy_search import LatticeCubes, within

FIGURES: Mapping[str, Callable[[Ints, Ints], float]] = {
    "t-closeness": partition_check.closeness,
    "alpha": partition_check.largest_share,
    "growth": lambda classes, values: knowledge_check.largest_growth(classes, values, None),
    "l-diversity": partition_check.distinct_values,
    "entropy": partition_check.entropy_l,
}


BROKEN = 2.0
"""Larger than any risk."""


def measured(requirement: Requirement, classes: Ints, values: Ints) -> float:
    """What the classes of records keep of a column: the figure of the worst."""
    return float(FIGURES[requirement.measure](classes, values))


@dataclass(frozen=True)
class SensitiveRecords:
    """The places of records on each axis, and the numbers of their sensitive values."""

    places: tuple[Ints, ...]
    values: Mapping[str, Ints]

    @classmethod
    def of(cls, axes: Sequence[Axis], records: Population, values: Mapping[str, Ints]) -> SensitiveRecords:
        return cls(tuple(axis.places(records) for axis in axes), values)


class RequiredStudy(LatticeCubes):
    """The same figures as of the study it is made of; what is asked for the search alone is different. `sought` is the
    study of attackers who are after some records more than others, and the risk that they may have.
    """

    def __init__(
        self,
        ground: LatticeStudy,
        records: SensitiveRecords,
        required: Sequence[Requirement],
        sought: tuple[LatticeCubes, float] | None = None,
    ) -> None:
        self._study, self._records, self._required, self._sought = ground.study, records, tuple(required), sought
        self.lattice, self.gamma = ground.lattice, ground.study.gamma
        self.records, self.file, self.population = ground.study.records, ground.study.file, ground.study.population

    def risk_of(self, kept: Bools) -> float:
        """The risk, or more than any risk if a requirement is broken: both fall when boundaries are merged."""
        return self._study.risk_of(kept) if self.holds(kept) else BROKEN

    def holds(self, kept: Bools) -> bool:
        if self._sought is not None and not within(self._sought[0].risk_of(kept), self._sought[1]):
            return False
        classes = self._classes_of(kept)
        return all(one.allows(measured(one, classes, self._records.values[one.column])) for one in self._required)

    def figures(self, kept: Bools) -> tuple[float, ...]:
        """What the policy that keeps these boundaries keeps of each requirement."""
        classes = self._classes_of(kept)
        return tuple(measured(one, classes, self._records.values[one.column]) for one in self._required)

    def _classes_of(self, kept: Bools) -> Ints:
        """The number of the class of each record; missing values are apart."""
        number = np.zeros(self.records, dtype=np.int64)
        for places, at in zip(self._records.places, self.lattice.places, strict=True):
            group = np.concatenate([[0], np.cumsum(kept[at])])
            number = number * (int(group[-1]) + 2) + np.append(group, group[-1] + 1)[places]
        return number

    def _planes(self, kept: Bools) -> tuple[Floats, ...]:
        return self._study._planes(kept)
