"""From synthetic points back to values that a variable permits, keeping of each cluster what can be kept.

- Categories: as many records of each value as the cluster had, given to those that lean to it most. Shares of values
  are exact in every cluster; a normal draw turned into 0 and 1 weakens correlations with other variables a little.
- Whole numbers of few permissible values (a grade) are categories with an order: the cluster's own values, by rank.
- Missing numbers: as many as the cluster had, by the feature that says so. The others are moved and stretched to the
  mean and standard deviation of the values the cluster knows; not if it knows fewer than k / 2 (or 3): those few would
  be told too well.
- Bounds: clusters with draws outside are stretched and moved so that, cut off, they keep mean and standard deviation
  (bounds.py). Means are exact; where most values lie at a bound and few are far away the spread becomes smaller.
- Other whole numbers: rounded so that the cluster's sum is the original's.
"""

from __future__ import annotations

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.synthesis.cluster_sums import Clusters
from querygate.methods.synthesis.microdata import Microdata, Variable
from querygate.methods.synthesis.record_points import EncodedMicrodata, FeatureBlock
from querygate.methods.synthesis.value_bounds import bounded, whole

FEW = 12
BARRED = -1e12
"""The score of a category that a cluster does not have."""


def permissible(
    data: Microdata, encoded: EncodedMicrodata, raw: Floats, clusters: Clusters, k: int, returned: str | None
) -> Microdata:
    """Permissible values of all variables; of the one `returned`, the cluster's own values, by rank."""
    columns: dict[str, Floats | Ints] = {}
    for block in encoded.blocks:
        column = data.columns[block.variable.name]
        if not block.variable.is_number:
            columns[block.variable.name] = _categories(block, column.astype(np.int64), raw, clusters)
        elif block.variable.name == returned or has_few_values(block.variable):
            columns[block.variable.name] = _by_rank(block, column.astype(np.float64), raw, clusters)
        else:
            columns[block.variable.name] = _numbers(block, column.astype(np.float64), raw, clusters, k)
    return Microdata(data.variables, columns)


def _categories(block: FeatureBlock, column: Ints, raw: Floats, clusters: Clusters) -> Ints:
    levels = np.array(block.levels, dtype=np.int64)
    if levels.size == 1:
        return np.full(column.size, levels[0])
    codes = np.searchsorted(levels, column)
    by_frequency = np.argsort(-np.bincount(codes), kind="stable")
    places = np.argsort(by_frequency)[codes]
    counts = np.bincount(clusters.labels * levels.size + places, minlength=clusters.count * levels.size)
    counts = counts.reshape(clusters.count, levels.size)
    scores = np.where(counts[clusters.labels] > 0, block.scores(raw)[:, by_frequency], BARRED)
    given = _assign(scores, counts, clusters)
    return levels[by_frequency[given]]


def _assign(scores: Floats, counts: Ints, clusters: Clusters) -> Ints:
    """Per record one of the columns of `scores`: each as often in a cluster as counted, high scores preferred.

    Column after column takes the records that gain most by it over the best of the columns still to come.
    """
    later = np.maximum.accumulate(scores[:, ::-1], axis=1)[:, ::-1]
    given = np.full(len(scores), scores.shape[1] - 1, dtype=np.int64)
    free = np.arange(len(scores))
    for place in range(scores.shape[1] - 1):
        gain = scores[free, place] - later[free, place + 1]
        chosen = _highest_of(gain, clusters.labels[free], counts[:, place])
        given[free[chosen]] = place
        free = free[~chosen]
    return given


def _highest_of(scores: Floats, labels: Ints, wanted: Ints) -> Bools:
    """`Clusters.highest` where clusters may be empty."""
    present, compact = np.unique(labels, return_inverse=True)
    return Clusters(compact).highest(scores, wanted[present])


def has_few_values(variable: Variable) -> bool:
    """Is it a whole number of which the cluster's own values are given back?"""
    low, high = variable.bounds
    return variable.kind == "integer" and high - low < FEW


def _by_rank(block: FeatureBlock, column: Floats, raw: Floats, clusters: Clusters) -> Floats:
    """The original values of each cluster, the least to the record that drew the least. Missing ones stay missing."""
    missing = _missing(block, column, raw, clusters)
    drawn = np.where(missing, np.inf, block.numbers(raw))
    given = np.empty_like(column)
    given[clusters.sorted_by(drawn)] = column[clusters.sorted_by(column)]  # NaN sorts last, as infinity does
    return given


def _missing(block: FeatureBlock, column: Floats, raw: Floats, clusters: Clusters) -> Bools:
    missing = np.isnan(column)
    if not missing.any() or missing.all():
        return missing
    return clusters.highest(raw[:, block.start + 1], clusters.sums(missing).astype(np.int64))


def _numbers(block: FeatureBlock, column: Floats, raw: Floats, clusters: Clusters, k: int) -> Floats:
    missing = _missing(block, column, raw, clusters)
    made = np.full(column.size, np.nan)
    if missing.all():
        return made
    kept = np.flatnonzero(~missing)
    known = np.flatnonzero(~np.isnan(column))
    # The same clusters, by number, have known values before and after, as many of them.
    drawn = Clusters(np.unique(clusters.labels[kept], return_inverse=True)[1])
    truth = Clusters(np.unique(clusters.labels[known], return_inverse=True)[1])
    values = block.numbers(raw)[kept]
    means = truth.means(column[known, None])[:, 0]
    if missing.any():
        values, means = _restored(values, drawn, column[known], truth, k)
    low, high = block.variable.bounds
    values = bounded(values, drawn, np.clip(means, low, high), low, high)
    if block.variable.kind == "integer":
        values = whole(values, drawn, np.rint(means * drawn.sizes), low, high)
    made[kept] = values
    return made


def _restored(values: Floats, drawn: Clusters, column: Floats, truth: Clusters, k: int) -> tuple[Floats, Floats]:
    """Values with the mean and standard deviation of what a cluster knows, where it knows enough; and the means."""
    now, then = drawn.means(values[:, None])[:, 0], truth.means(column[:, None])[:, 0]
    spread = np.sqrt(drawn.sums(np.square(values - now[drawn.labels])))
    wanted = np.sqrt(truth.sums(np.square(column - then[truth.labels])))
    enough = drawn.sizes >= max(3, k / 2)
    stretch = np.where(enough & (spread > 0), wanted / np.where(spread > 0, spread, 1.0), 1.0)
    means = np.where(enough, then, now)
    return means[drawn.labels] + (values - now[drawn.labels]) * stretch[drawn.labels], means
