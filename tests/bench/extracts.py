"""What extracts keep of a recipient's models: rotterdam, colon, flchain and nafld1, K = 20, 50, 100.

For Cox, linear and logistic models, and five ways to make an extract, how many coefficients changed significance, how
many significant ones changed sign, and how many left the original's 95 % interval; averages over QUERYGATE_REPEATS (25)
repetitions of the ways that draw at random. `run` writes the tables of docs/explanation/measured-extracts.md.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from querygate.core.extracts.extract_spec import Family, RecipientModel
from querygate.core.extracts.model_formula import Formula, parse_formula
from querygate.methods.anonymise import ANONYMISERS, Attribute, Intervals, Table, boxes, partition_check
from querygate.methods.model_fit import (
    Fit,
    ModelComparison,
    Unfit,
    average,
    compare,
    conditional_privacy,
    fit,
)
from querygate.methods.synthesis import METHODS, Microdata, Variable, condense
from tests.places import ROOT
from tests.report import row
from tests.unit.methods.model_fit.survival import survival

DOCUMENT = ROOT / "docs" / "explanation" / "measured-extracts.md"
REPEATS = int(os.environ.get("QUERYGATE_REPEATS", "25"))
SIZES = (20, 50, 100)
WAYS = ("improved", "condensation", "tfrp", "mdav", "k-anonymous")
SEED = 2014

MODELS: dict[str, dict[Family, str]] = {
    "rotterdam": {
        "cox": "Surv(dtime, death) ~ age + meno + size + grade + nodes + pgr + er + hormon + chemo",
        "linear": "nodes ~ age + meno + size + grade + pgr + er",
        "logistic": "death ~ age + meno + size + grade + nodes + pgr + er + hormon + chemo",
    },
    "colon": {
        "cox": "Surv(time, status) ~ rx + sex + age + obstruct + adhere + nodes + differ + extent + surg",
        "linear": "nodes ~ sex + age + obstruct + adhere + differ + extent",
        "logistic": "status ~ rx + sex + age + obstruct + adhere + nodes + differ + extent + surg",
    },
    "flchain": {
        "cox": "Surv(futime, death) ~ age + sex + kappa + lambda + creatinine + mgus",
        "linear": "creatinine ~ age + sex + kappa + lambda + mgus",
        "logistic": "death ~ age + sex + kappa + lambda + creatinine + mgus",
    },
    "nafld1": {
        "cox": "Surv(futime, status) ~ age + male + weight + height",
        "linear": "weight ~ age + male + height",
        "logistic": "status ~ age + male + weight + height",
    },
}
CATEGORIES = {"size": ("<=20", "20-50", ">50"), "rx": ("Obs", "Lev", "Lev+5FU"), "sex": ("F", "M"), "grade": ("2", "3")}
"""Texts, and what is one though it is written as a number; the first value is the one others are compared with."""

Columns = dict[str, np.ndarray]


@dataclass(frozen=True)
class Case:
    """One row of the tables."""

    study: str
    k: int
    family: Family

    @property
    def model(self) -> RecipientModel:
        return RecipientModel(self.family, MODELS[self.study][self.family])


@dataclass(frozen=True)
class Outcome:
    """What one way made of a case. `privacy`: how many years an age is still open, given the one in the extract."""

    compared: ModelComparison
    privacy: float


CASES = tuple(Case(study, k, family) for family in ("cox", "linear", "logistic") for study in MODELS for k in SIZES)


@cache
def original(case: Case) -> Columns:
    """The columns of the model, of the records that have them all. Of colon, the records of deaths: one per patient."""
    data = survival(case.study)
    wanted = parse_formula(case.model).columns
    keep = data["etype"] == 2 if case.study == "colon" else np.ones(len(data["age"]), dtype=np.bool_)
    columns = {name: _texts(name, data[name]) for name in wanted}
    for values in columns.values():
        keep &= ~np.isnan(values) if values.dtype.kind == "f" else values != ""
    return {name: values[keep] for name, values in columns.items()}


def _texts(name: str, values: np.ndarray) -> np.ndarray:
    if name not in CATEGORIES or (name == "sex" and values.dtype.kind == "f"):
        return values
    return np.array([value if isinstance(value, str) else f"{value:g}" for value in values])


def levels(columns: Columns) -> dict[str, tuple[str, ...]]:
    return {name: CATEGORIES[name] for name, values in columns.items() if values.dtype.kind == "U"}


# -- ways to make an extract ---------------------------------------------------------------------------


def extract(case: Case, way: str, repetition: int) -> Columns:
    """Record i of it was made for record i of the original."""
    if way == "k-anonymous":
        return k_anonymous(original(case), parse_formula(case.model), case.k)
    columns = original(case)
    made = condense(
        microdata(columns),
        case.k,
        method=way,
        **_told(case) if METHODS.get(way).tailored else {},
        keep_times=True,  # as published
        rng=np.random.default_rng([SEED, repetition]),
    )
    return {
        name: np.array(CATEGORIES[name])[made.data.columns[name]]
        if values.dtype.kind == "U"
        else made.data.columns[name]
        for name, values in columns.items()
    }


def _told(case: Case) -> dict[str, Any]:
    """What a way that is tailored to the model is told of it."""
    formula = parse_formula(case.model)
    if case.family == "logistic":
        return {"status": formula.response}
    return {"response": formula.response, "status": formula.status}


def microdata(columns: Columns) -> Microdata:
    """Texts as codes, 0 and 1 as such, and numbers that are not negative, whole where all of them are."""
    variables, values = [], {}
    for name, column in columns.items():
        if column.dtype.kind == "U":
            variables.append(Variable(name, "category", size=len(CATEGORIES[name])))
            values[name] = np.argmax(column[:, None] == np.array(CATEGORIES[name]), axis=1)
        elif np.isin(column, (0, 1)).all():
            variables.append(Variable(name, "boolean"))
            values[name] = column.astype(np.int64)
        else:
            variables.append(Variable(name, "integer" if (column == np.rint(column)).all() else "number", low=0))
            values[name] = column
    return Microdata(tuple(variables), values)


def k_anonymous(columns: Columns, formula: Formula, k: int) -> Columns:
    """Covariates of each class as the middle of its interval or its most frequent value; what is modelled stays."""
    kept = {formula.response, formula.status}
    attributes = tuple(_attribute(name, values) for name, values in columns.items() if name not in kept)
    table = Table(attributes, np.ones(len(attributes[0].codes), dtype=np.int64))
    labels = ANONYMISERS.get("snake-polished")(table, k)
    if partition_check.smallest_class(labels, table.counts) < k:
        raise AssertionError(f"a class of fewer than {k} records")
    made = dict(columns)
    for attribute, box in zip(attributes, boxes(table, labels), strict=True):
        domain = np.unique(columns[attribute.name])
        if isinstance(box, Intervals):
            made[attribute.name] = (np.asarray(box.low) + np.asarray(box.high))[labels] / 2
        else:
            counts = np.zeros((int(labels.max()) + 1, domain.size), dtype=np.int64)
            np.add.at(counts, (labels, attribute.codes), 1)
            made[attribute.name] = domain[counts.argmax(axis=1)][labels]
    return made


def _attribute(name: str, values: np.ndarray) -> Attribute:
    domain, codes = np.unique(values, return_inverse=True)
    if values.dtype.kind == "U" or domain.size == 2:
        return Attribute.nominal(name, codes, domain.size)
    span = float(domain[-1] - domain[0])
    return Attribute(name, codes, domain.size, ordered=True, span=span, lower=domain, upper=domain)


# -- measuring -----------------------------------------------------------------------------------------


def measure(case: Case) -> dict[str, Outcome]:
    """Every way, by name."""
    columns = original(case)
    before = fit(case.model, columns, levels(columns))
    return {way: measure_way(case, way, before) for way in WAYS}


def measure_way(case: Case, way: str, before: Fit, repeats: int = 0) -> Outcome:
    columns = original(case)
    found, open_years = [], []
    for repetition in range((repeats or REPEATS) if way in METHODS and METHODS.get(way).drawn else 1):
        made = extract(case, way, repetition)
        found.append(compare(before, _refit(case, made, levels(columns))))
        if repetition == 0:
            open_years.append(conditional_privacy(columns["age"], made["age"]))
    return Outcome(average(found), float(np.mean(open_years)))


def _refit(case: Case, made: Columns, known: Mapping[str, tuple[str, ...]]) -> Fit | None:
    try:
        return fit(case.model, made, known)
    except Unfit:
        return None


# -- telling -------------------------------------------------------------------------------------------

MEASURES = ("significance", "sign", "outside")
NAMES = {"cox": "Cox", "linear": "Linear", "logistic": "Logistic"}
BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"

Found = dict[Case, dict[str, Outcome]]


def run() -> list[dict[str, Any]]:
    """Measure all cases, two at a time; write the tables; one row per figure for the bench report."""
    with ProcessPoolExecutor(2) as pool:
        found: Found = dict(zip(CASES, pool.map(_told_when_done, CASES), strict=True))
    before, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
    DOCUMENT.write_text(f"{before}{BEGIN}\n{tables(found)}{END}{rest.partition(END)[2]}", encoding="utf-8")
    return summary(found)


def _told_when_done(case: Case) -> dict[str, Outcome]:
    outcomes = measure(case)
    print(
        f"  {case.family} {case.study} K={case.k}: " + ", ".join(f"{w} {cell(outcomes[w])}" for w in WAYS), flush=True
    )
    return outcomes


def summary(found: Found) -> list[dict[str, Any]]:
    """In how many rows improved condensation is best or equal, and how much significance it changes at K = 100."""
    rows = []
    for family in NAMES:
        for measure_of in MEASURES:
            wins = [_is_best(o, measure_of) for case, o in found.items() if case.family == family]
            share, target = float(np.mean(wins)), 0.5 if family == "cox" else None
            name = f"Extracts, {NAMES[family]}: improved best or equal, {measure_of}"
            met = None if target is None else share > target
            rows.append(
                row(
                    name, share, f"of {len(wins)} rows", "condensation, TFRP, MDAV, k-anonymous", target=target, met=met
                )
            )
        changed = [
            100 * o["improved"].compared.significance for c, o in found.items() if (c.family, c.k) == (family, 100)
        ]
        name = f"Extracts, {NAMES[family]}, K=100: significance changed by improved"
        rows.append(row(f"{name}, least", min(changed), "%", "published 1.85-26 %"))
        rows.append(row(f"{name}, most", max(changed), "%", "published 1.85-26 %", target=26.0, met=max(changed) <= 26))
    return rows


def _is_best(outcomes: dict[str, Outcome], measure_of: str) -> bool:
    lost = {way: getattr(outcome.compared, measure_of) for way, outcome in outcomes.items()}
    rivals = [lost[way] for way, outcome in outcomes.items() if way != "improved" and not _has_no_fit(outcome)]
    return all(lost["improved"] <= rival + 1e-9 for rival in rivals)


def _has_no_fit(outcome: Outcome) -> bool:
    return outcome.compared.unfit == outcome.compared.repetitions


def cell(outcome: Outcome) -> str:
    """Three percentages; a dagger where some repetitions had no fit."""
    if _has_no_fit(outcome):
        return "no fit"
    shares = " / ".join(f"{100 * getattr(outcome.compared, name):.1f}" for name in MEASURES)
    return shares + (" †" if outcome.compared.unfit else "")


def tables(found: Found) -> str:
    """Markdown: the three percentages by family, and how open ages stay."""
    text = f"\nPercent that changed significance / changed sign / left the interval; means of {REPEATS} repetitions.\n"
    for family, name in NAMES.items():
        lines = [[c.study, str(c.k), *(cell(o[w]) for w in WAYS)] for c, o in found.items() if c.family == family]
        text += f"\n### {name}\n\n{_table(lines)}"
    lines = [[c.study, str(c.k), *(f"{o[w].privacy:.1f}" for w in WAYS)] for c, o in found.items() if c.family == "cox"]
    return f"{text}\n### How open an age stays: 2^h(age | age in the extract), years\n\n{_table(lines)}\n"


def _table(lines: list[list[str]]) -> str:
    head = ["data", "K", *WAYS]
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, ["---"] * len(head), *lines))
