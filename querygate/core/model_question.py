"""A question for a model: what is explained by what, and how. Every front door produces this; the gate answers it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from querygate.core.types import Principal

Family = Literal["linear", "logistic", "poisson", "mantel-haenszel", "standardised"]
FAMILIES: tuple[Family, ...] = get_args(Family)

STRATIFIED: frozenset[Family] = frozenset({"mantel-haenszel", "standardised"})
"""Families whose formula names strata behind a bar."""

LONGEST_FORMULA = 4_000


@dataclass(frozen=True, slots=True)
class ModelQuestion:
    """`formula` is `outcome ~ term + term`, of stratified families `outcome ~ group | stratum`.

    `where` is a condition in SQL that selects records. `exposure` is the column of the time at risk, of Poisson models.
    `reference` names by factor the level that others are compared with, and `weights` by stratum the standard
    population of rates; without them the first level, and all records of the dataset that are in the model.
    """

    principal: Principal
    dataset: str
    family: Family
    formula: str
    where: str = ""
    exposure: str = ""
    reference: Mapping[str, str] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    explain: bool = False
