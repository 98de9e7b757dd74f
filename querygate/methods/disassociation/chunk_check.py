"""What a disassociated table does not keep, found by counting in what is released. Shares nothing with what made it.

A part of a chunk is a record of which everything else was cut off. Whoever knows up to m codes of somebody finds, in
every chunk, k parts with those that lie in it, or none; and where chunks have to be laid together, so many parts that k
records can be made of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from querygate.methods.disassociation.chunks import Chunk, Cluster, Disassociated, JointCluster, Record


@dataclass(frozen=True)
class Faults:
    """Numbers of: sets of codes in a chunk that fewer than k parts have, clusters of fewer than k records, clusters
    without doubt, codes that are in several places of a cluster, parts with codes of other chunks or with more parts
    than records, and differences from the raw records.
    """

    rare: int
    small: int
    certain: int
    twice: int
    misplaced: int
    wrong: int

    @property
    def any(self) -> bool:
        return any((self.rare, self.small, self.certain, self.twice, self.misplaced, self.wrong))


def find_faults(released: Disassociated, raw: Sequence[Record]) -> Faults:
    """Everything that is wrong, in numbers."""
    k, m = released.k, released.m
    clusters = [(joint, cluster) for joint in released.joints for cluster in joint.clusters]
    chunks = list(_chunks(released))
    return Faults(
        rare=sum(1 for chunk, _ in chunks for number in _sets(chunk.parts, m).values() if number < k),
        small=sum(1 for _, cluster in clusters if cluster.records < k),
        certain=sum(1 for _, cluster in clusters if _is_certain(cluster, k, m)),
        twice=sum(_twice(joint, cluster) for joint, cluster in clusters),
        misplaced=sum(
            sum(1 for part in chunk.parts if not part or part - chunk.codes) + max(0, len(chunk.parts) - records)
            for chunk, records in chunks
        ),
        wrong=_wrong(released, raw),
    )


def _chunks(released: Disassociated) -> Iterator[tuple[Chunk, int]]:
    """Every chunk, with the number of records that it is of."""
    for joint in released.joints:
        yield from ((chunk, joint.records) for chunk in joint.shared)
        for cluster in joint.clusters:
            yield from ((chunk, cluster.records) for chunk in cluster.chunks)


def _sets(parts: Sequence[Record], m: int) -> Counter[tuple[str, ...]]:
    return Counter(chosen for part in parts for size in range(1, m + 1) for chosen in combinations(sorted(part), size))


def _is_certain(cluster: Cluster, k: int, m: int) -> bool:
    """Without terms, parts that are too few to be put together in another way."""
    if cluster.terms or not cluster.chunks:
        return False
    parts = sum(len(chunk.parts) for chunk in cluster.chunks)
    return parts < cluster.records + k * (min(m, len(cluster.chunks)) - 1)


def _twice(joint: JointCluster, cluster: Cluster) -> int:
    places = [*(chunk.codes for chunk in (*joint.shared, *cluster.chunks)), cluster.terms]
    return sum(map(len, places)) - len(frozenset[str]().union(*places))


def _wrong(released: Disassociated, raw: Sequence[Record]) -> int:
    """Codes that are not told of as many records as have them; terms may be of any number, one at least."""
    truth = Counter(code for record in raw for code in record)
    told: Counter[str] = Counter()
    for chunk, _ in _chunks(released):
        told.update(code for part in chunk.parts for code in part)
    terms = Counter(code for joint in released.joints for cluster in joint.clusters for code in cluster.terms)
    strange = sum(1 for code in truth.keys() | told.keys() | terms.keys() if not _fits(truth, told, terms, code))
    return strange + (released.records != len(raw))


def _fits(truth: Counter[str], told: Counter[str], terms: Counter[str], code: str) -> bool:
    least = told[code] + terms[code]
    return truth[code] >= least if terms[code] else truth[code] == told[code]
