"""The figures of an extract for reviewers, as one JSON object: guarantee, risk and utility.

Figures are aggregates of the raw records and of the extract; they contain no record and no identifier. Some are about
few people: recipient_figures.py selects those that are released.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa

from querygate.core.count_text import counted
from querygate.core.errors import ExtractRefused
from querygate.core.extracts.extract_spec import NO_K, ExtractSpec
from querygate.core.types import Floats, Ints
from querygate.custody.code_lists.code_items import explain_codes
from querygate.custody.columns.population import Population
from querygate.custody.extract.condensed_records import Draw, Material, Recipe
from querygate.custody.extract.kept_figures import associations, basics, codes_of, information
from querygate.custody.extract.protected_records import ProtectedRecords
from querygate.custody.extract.raw_tables import floats_of, model_columns, model_levels, out_of, table_of, texts_of
from querygate.custody.extract.recipe_trials import RecipeTrial, fits, fitted
from querygate.custody.policy import Policy
from querygate.methods.anonymise import partition_check
from querygate.methods.model_fit import ModelComparison, compare, conditional_privacy, similarity
from querygate.methods.risk import (
    KeptValues,
    Linkage,
    PointRecords,
    attack,
    class_sizes,
    explain_attackers,
    explain_drivers,
    explain_kept,
    explain_membership,
    explain_nearness,
    explain_numbers_told,
    explain_uniqueness,
    explain_values_told,
    kept_values,
    leave_one_out,
    linkage,
    membership,
    nearness,
    numbers_told,
    population_uniqueness,
    sample_uniqueness,
    values_told,
)

HOLDOUT = 0.5
"""The share of records left out of a trial extract, to test whether it reveals who was in it."""

NO_QUASI = (
    "The extract has no quasi-identifier, so all records are one class: people can be known only by codes and "
    "sequences."
)

SAID = 12
"""The most columns described in words."""

LARGEST_COMPARED = 20_000
"""The most records of each side for distances; a fixed rule samples larger sets."""


def make_figures(
    protected: ProtectedRecords,
    policy: Policy,
    spec: ExtractSpec,
    population: Population | None,
    risk: dict[str, Any],
    trials: Sequence[RecipeTrial],
) -> dict[str, Any]:
    """All figures, given the risk, which each kind of extract measures itself."""
    return {
        **promise(protected, policy, spec),
        "before": before(policy, protected.raw, population),
        "risk": risk,
        "utility": utility(protected, policy, spec, trials),
    }


def promise(protected: ProtectedRecords, policy: Policy, spec: ExtractSpec) -> dict[str, Any]:
    """What was made and its guarantees, as measured on the released records."""
    return {
        "kind": protected.kind,
        "method": protected.method,
        "k": protected.k,
        "k_asked": spec.k if spec.kind in NO_K else max(policy.k, spec.k or 0),
        "records": protected.records,
        "left_out": protected.left_out,
        "classes": int(np.unique(protected.classes).size),
        "columns": [field.name for field in protected.fields],
        "parameters": dict(protected.parameters),
        "guarantees": [asdict(kept) for kept in protected.kept],
        "loss": dict(protected.loss),
        "codes": [asdict(report) for report in protected.codes],
        "notes": [asdict(report) for report in protected.notes],
        "sequences": [asdict(report) for report in protected.sequences],
        "payloads": [asdict(report) for report in protected.payloads],
        "tried": [asdict(tried) for tried in protected.tried],
    }


# -- risk ------------------------------------------------------------------------------------------------------------


def before(policy: Policy, raw: pa.Table, population: Population | None) -> dict[str, Any]:
    """How exposed the raw records are, by which columns."""
    quasi = [c.name for c in policy.named("quasi-identifier") if c.name in raw.column_names]
    if not quasi:
        return {"unique": None, "drivers": [], "population": None, "words": []}
    codes = np.stack([codes_of(raw[name]) for name in quasi], axis=1)
    sizes = class_sizes(codes)
    drivers = leave_one_out(codes, quasi)
    words = [explain_drivers(drivers)]
    in_population = None
    if population is not None:
        found = population_uniqueness(sizes, int(population.persons.sum()))
        words.append(explain_uniqueness(found))
        in_population = asdict(found)
    return {
        "unique": sample_uniqueness(sizes),
        "drivers": [one.to_dict() for one in drivers],
        "population": in_population,
        "words": words,
    }


def risk_of_classes(
    protected: ProtectedRecords, policy: Policy, population: Population | None, people: Ints | None = None
) -> dict[str, Any]:
    """The risk of being found, and of what a class reveals. `people` are those who match each class, if known."""
    sizes = np.bincount(protected.classes).astype(np.int64)
    people = people if population is None else _people(protected, population)
    found = attack(sizes, people, protected.left_out)
    told, words = _told(protected, policy)
    by_codes = filter(None, map(explain_codes, protected.codes))
    first = explain_attackers(found) if policy.named("quasi-identifier") else NO_QUASI
    return {"attackers": found.to_dict(), "told": told, "words": [first, *by_codes, *words]}


def _people(protected: ProtectedRecords, population: Population) -> Ints:
    """How many people of the population fit each class."""
    names = [name for name in population.values if name in protected.sides]
    values = [population.values[name] for name in names]
    sides = [_known_sides(protected, population, name) for name in names]
    found = [partition_check.fewest_matches([box], values, population.persons) for box in zip(*sides, strict=True)]
    return np.array(found, dtype=np.int64)


def _known_sides(protected: ProtectedRecords, population: Population, name: str) -> list[partition_check.Side]:
    place = {text: i for i, text in enumerate(population.texts.get(name, ()))}
    return [
        frozenset(place.get(text, -1) for text in side) if isinstance(side, frozenset) else side
        for side in protected.sides[name]
    ]


def _told(protected: ProtectedRecords, policy: Policy) -> tuple[list[dict[str, Any]], list[str]]:
    lines, words = [], []
    for column in policy.named("sensitive"):
        raw = protected.raw[column.name]
        if column.is_numeric:
            width = float(column.guard or 2 * (column.grid or 0))
            numbers = numbers_told(protected.classes, floats_of(raw), width)
            lines.append({"column": column.name, "kind": "numbers", **numbers.to_dict()})
            words.append(explain_numbers_told(numbers, column.name))
        else:
            values = values_told(protected.classes, codes_of(raw))
            line = {key: value for key, value in values.to_dict().items() if key != "gains"}
            lines.append({"column": column.name, "kind": "values", **line})
            words.append(explain_values_told(values, column.name))
    more = len(words) - SAID
    return lines, [
        *words[:SAID],
        f"{counted(more, 'more column is', 'more columns are')} in the figures.",
    ] if more > 0 else words


def risk_of_synthetic(
    protected: ProtectedRecords, policy: Policy, material: Material, recipe: Recipe, draw: Draw
) -> dict[str, Any]:
    """The risk of synthetic records: do they coincide with real ones, follow them, or reveal who was there?"""
    original, synthetic = (
        _records(policy, protected.raw, protected.raw),
        _records(policy, protected.table, protected.raw),
    )
    rows = _drawn(len(original))
    near = nearness(original.take(rows), synthetic.take(rows))
    links = linkage(original.take(rows), synthetic.take(rows), protected.classes[rows], protected.classes[rows])
    kept = _kept(policy, protected)
    words = [*explain_kept(kept), explain_nearness(near)]
    found: dict[str, Any] = {"kept": [one.to_dict() for one in kept]}
    found |= {"nearness": near.to_dict(), "linkage": links.to_dict(), "membership": None}
    guess = _membership(policy, material, recipe, draw)
    if guess is not None:
        found["membership"] = guess.to_dict()
        words.append(explain_membership(guess))
    return {**found, "words": words}


def linkage_by_rows(protected: ProtectedRecords, policy: Policy) -> Linkage:
    """How often the nearest record of the extract is the one made from the person's own record."""
    sides = [_records(policy, table, protected.raw) for table in (protected.raw, protected.table)]
    rows = _drawn(protected.records)
    each = np.arange(rows.size)
    original, released = (side.take(rows) for side in sides)
    return linkage(original, released, each, each, same_rows=True)


