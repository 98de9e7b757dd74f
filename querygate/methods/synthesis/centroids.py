"""Every record of a cluster becomes its centroid: means of numbers, the most frequent category."""

from __future__ import annotations

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.methods.synthesis.cluster_sums import Clusters
from querygate.methods.synthesis.microdata import Microdata, Variable


def masked(data: Microdata, clusters: Clusters) -> Microdata:
    """Centroids. A number is missing where more than half of the cluster's are; of equally frequent categories, the
    first.

    >>> age = Variable("age", "integer", 0, 120)
    >>> masked(Microdata((age,), {"age": np.array([1.0, 4.0, 9.0])}), Clusters(np.array([0, 0, 1]))).columns["age"]
    array([2., 2., 9.])
    """
    columns: dict[str, Floats | Ints] = {}
    for variable in data.variables:
        mask = _mean if variable.is_number else _mode
        columns[variable.name] = mask(variable, data.columns[variable.name], clusters)
    return Microdata(data.variables, columns)


def _mean(variable: Variable, column: Floats | Ints, clusters: Clusters) -> Floats:
    known = ~np.isnan(column)
    counts = clusters.sums(known)
    means = clusters.sums(np.where(known, column, 0.0)) / np.maximum(counts, 1)
    if variable.kind == "integer":
        means = np.rint(means)
    return np.where(2 * counts < clusters.sizes, np.nan, np.clip(means, *variable.bounds))[clusters.labels]


def _mode(variable: Variable, column: Floats | Ints, clusters: Clusters) -> Ints:
    levels, codes = np.unique(column, return_inverse=True)
    pairs, counts = np.unique(clusters.labels * levels.size + codes, return_counts=True)
    order = np.lexsort((pairs, -counts, pairs // levels.size))
    firsts = order[np.searchsorted(pairs[order] // levels.size, np.arange(clusters.count))]
    modes: Ints = levels[pairs[firsts] % levels.size].astype(np.int64)
    return modes[clusters.labels]
