"""Which recipe is best for the recipient: each is tried on the recipient's own models.

Without tolerances it chooses the recipe with coefficients closest to the original's, at the requested k. With
tolerances, the largest k that meets them; if none does, the request is refused, with the size of the gap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from querygate.core.errors import ExtractRefused
from querygate.core.extracts.extract_checks import SHARES
from querygate.core.extracts.extract_spec import ExtractSpec, RecipientModel
from querygate.core.progress import Progress
from querygate.custody.extract.condensed_records import Draw, Material, Recipe, recipe_for
from querygate.custody.extract.protected_records import ProtectedRecords
from querygate.custody.extract.raw_tables import model_columns, model_levels, table_of
from querygate.custody.policy import Policy
from querygate.methods.model_fit import Fit, ModelComparison, Unfit, average, compare, fit

REPETITIONS = 5
"""How often each recipe is tried: synthetic records are random, and one lucky draw proves nothing."""

WEIGHTS = (0.1, 0.3, 0.5)
"""Weights of the response to try with improved condensation; 0.5 is the published one, and less is often better
(measured: docs/explanation/measured-extracts.md)."""

OTHER_METHODS = ("snake", "mondrian-relaxed", "local")
"""Methods for classes to try, after the comparison of widths, if models must be preserved."""

LARGER = (1, 2, 4, 8)
"""Multiples of k to try if the request leaves k open and has tolerances."""


@dataclass(frozen=True)
class RecipeTrial:
    """A recipe and its effect on each model, over the repetitions."""

    recipe: Recipe
    models: Mapping[str, ModelComparison]

    def worst(self, share: str) -> float:
        """The largest share over the models."""
        return max(float(getattr(compared, share)) for compared in self.models.values())

    def to_dict(self) -> dict[str, Any]:
        shares = {share: self.worst(share) for share in SHARES}
        return {"method": str(self.recipe), "k": self.recipe.k, **shares}


def tune(
    spec: ExtractSpec, policy: Policy, material: Material, draw: Draw, progress: Progress
) -> tuple[Recipe, list[RecipeTrial]]:
    """The chosen recipe, and all trials, the chosen one first."""
    recipes = _recipes(spec, policy)
    if not spec.models:
        return recipes[0], []
    before = fits(spec, model_columns(material.raw), model_levels(policy, material.raw))
    trials = []
    for recipe in recipes:
        progress(f"trying {recipe}, k = {recipe.k}")
        trials.append(try_recipe(spec, material, recipe, before, draw))
    limits = _limits(spec)
    best = min(trials, key=lambda trial: _rank(trial, limits))
    if _excess(best, limits) > 0:
        raise _refused(best, limits)
    return best.recipe, [best, *(trial for trial in trials if trial is not best)]


def methods_to_try(spec: ExtractSpec) -> tuple[str, ...]:
    """The requested method, or else the policy's own; several in turn if models must be preserved."""
    return (spec.method,) if spec.method or not _limits(spec) else ("auto", *OTHER_METHODS)


def models_changed(spec: ExtractSpec, policy: Policy, protected: ProtectedRecords) -> RecipeTrial | None:
    """How the classes changed the recipient's models; None if they meet the tolerances."""
    limits = _limits(spec)
    if not limits:
        return None
    levels, columns = model_levels(policy, protected.raw), model_columns(protected.usable)
    before = fits(spec, model_columns(protected.raw), levels)
    models = {str(model): compare(before[str(model)], fitted(model, columns, levels)) for model in spec.models}
    trial = RecipeTrial(Recipe(protected.method, protected.k), models)
    return trial if _excess(trial, limits) else None


def refuse_models(spec: ExtractSpec, trials: Sequence[RecipeTrial]) -> ExtractRefused:
    """Refuse: none of the trials meets the tolerances; says what the closest one does."""
    limits = _limits(spec)
    return _refused(min(trials, key=lambda trial: _excess(trial, limits)), limits)


def fits(spec: ExtractSpec, columns: Mapping[str, Any], levels: Mapping[str, tuple[str, ...]]) -> dict[str, Fit]:
    """Each model on the raw records."""
    found = {}
    for model in spec.models:
        try:
            found[str(model)] = fit(model, columns, levels)
        except Unfit as problem:
            raise ExtractRefused(
                "QG605", f"The model {model} cannot be fitted to the records: {problem}.", "Request another model."
            ) from None
    return found


def try_recipe(
    spec: ExtractSpec,
    material: Material,
    recipe: Recipe,
    before: Mapping[str, Fit],
    draw: Draw,
    repetitions: int = REPETITIONS,
) -> RecipeTrial:
    """Condense several times over and fit each model each time."""
    levels = model_levels(material.policy, material.raw)
    found: dict[str, list[ModelComparison]] = {name: [] for name in before}
    for number in range(repetitions):
        made = material.made(recipe, draw(f"trial {recipe} {recipe.k} {number}"))
        columns = model_columns(table_of(material.policy, made.data, material.raw))
        for model in spec.models:
            found[str(model)].append(compare(before[str(model)], fitted(model, columns, levels)))
    return RecipeTrial(recipe, {name: average(many) for name, many in found.items()})


def fitted(model: RecipientModel, columns: Mapping[str, Any], levels: Mapping[str, tuple[str, ...]]) -> Fit | None:
    """The model, or None if it has no solution."""
    try:
        return fit(model, columns, levels)
    except Unfit:
        return None


def _recipes(spec: ExtractSpec, policy: Policy) -> list[Recipe]:
    methods = [spec.method] if spec.method else ["improved"] if spec.times == "kept" else ["improved", "condensation"]
    tuned = any(name in SHARES for name, _ in spec.tolerances)
    sizes = [policy.k] if spec.k is not None or not tuned else [policy.k * times for times in LARGER]
    found = []
    for method in methods:
        weights: Sequence[float] = WEIGHTS if method == "improved" and spec.models else (0.5,)
        found += [recipe_for(spec, policy, method, k, weight) for k in sizes for weight in weights]
    return found


def _limits(spec: ExtractSpec) -> dict[str, float]:
    return {name: limit for name, limit in spec.tolerances if name in SHARES}


def _rank(trial: RecipeTrial, limits: Mapping[str, float]) -> tuple[float, ...]:
    """Sort key: within the limits first, then the largest k, then the smallest change."""
    changed = sum(trial.worst(share) for share in SHARES)
    return _excess(trial, limits), -trial.recipe.k if limits else 0, changed, abs(trial.recipe.weight - 0.5)


def _excess(trial: RecipeTrial, limits: Mapping[str, float]) -> float:
    return max((max(0.0, trial.worst(share) - limit) for share, limit in limits.items()), default=0.0)


def _refused(best: RecipeTrial, limits: Mapping[str, float]) -> ExtractRefused:
    told = ", ".join(
        f"{share} {best.worst(share):.1%} (requested: at most {limit:.1%})" for share, limit in sorted(limits.items())
    )
    return ExtractRefused(
        "QG605",
        f"No method that was tried meets the requested tolerances. The closest, {best.recipe} with k = "
        f"{best.recipe.k}, changes: {told}.",
        "Relax the tolerances, use a smaller k, or use fewer terms in the models.",
    )
