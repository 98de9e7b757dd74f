"""The families of noisy models, fitted by diffprivlib on data within public bounds.

Neighbours differ by one record, added or removed; the number of records is as secret as the rest. diffprivlib 0.6
assumes otherwise in places, so its models are used only in forms for which its noise is enough (decision 111):

- *linear*: without its intercept (a constant column instead) and within [-1, 1]. Otherwise the sensitivity of a square
  is taken from the lower bound alone, and centring divides by the exact number of records.
- *logistic*: rows of norm at most 1, the constant column included. The library takes the norm where its square counts,
  which is the same for 1.
- *bayes*: noisy counts of classes are not made to add up to the exact number of records.
- *kmeans*: every cluster has its own centre among its members, so that none is empty, which would show; and the two
  parts of epsilon go where they belong, not the other way round.
- *pca*: centred before, by a mean drawn here.

A few public records are always added, so that no family fails because a record or a class is missing.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from querygate.core.types import Floats, Ints
from querygate.custody.noisy_models.public_design import PublicColumn, cells_of, complete_rows, design_of
from querygate.methods.dp import MECHANISMS, Entropy

Answer = dict[str, Any]
STEPS = 1 << 20
"""Steps of a scaled number, so that its sum is a whole number with exact noise."""


def fit_linear(
    table: pa.Table, response: PublicColumn, columns: Sequence[PublicColumn], epsilon: float, dp: Any
) -> Answer:
    """Functional mechanism (Zhang and others 2012): noise on every coefficient of the squared error."""
    table = complete_rows(table, (response, *columns))
    x = _with_constant(design_of(table, columns))
    y = response.scaled(table[response.name])
    account = dp.BudgetAccountant(epsilon)
    fitted = dp.models.LinearRegression(
        epsilon=epsilon, bounds_X=(-1.0, 1.0), bounds_y=(-1.0, 1.0), fit_intercept=False, accountant=account
    )
    fitted.fit(np.vstack([x, _anchor(x)]), np.append(y, 0.0))
    least = float(np.linalg.eigvalsh(fitted._obj_coefs[2])[0])
    found = _coefficients(np.asarray(fitted.coef_, dtype=np.float64), columns, response)
    return {**found, "stable": bool(least > 0), "account": account.total()[0]}


def fit_logistic(
    table: pa.Table, response: PublicColumn, columns: Sequence[PublicColumn], epsilon: float, dp: Any
) -> Answer:
    """Objective perturbation (Chaudhuri, Monteleoni and Sarwate 2011), one value of the response against the rest."""
    table = complete_rows(table, (response, *columns))
    x = _with_constant(design_of(table, columns))
    norm = math.sqrt(1 + len(columns))  # norm of a row: each column, however many terms it has, adds at most 1
    classes = np.arange(len(response.values))
    rows = np.vstack([x, *(_anchor(x) for _ in classes)]) / norm
    y = np.append(response.places(table[response.name]), classes)
    account = dp.BudgetAccountant(epsilon)
    fitted = dp.models.LogisticRegression(
        epsilon=epsilon, data_norm=1.0, fit_intercept=False, tol=1e-8, max_iter=1000, accountant=account
    )
    fitted.fit(rows, y)
    told = response.values[1:] if len(response.values) == 2 else response.values
    models = [_coefficients(one / norm, columns, None) for one in np.asarray(fitted.coef_, dtype=np.float64)]
    return {"models": [{"value": value, **one} for value, one in zip(told, models, strict=True)]} | {
        "account": account.total()[0]
    }


def fit_bayes(
    table: pa.Table, response: PublicColumn, columns: Sequence[PublicColumn], epsilon: float, dp: Any
) -> Answer:
    """Gaussian naive Bayes (Vaidya and others 2013): a noisy count of each class, mean and variance of each term."""
    from diffprivlib.mechanisms import GeometricTruncated

    class Counted(dp.models.GaussianNB):  # type: ignore[misc]
        def _noisy_class_counts(self, y: Ints, random_state: Any) -> Ints:
            drawn = GeometricTruncated(epsilon=self.epsilon / 3, sensitivity=1, lower=1, upper=sys.maxsize)
            return np.array([drawn.randomise(int((y == one).sum())) for one in np.unique(y)])

    table = complete_rows(table, (response, *columns))
    x = (design_of(table, columns) + 1) / 2  # sums of [0, 1] change by no more than the width of the bounds
    classes = np.arange(len(response.values))
    account = dp.BudgetAccountant(epsilon)
    fitted = Counted(epsilon=epsilon, bounds=(0.0, 1.0), accountant=account)
    middle = np.full((classes.size, x.shape[1]), 0.5)
    fitted.fit(np.vstack([x, middle]), np.append(response.places(table[response.name]), classes))
    terms = [(column, term) for column in columns for term in column.terms]
    told = []
    for at, value in enumerate(response.values):
        means = {t: _natural(c, 2 * m - 1) for (c, t), m in zip(terms, fitted.theta_[at], strict=True)}
        spread = {t: _spread(c, v) for (c, t), v in zip(terms, fitted.var_[at], strict=True)}
        told.append({"value": value, "share": float(fitted.class_prior_[at]), "mean": means, "sd": spread})
    return {"classes": told, "account": account.total()[0]}


def fit_pca(
    table: pa.Table, columns: Sequence[PublicColumn], parts: int, epsilon: float, dp: Any, entropy: Entropy
) -> Answer:
    """Components of the covariance about a noisy mean (Imtiaz and Sarwate 2016), which takes half of epsilon."""
    table = complete_rows(table, columns)
    x = design_of(table, columns)
    mean = _noisy_mean(x, epsilon / 2, entropy)
    norm = math.sqrt(float(((1 + np.abs(mean)) ** 2).sum()))
    rows = np.vstack([x - mean, np.zeros((parts + 1, len(columns)))])  # public ones: at the mean
    account = dp.BudgetAccountant(epsilon / 2)
    fitted = dp.models.PCA(parts, epsilon=epsilon / 2, data_norm=norm, centered=True, accountant=account).fit(rows)
    shares = np.asarray(fitted.explained_variance_ratio_, dtype=np.float64)
    told = [
        {"share": float(share), "direction": {c.name: float(w) for c, w in zip(columns, axis, strict=True)}}
        for share, axis in zip(shares, np.asarray(fitted.components_), strict=False)
    ]
    centre = {column.name: column.natural(float(m)) for column, m in zip(columns, mean, strict=True)}
    return {"centre": centre, "components": told, "account": epsilon / 2 + account.total()[0]}


def fit_kmeans(table: pa.Table, columns: Sequence[PublicColumn], parts: int, epsilon: float, dp: Any) -> Answer:
    """Lloyd's iterations with noisy counts and sums (Su and others 2016)."""

    class Kept(dp.models.KMeans):  # type: ignore[misc]
        def _update_centers(self, X: Floats, centers: Floats, labels: Ints, **more: Any) -> Any:  # noqa: N803
            own = np.arange(self.n_clusters)
            return super()._update_centers(
                np.vstack([X, centers]), centers=centers, labels=np.append(labels, own), **more
            )

        def _split_epsilon(self, dims: int, total_iters: int, rho: float = 0.225) -> tuple[float, float]:
            of_counts = float(np.cbrt(4 * dims * rho**2))  # where each sum has 1
            part = self.epsilon / total_iters / (dims + of_counts)
            return of_counts * part, part

    table = complete_rows(table, columns)
    x = (design_of(table, columns) + 1) / 2
    account = dp.BudgetAccountant(epsilon)
    fitted = Kept(parts, epsilon=epsilon, bounds=(0.0, 1.0), accountant=account)
    fitted.fit(np.vstack([x, np.full((parts, len(columns)), 0.5)]))
    centres = [
        {column.name: column.natural(2 * float(c) - 1) for column, c in zip(columns, centre, strict=True)}
        for centre in fitted.cluster_centers_
    ]
    return {"centres": centres, "account": account.total()[0]}


