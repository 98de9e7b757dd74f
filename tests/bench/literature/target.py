"""Classes made for a task: how well classifiers and a regression do that are trained on them, on Adult.

LeFevre, DeWitt and Ramakrishnan (KDD 2006) anonymise training records of Adult with InfoGain Mondrian and with median
Mondrian, and classify held-out records: the error of the first hardly rises up to k = 100, that of the second does
(curves). Here 8,000 records are anonymised, and 4,000 others, as they are, are classified by a tree, a forest and
logistic regression: a range counts as its middle, and a set of categories as an equal share of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from querygate.methods.anonymise import ANONYMISERS, Intervals, Table, Target, ValueSets, boxes, ncp
from tests.bench.adult import SENSITIVE, adult_columns, adult_table
from tests.bench.literature import figure
from tests.unit.methods.anonymise.tables import by_record

TRAINED, TESTED = 8_000, 4_000
KS = (10, 100)
CLASSIFIERS = {
    "tree": DecisionTreeClassifier(min_samples_leaf=20, random_state=0),
    "forest": RandomForestClassifier(60, min_samples_leaf=5, random_state=0, n_jobs=1),
    "logistic": LogisticRegression(max_iter=2000),
}


def rows() -> list[dict[str, Any]]:
    return [*_classified(), *_regressed()]


def _records() -> tuple[Table, np.ndarray]:
    """Each record with its own salary class, in a fixed order that mixes them."""
    whole = adult_table()
    names = [a.name for a in whole.attributes]
    codes = [adult_columns()[name][1] for name in names]
    order = np.random.default_rng(1).permutation(codes[0].size)[: TRAINED + TESTED]
    attributes = tuple(
        replace(a, codes=np.ascontiguousarray(code[order])) for a, code in zip(whole.attributes, codes, strict=True)
    )
    return by_record(Table(attributes, np.ones(order.size, dtype=int))), adult_columns()[SENSITIVE][1][order]


def _part(table: Table, rows: slice) -> Table:
    return Table(tuple(replace(a, codes=a.codes[rows]) for a in table.attributes), table.counts[rows])


def features(table: Table, labels: np.ndarray | None) -> np.ndarray:
    """Middles, and shares of categories; of the records as they are where there are no classes."""
    classes = np.arange(table.combinations) if labels is None else labels
    found = []
    for attribute, box in zip(table.attributes, boxes(table, classes), strict=True):
        if isinstance(box, Intervals):
            found.append(((box.low + box.high) / 2)[classes, None] / attribute.size)
        elif isinstance(box, ValueSets):
            shares = np.zeros((int(classes.max()) + 1, attribute.size))
            sizes = np.diff(box.starts)
            shares[np.repeat(np.arange(sizes.size), sizes), box.codes] = np.repeat(1 / sizes, sizes)
            found.append(shares[classes])
    return np.concatenate(found, axis=1)


def _classified() -> Iterator[dict[str, Any]]:
    table, salary = _records()
    train, test = _part(table, slice(TRAINED)), _part(table, slice(TRAINED, None))
    known, asked = salary[:TRAINED], salary[TRAINED:]
    tested = features(test, None)

    def accuracy(labels: np.ndarray | None) -> dict[str, float]:
        trained = features(train, labels)
        return {name: model.fit(trained, known).score(tested, asked) for name, model in CLASSIFIERS.items()}

    for name, right in accuracy(None).items():
        yield figure(f"Adult, salary predicted by a {name}, raw records", 100 * right, "%", "a curve")
    yield figure(
        "Adult, salary predicted by its commonest value", 100 * np.bincount(asked).max() / asked.size, "%", "none"
    )
    for k in KS:
        found = {}
        for method in ("mondrian", "mondrian-target"):
            target = Target(known.astype(float), int(salary.max()) + 1)
            labels = ANONYMISERS.get(method)(replace(train, target=target), k)
            found[method] = accuracy(labels)
            yield figure(f"Adult, NCP of {method}, k = {k}", 100 * ncp(train, labels), "%", "none")
            for name, right in found[method].items():
                yield figure(f"Adult, salary predicted by a {name}, {method}, k = {k}", 100 * right, "%", "a curve")
    ahead = found["mondrian-target"]["logistic"] - found["mondrian"]["logistic"]
    yield figure("Adult, logistic gains by the target, k = 100", 100 * ahead, "points", "> 0", met=ahead > 0)


def _regressed() -> Iterator[dict[str, Any]]:
    """Age, by all others: the share of its variance that a tree explains."""
    table, _ = _records()
    others = tuple(a for a in table.attributes if a.name != "age")
    ages = next(a.codes for a in table.attributes if a.name == "age").astype(float)
    table = Table(others, table.counts)
    train, test = _part(table, slice(TRAINED)), _part(table, slice(TRAINED, None))
    model, tested = DecisionTreeRegressor(min_samples_leaf=20, random_state=0), features(test, None)
    found = {}
    for k in KS:
        for method in ("mondrian", "mondrian-target"):
            labels = ANONYMISERS.get(method)(replace(train, target=Target(ages[:TRAINED], 0)), k)
            found[method] = model.fit(features(train, labels), ages[:TRAINED]).score(tested, ages[TRAINED:])
            yield figure(f"Adult, variance of age explained, {method}, k = {k}", 100 * found[method], "%", "a curve")
    ahead = found["mondrian-target"] - found["mondrian"]
    yield figure("Adult, variance of age explained more, k = 100", 100 * ahead, "points", "> 0", met=ahead > 0)
