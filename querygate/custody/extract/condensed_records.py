"""Condensed extracts: synthetic records, made cluster by cluster, that preserve what the recipient's models need.

Every cluster has at least k records and keeps its means and covariances. The models determine how clusters are made, so
the request names them. Survival times are drawn like other numbers, unless the request keeps them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from querygate.core.errors import ExtractRefused
from querygate.core.extracts.extract_spec import ExtractSpec
from querygate.core.extracts.model_formula import parse_formula
from querygate.core.publications.vault_ports import Source
from querygate.custody.extract.protected_records import Field, ProtectedRecords
from querygate.custody.extract.raw_tables import microdata_of, out_of, table_of
from querygate.custody.policy import Policy
from querygate.methods.anonymise import partition_check
from querygate.methods.synthesis import CondensedRecords, Microdata, Uncondensable, condense, rare_columns

Draw = Callable[[str], np.random.Generator]
"""Random numbers for a purpose: reproducible for the same purpose, and only by us."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How records are condensed."""

    method: str
    k: int
    weight: float = 0.5
    response: str | None = None
    status: str | None = None
    keep_times: bool = False

    def __str__(self) -> str:
        return f"{self.method}, weight {self.weight:g}" if self.method == "improved" else self.method


@dataclass(frozen=True)
class Material:
    """The records to be condensed."""

    policy: Policy
    raw: pa.Table
    data: Microdata

    @classmethod
    def of(cls, policy: Policy, source: Source) -> Material:
        names = [column.name for column in out_of(policy)]
        with source.reading():
            raw = source.batches(names).read_all()
        if raw.num_rows < policy.k:
            raise ExtractRefused(
                "QG605", f"The request selects fewer than k = {policy.k} records.", "Select more records, or lower k."
            )
        return cls(policy, raw, microdata_of(policy, raw))

    def made(self, recipe: Recipe, rng: np.random.Generator) -> CondensedRecords:
        try:
            return condense(
                self.data,
                recipe.k,
                method=recipe.method,
                response=recipe.response,
                status=recipe.status,
                weight=recipe.weight,
                keep_times=recipe.keep_times,
                rng=rng,
            )
        except Uncondensable as problem:
            raise ExtractRefused("QG605", problem.reason, problem.remedy) from None


def recipe_for(spec: ExtractSpec, policy: Policy, method: str, k: int, weight: float = 0.5) -> Recipe:
    """The recipe for the first model: clusters are made for its response and status."""
    if not spec.models:
        return Recipe(method, k, weight)
    formula = parse_formula(spec.models[0])
    if formula.family == "logistic" and formula.threshold is None:
        return Recipe(method, k, weight, None, formula.response)
    return Recipe(method, k, weight, formula.response, formula.status, spec.times == "kept")


def make_condensed(material: Material, recipe: Recipe, draw: Draw) -> ProtectedRecords:
    """The extract itself, in random order."""
    made = material.made(recipe, draw("records"))
    smallest = partition_check.smallest_class(made.labels)
    if smallest < recipe.k:
        raise ExtractRefused(
            "QG605", f"The smallest cluster has {smallest} records, fewer than {recipe.k}.", "Choose another method."
        )
    order = draw("order").permutation(made.labels.size)
    synthetic = table_of(material.policy, made.data, material.raw)
    table = synthetic.take(pa.array(order))
    return ProtectedRecords(
        kind="condensed",
        method=recipe.method,
        k=smallest,
        table=table,
        raw=material.raw.take(pa.array(order)),
        usable=table,
        classes=made.labels[order],
        fields=tuple(_field(material, name) for name in table.column_names),
        rows=material.raw.num_rows,
        parameters={"weight": recipe.weight, "response": recipe.response, "status": recipe.status}
        | {"times": "kept" if recipe.keep_times else "drawn", "kept": list(made.kept)}
        | {"rare": list(rare_columns(material.data, recipe.k))},
    )


def _field(material: Material, name: str) -> Field:
    column = material.policy.column(name)
    labels = () if column.is_numeric else tuple(sorted({str(t) for t in material.raw[name].unique().to_pylist() if t}))
    return Field(name, name, f"{name}, synthetic", column.title, labels)