def fit_histogram(table: pa.Table, columns: Sequence[PublicColumn], parts: int, epsilon: float, dp: Any) -> Answer:
    """A noisy count of every public cell. Missing and undeclared values have a cell of their own in each column."""
    codes, labels = zip(*(cells_of(table, column, parts) for column in columns), strict=True)
    account = dp.BudgetAccountant(epsilon)
    edges = [np.arange(len(one) + 1) - 0.5 for one in labels]
    counts, _ = dp.tools.histogramdd(
        np.stack(codes, axis=1).astype(np.float64),
        epsilon=epsilon,
        bins=edges,
        range=[(one[0], one[-1]) for one in edges],
        accountant=account,
    )
    told = [
        {
            **{c.name: labels[at][place] for at, (c, place) in enumerate(zip(columns, cell, strict=True))},
            "count": int(n),
        }
        for cell, n in np.ndenumerate(counts)
    ]
    return {"cells": told, "account": account.total()[0]}


# -- helpers ---------------------------------------------------------------------------------------------------------


def _with_constant(x: Floats) -> Floats:
    return np.concatenate([x, np.ones((len(x), 1))], axis=1)


def _anchor(x: Floats) -> Floats:
    """A public record: the middle of every domain, and the constant."""
    return np.append(np.zeros(x.shape[1] - 1), 1.0)


def _coefficients(found: Floats, columns: Sequence[PublicColumn], response: PublicColumn | None) -> Answer:
    """From scaled columns to ordinary units: the effect of one unit, and the value where all are 0."""
    per_unit = 1.0 if response is None else response.half
    names: dict[str, float] = {}
    intercept, at = float(found[-1]), 0
    for column in columns:
        for term in column.terms:
            step = float(found[at])
            if column.is_number:
                intercept -= step * (column.low / column.half + 1)
                step /= column.half
            names[term], at = step * per_unit, at + 1
    if response is not None:
        intercept = response.natural(intercept)
    return {"intercept": intercept, "coefficients": names}


def _natural(column: PublicColumn, scaled: float) -> float:
    return column.natural(float(scaled)) if column.is_number else float(scaled)


def _spread(column: PublicColumn, variance: float) -> float:
    return 2 * math.sqrt(max(float(variance), 0.0)) * (column.half if column.is_number else 1.0)


def _noisy_mean(x: Floats, epsilon: float, entropy: Entropy) -> Floats:
    """The mean from sums and a number of records with exact noise, clamped to possible means."""
    noise, part = MECHANISMS.get("geometric"), epsilon / (x.shape[1] + 1)
    count = max(noise.release(len(x), sensitivity=1, epsilon=part, entropy=entropy).value, 1)
    sums = [
        noise.release(int(total), sensitivity=STEPS, epsilon=part, entropy=entropy).value
        for total in np.rint(x * STEPS).astype(np.int64).sum(axis=0)
    ]
    return np.clip([float(Fraction(int(one), STEPS) / Fraction(int(count))) for one in sums], -1.0, 1.0)
