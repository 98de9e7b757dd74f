"""The figures for recipients of an extract: report.json, the page and its charts use nothing else.

A figure is released if it is computed from the released records, or if it is a share of all records, rounded to a step
of at least k of them. Everything else that was measured on raw records is for reviewers, because a figure about few
people reveals their values: the correlation of age with a job that only one person has is that person's age.

Keys are selected one by one, so a new figure for reviewers is not released until it is added here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from querygate.core.extracts.extract_spec import ExtractSpec, RecipientModel
from querygate.core.extracts.model_formula import parse_formula
from querygate.custody.code_lists.code_items import CodeReport, explain_codes
from querygate.custody.extract.protected_records import ProtectedRecords
from querygate.custody.extract.raw_tables import model_columns, model_levels
from querygate.custody.extract.recipe_trials import fitted
from querygate.custody.policy import Policy
from querygate.methods.model_fit import INTERCEPT, LEVEL, Fit, Unfit, correlations_of, design
from querygate.methods.risk import KeptValues, explain_kept

STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Steps for rounding shares."""

AS_THEY_ARE = (
    *("format", "request", "dataset", "version", "policy_hash", "wish", "kind", "method", "k", "k_asked", "records"),
    *("left_out", "classes", "columns", "parameters", "guarantees", "loss"),
)
"""The request, and what was counted on the released records."""

OF_CODES = (
    *("column", "method", "k", "public", "occurring", "exact", "generalised", "suppressed", "lost", "alone"),
    *("hidden", "untold"),
)
OF_THE_OTHER = ("risk", "average_instance", "average_match")
"""What is released about Safe Harbor and about unchanged values: averages over all records."""

Body = Mapping[str, Any]


@dataclass(frozen=True)
class RecipientFigures:
    """Everything in the report: its figures, the records as plain numbers and texts, and the figures on codes."""

    body: dict[str, Any]
    usable: pa.Table
    codes: tuple[CodeReport, ...]


def recipient_figures(protected: ProtectedRecords, policy: Policy, spec: ExtractSpec, body: Body) -> RecipientFigures:
    """The part of the reviewers' figures that is released with the records."""
    k, step = policy.k, step_of(policy.k, protected.rows)
    codes = tuple(_coarse_codes(report, step) for report in protected.codes)
    told = {
        **{key: body[key] for key in AS_THEY_ARE},
        "codes": [
            {key: getattr(one, key) for key in OF_CODES} | {"measures": one.measures and asdict(one.measures)}
            for one in codes
        ],
        "notes": [_note(line, k) for line in body["notes"]],
        "sequences": [{key: _short(value, 2) for key, value in line.items()} for line in body["sequences"]],
        "payloads": body["payloads"],
        "risk": _risk(body["risk"], protected.codes, codes, step),
        "utility": _utility(protected, policy, spec, body["utility"], step),
    }
    return RecipientFigures(told, protected.usable, codes)


def step_of(k: int, records: int) -> float:
    """The rounding step of shares: at least k records, and at least one in a hundred.

    >>> step_of(5, 1_000_000), step_of(50, 600), step_of(5, 5)
    (0.01, 0.1, 1.0)
    """
    return next(step for step in STEPS if step * records >= k or step == STEPS[-1])


def coarse(share: float, step: float) -> float:
    """A share, rounded to the step.

    >>> coarse(0.123, 0.05), coarse(0.126, 0.01)
    (0.1, 0.13)
    """
    return round(round(share / step) * step, 2)


def _coarse_codes(report: CodeReport, step: float) -> CodeReport:
    """The figures on lists of codes, with rounded shares of records and of entries."""
    lost, alone, untold = (coarse(share, step) for share in (report.lost, report.alone, report.untold))
    report = replace(report, lost=lost, alone=alone, untold=untold)
    measures = report.measures
    if measures is None:
        return report
    shares = [name for name in asdict(measures) if name.endswith(("_of_codes", "_of_entries", "_before", "_after"))]
    rounded: dict[str, Any] = {name: coarse(getattr(measures, name), step) for name in shares}
    found = [replace(one, before=coarse(one.before, step), after=coarse(one.after, step)) for one in measures.found]
    others = {name: _short(getattr(measures, name), 2) for name in ("log2_loss", "codes_in_item", "error")}
    return replace(report, measures=replace(measures, **rounded, **others, found=tuple(found)))


def _note(line: Body, k: int) -> dict[str, Any]:
    """Without kinds and rules that found something in few texts, which would reveal their content."""
    often = {key: {name: count for name, count in line[key].items() if count >= k} for key in ("kinds", "rules")}
    return {**line, **often}


