"""How often the nearest synthetic record leads back to where a person's record went.

Distance-based record linkage (Domingo-Ferrer and Torra, "A quantitative comparison of disclosure control methods for
microdata", 2001) on data that were made cluster by cluster. An attacker with a person's true record takes the nearest
synthetic one. That it is of the person's cluster is what keeping means and covariances brings about; a cluster of K
then still hides the person among K, as a class of k does. Where synthetic and original records come in the same order,
that it is the person's own row should happen no more often than 1 in K: more often, the rows follow their persons.

Equal synthetic records cannot be told apart, so an attacker picks one of them at random, and is right for their share.

>>> import numpy as np
>>> none = np.zeros((4, 0), dtype=np.int64)
>>> original = PointRecords(np.array([[0.0], [2.0], [10.0], [12.0]]), none)
>>> centres = PointRecords(np.array([[1.0], [1.0], [11.0], [11.0]]), none)
>>> found = linkage(original, centres, np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]), same_rows=True)
>>> found.cluster, found.cluster_by_chance, found.row, found.row_allowed
(1.0, 0.5, 0.5, 0.5)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from querygate.core.json_body import JsonValue, to_json
from querygate.core.types import Ints
from querygate.methods.risk.record_space import PointRecords, Scale, Space


@dataclass(frozen=True, slots=True)
class Linkage:
    """Shares of originals whose nearest synthetic record is of their cluster, or in their very row.

    `row_allowed` is what guessing within the right cluster would reach: the number of clusters divided by that of
    records.
    """

    records: int
    clusters: int
    smallest: int
    cluster: float
    cluster_by_chance: float
    row: float | None
    row_allowed: float

    def to_dict(self) -> dict[str, JsonValue]:
        return to_json(self)


def linkage(
    original: PointRecords,
    synthetic: PointRecords,
    original_cluster: Ints,
    synthetic_cluster: Ints,
    same_rows: bool = False,
    scale: Scale = "range",
) -> Linkage:
    """Link each original with its nearest synthetic record; `same_rows` if row i of both is of one person."""
    if not (len(original) == original_cluster.size > 0 and len(synthetic) == synthetic_cluster.size > 0):
        raise ValueError("one cluster for each record, and a record in each table")
    if same_rows and len(original) != len(synthetic):
        raise ValueError("the same rows, so as many of them")
    [kind] = synthetic.kinds()
    often, first = np.bincount(kind), np.unique(kind, return_index=True)[1]
    met = Space(synthetic, scale).nearest(synthetic.take(first), original, 1).which[:, 0]
    labels, label = np.unique(np.concatenate([original_cluster, synthetic_cluster]), return_inverse=True)
    own, made = np.split(label.reshape(-1), [len(original)])
    pairs, held = np.unique(kind * labels.size + made, return_counts=True)
    wanted = met * labels.size + own
    place = np.minimum(np.searchsorted(pairs, wanted), pairs.size - 1)
    mine = np.where(pairs[place] == wanted, held[place], 0)
    sizes, drawn = np.bincount(own, minlength=labels.size), np.bincount(made, minlength=labels.size)
    clusters = int((sizes > 0).sum())
    return Linkage(
        len(original),
        clusters,
        int(sizes[sizes > 0].min()),
        float((mine / often[met]).mean()),
        float(sizes @ drawn / (len(original) * len(synthetic))),
        float(((kind == met) / often[met]).mean()) if same_rows else None,
        clusters / len(original),
    )