def _kept(policy: Policy, protected: ProtectedRecords) -> list[KeptValues]:
    """Who can be found by each column whose values were restored."""
    levels = model_levels(policy, protected.raw)
    places: dict[str, dict[str | None, float]] = {
        name: {text: float(i) for i, text in enumerate(texts)} for name, texts in levels.items()
    }

    def floats(table: pa.Table) -> dict[str, Floats]:
        return {
            name: np.array([place.get(text, np.nan) for text in texts_of(table[name])])
            if (place := places.get(name)) is not None
            else floats_of(table[name])
            for name in table.column_names
        }

    original, released = floats(protected.raw), floats(protected.table)
    numbers = original.keys() - levels.keys()
    return [kept_values(original, released, name, policy.k, numbers) for name in protected.parameters["kept"]]


def _membership(policy: Policy, material: Material, recipe: Recipe, draw: Draw) -> Any:
    """Condense one half of the records, and guess from the result who was in it; None if a half cannot be condensed."""
    order = draw("holdout").permutation(material.raw.num_rows)
    inside, out = np.split(order, [round(len(order) * (1 - HOLDOUT))])
    half = Material(policy, material.raw.take(pa.array(inside)), material.data.take(inside))
    try:
        made = half.made(recipe, draw("half"))
    except ExtractRefused:
        return None
    synthetic = _records(policy, table_of(policy, made.data, material.raw), material.raw)
    sides = [_records(policy, material.raw.take(pa.array(rows)), material.raw) for rows in (inside, out)]
    members, others, shown = (side.take(_drawn(len(side))) for side in (*sides, synthetic))
    return membership(members, others, shown)


