"""From records to condensed records: the steps in order."""

from __future__ import annotations

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.methods.synthesis.centroids import masked
from querygate.methods.synthesis.cluster_sums import Clusters
from querygate.methods.synthesis.cluster_synthesis import synthesise
from querygate.methods.synthesis.microdata import CondensedRecords, Microdata, Uncondensable, check_microdata
from querygate.methods.synthesis.parts import parts
from querygate.methods.synthesis.permitted_values import has_few_values, permissible
from querygate.methods.synthesis.record_points import EncodedMicrodata, encode
from querygate.methods.synthesis.synthesis_methods import METHODS, SynthesisMethod


def condense(
    data: Microdata,
    k: int,
    *,
    method: str = "improved",
    response: str | None = None,
    status: str | None = None,
    weight: float = 0.5,
    keep_times: bool = False,
    rng: np.random.Generator,
) -> CondensedRecords:
    """As many records as there are, made from clusters of at least k of them.

    Records of different `status` are never in one cluster, and each keeps its own. The `response` has the share
    `weight` of the distance under a tailored method ("improved"). With both, the data are survival times. They are
    drawn like every other number, unless `keep_times`: then those of each cluster are given back by rank of the drawn
    ones, so that risk sets stay (Gal et al. 2014, step 5), and every time in the extract is a patient's own. Drawn
    methods keep mean and covariance of every cluster in `raw`; permitted_values.py says what mapping to permissible
    values does to them.

    Requires: numbers within the bounds of their variable, codes below its size.
    Ensures:  every cluster has at least k records; the same state of `rng` gives the same records.
    Raises Uncondensable for data that cannot be condensed, KeyError for a method or variable that is not there.
    """
    chosen = METHODS.get(method)
    check_microdata(data)
    _check_request(data, k, chosen, response, weight)
    encoded = encode(data)
    clusters = Clusters(_cluster(_points(encoded, chosen, response, status, weight), data, k, chosen, status, rng))
    if not chosen.drawn:
        centres = clusters.means(encoded.matrix)[clusters.labels]
        return CondensedRecords(masked(data, clusters), clusters.labels, centres, ())
    raw = synthesise(encoded.matrix, clusters, rng)
    returned = response if keep_times and chosen.tailored and status is not None else None
    made = permissible(data, encoded, raw, clusters, k, returned)
    if status is not None:
        made = Microdata(data.variables, {**made.columns, status: data.columns[status].copy()})
    kept = tuple(v.name for v in data.variables if v.name in (returned, status) or not v.is_number or has_few_values(v))
    return CondensedRecords(made, clusters.labels, raw, kept)


def _check_request(data: Microdata, k: int, method: SynthesisMethod, response: str | None, weight: float) -> None:
    if k < method.least_k:
        raise Uncondensable(
            f"k = {k} is too small: the mean and covariance of fewer than {method.least_k} records reveal them.",
            f"Use a k of at least {method.least_k}.",
        )
    if data.records < k:
        raise Uncondensable(f"There are {data.records:,} records, fewer than k = {k:,}.", "Use a smaller k.")
    for variable in data.variables:
        known = int(np.count_nonzero(~np.isnan(data.columns[variable.name]))) if variable.is_number else 0
        if 0 < known < k:
            raise Uncondensable(
                f"Only {known:,} records have a value of {variable.name}, fewer than k = {k:,}.",
                "Leave it out of the extract.",
            )
    if not 0 < weight < 1:
        raise ValueError("weight is a share between 0 and 1")
    if response is not None and not data.variable(response).is_number:
        raise Uncondensable(f"{response} is not a number.", "Name a number as the response, or the category as status.")


def _points(
    encoded: EncodedMicrodata, method: SynthesisMethod, response: str | None, status: str | None, weight: float
) -> Floats:
    """Where records lie for the distance: the response weighs `weight`, the others share the rest evenly."""
    names = [b.variable.name for b in encoded.blocks if b.variable.name != status]
    others = [name for name in names if name != response]
    if not method.tailored or response is None or not others:
        return encoded.weighted(dict.fromkeys(names, 1.0))
    return encoded.weighted(dict.fromkeys(others, (1 - weight) / len(others)) | {response: weight})


def _cluster(
    points: Floats, data: Microdata, k: int, method: SynthesisMethod, status: str | None, rng: np.random.Generator
) -> Ints:
    """Clusters of each stratum, part by part."""
    labels = np.empty(data.records, dtype=np.int64)
    count = 0
    for stratum in _strata(data, k, status):
        for part in parts(points[stratum], method.largest_part(k)):
            rows = stratum[part]
            found = method.group(points[rows], k, rng)
            labels[rows] = found + count
            count += int(found.max()) + 1
    return labels


def _strata(data: Microdata, k: int, status: str | None) -> list[Ints]:
    """The records of each status; a missing one is a status of its own."""
    if status is None:
        return [np.arange(data.records)]
    data.variable(status)
    codes = np.unique(data.columns[status], return_inverse=True)[1]
    strata = Clusters(codes.astype(np.int64))
    if (least := int(strata.sizes.min())) < k:
        raise Uncondensable(
            f"{status}: only {least:,} records have its rarest value, fewer than k = {k:,}.",
            f"Use a k of at most {least:,}, or merge values of {status}.",
        )
    return strata.members()
