"""How many records have all of some codes, by what was released: at least, at most, and as may be expected.

Within a chunk it is counted. Between chunks anything may go together: no fewer than all that cannot be kept apart, no
more than the fewest. A term is somebody's in its cluster, and perhaps everybody's. What may be expected takes chunks as
independent and gives a term to one record, as the reconstruction of the paper does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from querygate.methods.disassociation.chunks import Chunk, Disassociated, JointCluster, Record


class Support(NamedTuple):
    """Least and most records that may have the codes, and the expected number."""

    low: int
    high: int
    expected: float


def support(released: Disassociated, codes: Record) -> Support:
    """The number of records that have all of these codes; of none, all records."""
    each = [_in_joint(joint, codes) for joint in released.joints]
    return Support(sum(one.low for one in each), sum(one.high for one in each), math.fsum(one.expected for one in each))


def _in_joint(joint: JointCluster, codes: Record) -> Support:
    """Codes of shared chunks are somebody's of either cluster; the others are a cluster's own."""
    shared = list(_counted(joint.shared, codes))
    told = frozenset[str]().union(*(chunk.codes for chunk in joint.shared)) & codes
    low = high = 0
    expected = 0.0
    for cluster in joint.clusters:
        counts = list(_counted(cluster.chunks, codes))
        own = frozenset[str]().union(*(chunk.codes for chunk in cluster.chunks)) & codes
        terms = cluster.terms & codes
        if codes - own - terms - told:
            continue
        ends = [(n, n) for n in counts] + [(1, cluster.records)] * len(terms)
        outside = joint.records - cluster.records
        ends += [(max(0, n - outside), min(n, cluster.records)) for n in shared]
        low += max(0, sum(least for least, _ in ends) - cluster.records * (len(ends) - 1)) if ends else cluster.records
        high += min((most for _, most in ends), default=cluster.records)
        shares = [n / cluster.records for n in counts] + [1 / cluster.records] * len(terms)
        expected += cluster.records * math.prod([*shares, *(n / joint.records for n in shared)])
    return _met(low, high, expected, shared, told == codes)


def _met(low: int, high: int, expected: float, shared: list[int], only_shared: bool) -> Support:
    """No more than any shared chunk has; where nothing else is asked and one chunk has it all, exactly so many."""
    if only_shared and len(shared) == 1:
        return Support(shared[0], shared[0], float(shared[0]))
    return Support(low, min([high, *shared]), expected)


def _counted(chunks: tuple[Chunk, ...], codes: Record) -> Iterator[int]:
    """For each chunk that has some of the codes, how many parts have all of these."""
    for chunk in chunks:
        asked = chunk.codes & codes
        if asked:
            yield sum(asked <= part for part in chunk.parts)