def _risk(risk: Body, exact: Sequence[CodeReport], codes: Sequence[CodeReport], step: float) -> dict[str, Any]:
    """For classes what anybody can count in the extract; for synthetic records what is preserved."""
    if "randomised" in risk:
        return {"words": risk["words"][:1]}
    if "kept" in risk:
        kept = [_coarse_kept(KeptValues(**line), step) for line in risk["kept"]]
        return {"kept": [one.to_dict() for one in kept], "words": explain_kept(kept)}
    reviewers = set(map(explain_codes, exact))
    words = [words for words in risk["words"] if words not in reviewers]
    found = {key: risk[key] for key in ("attackers", "told") if key in risk}
    for kind in ("release", "same_disease"):
        if kind in risk:
            others = {key: _averages(risk[kind][key]) for key in ("safe_harbor", "intact") if key in risk[kind]}
            found[kind] = {**risk[kind], **others}
    return {**found, "words": [*words, *filter(None, map(explain_codes, codes))]}


def _coarse_kept(found: KeptValues, step: float) -> KeptValues:
    """Rounds up, so that a small risk never becomes 0."""
    alone = max(step, coarse(found.alone, step)) if found.alone else 0.0
    return replace(found, alone=alone, beside=coarse(found.beside, step), by_chance=coarse(found.by_chance, step))


def _averages(figures: Body | None) -> dict[str, Any] | None:
    if figures is None:
        return None
    return {key: float(f"{value:.3g}") if key in OF_THE_OTHER else None for key, value in figures.items()}


# -- utility -----------------------------------------------------------------------------------------------------------


def _utility(
    protected: ProtectedRecords, policy: Policy, spec: ExtractSpec, utility: Body, step: float
) -> dict[str, Any]:
    raw, left = model_columns(protected.raw), model_columns(protected.usable)
    before, after = model_levels(policy, protected.raw), model_levels(policy, protected.usable)
    names, matrix = correlations_of(left, after)
    return {
        "distances": {name: coarse(distance, step) for name, distance in utility["distances"].items()},
        **{what: _after(utility[what]) for what in ("means", "medians", "sums")},
        "associations": utility["associations"],
        "correlations": {"names": list(names), "after": [[round(float(x), 4) for x in row] for row in matrix]},
        "models": [
            {
                "model": str(model),
                **_shares(line["terms"], _terms_of_many(model, raw, before, policy.k)),
                "terms": _terms(fitted(model, left, after)),
            }
            for model, line in zip(spec.models, utility["models"], strict=True)
        ],
    }


def _after(sides: Body) -> dict[str, float | None]:
    """What anybody can compute from the records that leave."""
    return {name: None if side["after"] is None else _finite(side["after"]) for name, side in sides.items()}


def _terms(found: Fit | None) -> list[dict[str, Any]]:
    """The coefficients that the recipient will find."""
    if found is None:
        return []
    figures = zip(found.terms, found.coefficients, found.low, found.high, found.p, strict=True)
    keys = ("after", "after_low", "after_high", "after_p")
    return [
        {"term": term, **dict(zip(keys, (_finite(float(x)) for x in row), strict=True))}
        for term, *row in figures
        if term != INTERCEPT
    ]


def _shares(terms: Sequence[Body], counted: frozenset[str]) -> dict[str, float | None]:
    """Shares of changes, over coefficients that concern enough people; None if there are none."""
    told = [term for term in terms if term["term"] in counted]
    of = {"significance": told, "outside": told, "sign": [t for t in told if t["before_p"] < LEVEL]}
    return {
        share: round(float(np.mean([t[share] for t in lines])), 2) if lines else None for share, lines in of.items()
    }


def _terms_of_many(
    model: RecipientModel, columns: Mapping[str, Any], levels: Mapping[str, tuple[str, ...]], k: int
) -> frozenset[str]:
    """The terms in which at least k records differ from the most frequent value; none where the outcome, which the
    requester may have set by a limit, is that of fewer than k.
    """
    try:
        made = design(parse_formula(model), columns, levels)
    except Unfit:
        return frozenset()
    if model.family == "logistic" and min(made.response.sum(), (1 - made.response).sum()) < k:
        return frozenset()
    most = [np.unique(column, return_counts=True)[1].max(initial=0) for column in made.matrix.T]
    return frozenset(name for name, often in zip(made.names, most, strict=True) if len(made.matrix) - often >= k)


def _finite(value: float) -> float | None:
    """Six digits: further ones depend on the order of the records."""
    return float(f"{value:.6g}") if np.isfinite(value) else None


def _short(value: Any, places: int) -> Any:
    return round(value, places) if isinstance(value, float) else value