def _drawn(size: int) -> Ints:
    """Up to this many positions, evenly spaced: the records are in random order."""
    return np.linspace(0, size - 1, min(size, LARGEST_COMPARED)).astype(np.int64)


def _records(policy: Policy, table: pa.Table, raw: pa.Table) -> PointRecords:
    levels = model_levels(policy, raw)
    numbers = [floats_of(table[c.name]) for c in out_of(policy) if c.is_numeric]
    codes = []
    for name, texts in levels.items():
        place: dict[str | None, int] = {None: -1, **{text: i for i, text in enumerate(texts)}}
        values = table[name].cast(pa.string()).to_pylist()
        # a drawn value may be one that no raw record has
        codes.append(np.array([place.setdefault(text, len(place)) for text in values], dtype=np.int64))
    size = table.num_rows
    return PointRecords(
        np.stack(numbers, axis=1) if numbers else np.zeros((size, 0)),
        np.stack(codes, axis=1) if codes else np.zeros((size, 0), dtype=np.int64),
    )


# -- utility -----------------------------------------------------------------------------------------------------------


def utility(
    protected: ProtectedRecords, policy: Policy, spec: ExtractSpec, trials: Sequence[RecipeTrial]
) -> dict[str, Any]:
    """What the recipient's models and the distributions look like before and after."""
    levels = model_levels(policy, protected.raw)
    old, new = model_columns(protected.raw), model_columns(protected.usable)
    alike = similarity(old, new, levels)
    fitted_before = fits(spec, old, levels)
    models = {str(m): compare(fitted_before[str(m)], fitted(m, new, levels)) for m in spec.models}
    return {
        "distances": alike.distances,
        "correlations": {
            "names": list(alike.names),
            "before": _rounded(alike.before),
            "after": _rounded(alike.after),
            "largest_difference": alike.largest_difference,
        },
        **basics(protected, policy),
        "information": information(protected, policy),
        "associations": associations(protected, policy),
        "models": [_model(name, compared, trials) for name, compared in models.items()],
        "tried": [trial.to_dict() for trial in trials],
        "privacy": _privacy(protected, policy),
    }


def _model(name: str, compared: ModelComparison, trials: Sequence[RecipeTrial]) -> dict[str, Any]:
    """This extract, compared with the mean over repetitions of its recipe."""
    over = trials[0].models.get(name) if trials else None
    shares = ("significance", "sign", "outside")
    return {
        "model": name,
        **{share: getattr(compared, share) for share in shares},
        "repetitions": None
        if over is None
        else {"number": over.repetitions, **{share: getattr(over, share) for share in shares}},
        "terms": [{key: _finite(value) for key, value in asdict(term).items()} for term in compared.terms],
    }


def _privacy(protected: ProtectedRecords, policy: Policy) -> dict[str, float]:
    """Conditional privacy of each number, in its own unit: how uncertain it stays for somebody with the extract."""
    found = {}
    for column in out_of(policy):
        if not column.is_numeric or column.name not in protected.usable.column_names:
            continue
        original, released = (floats_of(table[column.name]) for table in (protected.raw, protected.usable))
        known = np.isfinite(original) & np.isfinite(released)
        rows = np.flatnonzero(known)[_drawn(int(known.sum()))] if known.any() else np.zeros(0, dtype=np.int64)
        if rows.size > 10:
            found[column.name] = conditional_privacy(original[rows, None], released[rows, None])
    return {name: value for name, value in found.items() if math.isfinite(value)}


def _rounded(matrix: Floats) -> list[list[float]]:
    return [[round(float(value), 4) for value in row] for row in matrix]


def _finite(value: Any) -> Any:
    """NaN and infinities have no place in JSON."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
