"""Noisy models and noisy tables of a site: priced, paid for in the ledger, drawn, logged, then written.

The ledger knows the question by its key and the payer by the request: a repeated build gets the recorded answer and
pays nothing. A build that was killed between paying and recording stays paid and is not drawn again, as with noisy
answers to statements (decision 22). Files are made of the recorded answer alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from querygate.core.budget_types import Cost, PaidInVain, PriorAnswer, Scope
from querygate.core.errors import ConfigError, ExtractRefused
from querygate.core.extracts.extract_spec import NOISY, ExtractSpec, invalid
from querygate.core.extracts.extracts_of_views import beside_words
from querygate.core.types import Catalog, NoiseOptions, Principal
from querygate.custody.columns.person_rows import check_unnamed
from querygate.custody.extract.k_anonymous import RecordReader
from querygate.custody.noise.noisy_answer import Noise
from querygate.custody.noisy_models.noisy_model import NoisyModelPlan, model_files
from querygate.custody.noisy_models.public_design import one_row_each
from querygate.custody.noisy_models.synthetic_table import SyntheticPlan
from querygate.custody.policy import Policy
from querygate.methods.dp import Entropy, pure

FORMAT = 1


class NoisyPlan(Protocol):
    """What is drawn from which columns. `cost` is known before a row is read, and `draw` gives JSON."""

    @property
    def method(self) -> str: ...

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def cost(self) -> Cost: ...

    def draw(self, table: pa.Table, entropy: Entropy) -> Mapping[str, Any]: ...

    def files(self, answer: Mapping[str, Any], facts: Mapping[str, Any], spec: ExtractSpec) -> dict[str, bytes]: ...

    def compare(self, rows: Callable[[], pa.Table], answer: Mapping[str, Any]) -> dict[str, Any]:
        """How far it is from the raw rows; for reviewers only."""
        ...


@dataclass(frozen=True)
class NoisyCase:
    """What noisy extracts of a dataset are made from."""

    policy: Policy
    catalog: Catalog
    rows: RecordReader
    where: str  # the condition, in the gate's own words
    noise: Noise


def make_noisy(
    case: NoisyCase, spec: ExtractSpec, request_id: str, requester: str, folder: Path | None
) -> dict[str, Any]:
    """The figures of a noisy extract. Without a folder it is a preview: nothing is read, spent or drawn."""
    options = _options(case.catalog, spec)
    plan = _plan(case, spec, options)
    _check_persons(case)
    scopes = case.noise.scopes(Principal(requester, "researcher"), case.catalog)
    body = _figures(case, spec, plan, request_id)
    if folder is None:
        return {**body, "budget": case.noise.left(scopes)}
    answer = _drawn(case, spec, plan, scopes, request_id)
    facts = {key: body[key] for key in ("format", "request", "dataset", "version", "policy_hash", "wish")}
    facts |= {"purpose": spec.purpose, "cost": body["cost"]}
    for name, content in plan.files(answer, facts, spec).items():
        (folder / name).write_bytes(content)
    told = {"budget": case.noise.left(scopes), "risk": {"words": list(answer["notes"])}}
    return {**body, **told, "utility": plan.compare(lambda: _rows(case, plan), answer)}


def _drawn(
    case: NoisyCase, spec: ExtractSpec, plan: NoisyPlan, scopes: list[Scope], request_id: str
) -> Mapping[str, Any]:
    """The recorded answer to this question; if there is none, it is paid for and drawn now."""
    key = _key(case.catalog, spec)
    paid_by = f"{request_id}-{key[:16]}"
    try:
        held = case.noise.budgets.reserve(paid_by, key, scopes, plan.cost)
    except PaidInVain:
        raise ExtractRefused(
            "QG605",
            "An earlier build paid for this and was interrupted before its result was recorded. The budget stays "
            "spent, and nothing is drawn again: somebody who could choose among draws would learn more than was paid "
            "for.",
            "Revoke the request and make a new one, which is paid for separately.",
        ) from None
    if isinstance(held, PriorAnswer):
        found: dict[str, Any] = json.loads(held.answer)
        return found
    answer = plan.draw(_rows(case, plan), case.noise.entropy)
    standing = case.noise.budgets.record(paid_by, json.dumps(answer, allow_nan=False))
    kept: dict[str, Any] = json.loads(standing)
    return kept


def _rows(case: NoisyCase, plan: NoisyPlan) -> pa.Table:
    """One of the selected rows of each person."""
    names = list(dict.fromkeys((*plan.names, *((_person(case),) if _person(case) else ()))))
    source = case.rows.selected(case.where)
    with source.reading():
        table = source.batches(names).read_all()
    return one_row_each(table, _person(case))


def _plan(case: NoisyCase, spec: ExtractSpec, options: NoiseOptions) -> NoisyPlan:
    return PLANS[spec.kind](spec, case.policy, options)


@dataclass(frozen=True)
class _ModelPlan:
    model: NoisyModelPlan

    @property
    def method(self) -> str:
        return self.model.method

    @property
    def names(self) -> tuple[str, ...]:
        return self.model.asked.all

    @property
    def cost(self) -> Cost:
        return pure(self.model.epsilon)

    def draw(self, table: pa.Table, entropy: Entropy) -> Mapping[str, Any]:
        return self.model.draw(table, entropy)

    def files(self, answer: Mapping[str, Any], facts: Mapping[str, Any], spec: ExtractSpec) -> dict[str, bytes]:
        return model_files(answer, facts)

    def compare(self, rows: Callable[[], pa.Table], answer: Mapping[str, Any]) -> dict[str, Any]:
        return {}


PLANS: Mapping[str, Callable[[ExtractSpec, Policy, NoiseOptions], NoisyPlan]] = {
    "noisy-model": lambda spec, policy, options: _ModelPlan(NoisyModelPlan.of(spec, policy)),
    "dp-synthetic": SyntheticPlan.of,
}


def _figures(case: NoisyCase, spec: ExtractSpec, plan: NoisyPlan, request_id: str) -> dict[str, Any]:
    cost = plan.cost
    return {
        "format": FORMAT,
        "request": request_id,
        "dataset": case.catalog.dataset,
        "version": case.catalog.version,
        "policy_hash": case.catalog.policy_hash,
        "wish": spec.to_dict(),
        "kind": spec.kind,
        "method": plan.method,
        "columns": list(plan.names),
        "cost": {"epsilon": cost.epsilon, "delta": cost.delta, "rho": cost.rho},
        "assessment": None,
        "beside_views": {"words": beside_words(spec)} if case.catalog.margins else None,
    }


def _options(catalog: Catalog, spec: ExtractSpec) -> NoiseOptions:
    """ExtractRefused QG605 if the policy allows none, or none at this price."""
    options = catalog.noise
    if options is None or options.epsilon_per_extract is None:
        raise ExtractRefused(
            "QG605",
            f"The policy allows no such extract: {NOISY[spec.kind]} is paid for from a privacy budget.",
            "Request another kind, or ask the custodian to publish with laplace.epsilon_per_extract.",
        )
    if spec.epsilon is not None and spec.epsilon > options.epsilon_per_extract:
        raise invalid("epsilon", f"must be at most {options.epsilon_per_extract:g}, as the policy says")
    return options


def _check_persons(case: NoisyCase) -> None:
    """Check that each row is a different person's, or that the policy says whose it is; then one row of each counts."""
    if _person(case):
        return
    try:
        check_unnamed(case.policy, (), case.rows.count_values, case.rows.count_values)
    except ConfigError as problem:
        raise ExtractRefused("QG605", problem.detail, problem.remedy) from None


def _person(case: NoisyCase) -> str:
    """The column that identifies persons, if one person may have several rows."""
    return (case.catalog.noise.person if case.catalog.noise else "") or case.policy.person


def _key(catalog: Catalog, spec: ExtractSpec) -> str:
    """Equal for questions with the same meaning, on one version, at one price, whoever asks and why."""
    told = {key: value for key, value in spec.to_dict().items() if key not in ("purpose", "formats")}
    what = [catalog.dataset, catalog.version, catalog.policy_hash, told]
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()
