"""What attackers know: (c,k)-safety and mined rules, on the papers' hospital and on Adult.

Martin et al. (ICDE 2007) report the surest belief in an occupation of Adult, in classes of anonymised tables, by the
number of implications that somebody knows; a figure of theirs, without numbers in the text, shows it near 1 from six
pieces on at low entropies. Li and Li (ICDE 2008) mine rules of Adult too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from querygate.methods.anonymise import Distinct, Safety, Sensitive, Table, mondrian
from querygate.methods.anonymise.knowledge_check import mined_knowledge, worst_belief
from tests.bench.adult import adult_columns, attribute_of
from tests.bench.literature import figure

K = 10
KNOWN = ("age", "sex", "race", "marital-status", "education")
HOSPITAL = np.repeat([0, 1], 5), np.array([0, 0, 1, 1, 2, 0, 0, 3, 4, 5])


def rows() -> list[dict[str, Any]]:
    return [*_hospital(), *_adult()]


def _hospital() -> Iterator[dict[str, Any]]:
    for pieces, published in ((0, 2 / 5), (1, 2 / 3), (2, 1.0)):
        found = worst_belief(*HOSPITAL, None, pieces)
        name = f"hospital of Martin et al.: surest belief, {pieces} pieces"
        yield figure(name, 100 * found, "%", f"{100 * published:.1f} %", met=abs(found - published) < 1e-6)


def _adult() -> Iterator[dict[str, Any]]:
    """Occupation, in classes of 10 records of Mondrian over four columns, with and without guards."""
    codes = [adult_columns()[name] for name in KNOWN]
    _, occupation = adult_columns()["occupation"]
    combination, counts, of = _combinations([code for _, code in codes])
    attributes = [
        attribute_of(name, domain, np.ascontiguousarray(column))
        for name, (domain, _), column in zip(KNOWN, codes, combination.T, strict=True)
    ]
    sensitive = Sensitive("occupation", of, occupation, np.ones_like(of), int(occupation.max()) + 1)
    table = Table(tuple(attributes), counts)
    guards = {
        "k alone": (),
        "distinct 3-diversity": (Distinct(sensitive, 3),),
        "(0.7,1)-safety": (Safety(sensitive, 0.7, 1),),
    }
    for name, given in guards.items():
        classes = mondrian(table, K, given)[of]
        for pieces in (0, 1, 3):
            found = worst_belief(classes, occupation, None, pieces)
            met = found <= 0.7 if (name, pieces) == ("(0.7,1)-safety", 1) else None
            yield figure(f"Adult, {name}: surest belief, {pieces} pieces", 100 * found, "%", "a curve", met=met)
        told = mined_knowledge(classes, [code for _, code in codes[1:]], occupation, expected=K)
        yield figure(f"Adult, {name}: fewest values left by {told.rules} rules", told.plausible, "values", "a curve")
        yield figure(f"Adult, {name}: classes", int(classes.max()) + 1, "", "none")


def _combinations(columns: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    found, of, counts = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True, return_counts=True)
    return found, counts, of.reshape(-1)
