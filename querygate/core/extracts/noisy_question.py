"""What an approved noisy model is asked: a family, what is modelled by what, all of it read without any data.

    linear: sbp ~ age + sex       logistic: died ~ age + sex      bayes: died ~ age + sbp
    pca: ~ age + sbp + dbp        kmeans: ~ age + sbp             histogram: ~ age + sex

>>> asked = NoisyQuestion.of("logistic: died ~ age + sex")
>>> asked.family, asked.response, asked.columns
('logistic', 'died', ('age', 'sex'))
>>> NoisyQuestion.of("kmeans: ~ age + sbp").response is None
True
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast, get_args

from querygate.core.extracts.extract_spec import ExtractSpec, RecipientModel, invalid
from querygate.core.extracts.model_formula import parse_formula
from querygate.core.types import NUMERIC, Type

NoisyFamily = Literal["linear", "logistic", "bayes", "pca", "kmeans", "histogram"]

EXPLAINED: frozenset[str] = frozenset({"linear", "logistic", "bayes"})
"""Families that model a response."""

PARTS: Mapping[str, tuple[int, int, int]] = {"pca": (2, 1, 20), "kmeans": (3, 2, 20), "histogram": (10, 2, 100)}
"""Components, clusters, or bins of a number: the usual, the least and the most."""

MOST_COLUMNS = 20
NOBODYS = "·"


@dataclass(frozen=True, slots=True)
class NoisyQuestion:
    """A family, the response if it models one, and the columns it is modelled by."""

    family: NoisyFamily
    response: str | None
    columns: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> NoisyQuestion:
        family, _, formula = (part.strip() for part in text.partition(":"))
        if family not in get_args(NoisyFamily):
            raise invalid(
                "noisy", "must name a family and a formula, as in 'linear: sbp ~ age'", *get_args(NoisyFamily)
            )
        if (family in EXPLAINED) == formula.startswith("~"):
            what = "needs a response before the ~" if family in EXPLAINED else "has no response: begin with ~"
            raise invalid("noisy", f"{family} {what}")
        read = parse_formula(RecipientModel("linear", formula if family in EXPLAINED else f'"{NOBODYS}" {formula}'))
        if any(len(term.factors) > 1 or term.factors[0].function for term in read.terms):
            raise invalid("noisy", "takes columns joined by +, without functions or products")
        columns = tuple(term.factors[0].column for term in read.terms)
        if len(columns) > MOST_COLUMNS:
            raise invalid("noisy", f"takes at most {MOST_COLUMNS} columns")
        return cls(cast(NoisyFamily, family), read.response if family in EXPLAINED else None, columns)

    @property
    def all(self) -> tuple[str, ...]:
        return (*((self.response,) if self.response else ()), *self.columns)


def check_noisy(spec: ExtractSpec, types: Mapping[str, Type]) -> None:
    """ExtractRefused QG604 where a column is not there, or not of a type that the family can use."""
    asked = NoisyQuestion.of(spec.noisy)
    for name in asked.all:
        if name not in types or types[name] == "codes":
            numbers = (column for column, kind in types.items() if kind != "codes")
            raise invalid("noisy", f"{name} is not a number or category that an extract may contain", *numbers)
    if asked.family == "linear" and types[str(asked.response)] not in NUMERIC:
        raise invalid("noisy", f"the response {asked.response} is not a number")
    if asked.family in ("logistic", "bayes") and types[str(asked.response)] in NUMERIC:
        raise invalid("noisy", f"the response {asked.response} is a number; {asked.family} needs a category")
    if asked.family in ("pca", "kmeans"):
        for name in asked.columns:
            if types[name] not in NUMERIC:
                raise invalid("noisy", f"{name} is not a number, which {asked.family} needs")
    parts_of(spec, asked)


def parts_of(spec: ExtractSpec, asked: NoisyQuestion) -> int:
    """How many components, clusters or bins."""
    if asked.family not in PARTS:
        if spec.parts is not None:
            raise invalid("parts", f"does not apply to {asked.family}", *PARTS)
        return 0
    usual, least, most = PARTS[asked.family]
    if asked.family == "pca":
        usual, most = min(usual, len(asked.columns)), min(most, len(asked.columns))
    parts = usual if spec.parts is None else spec.parts
    if not least <= parts <= most:
        raise invalid("parts", f"must be from {least} to {most} for this {asked.family}")
    return parts
