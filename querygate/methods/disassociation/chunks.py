"""What a disassociated table consists of.

Records are divided into clusters. In a cluster a *record chunk* tells of some codes which of them were together;
another chunk tells of others, and nothing says which part belongs to which. The *term chunk* lists codes that fewer
than k records of the cluster have, without saying who or how many. Clusters that have rare codes in common may share
chunks of these.
"""

from __future__ import annotations

from dataclasses import dataclass

Record = frozenset[str]


@dataclass(frozen=True)
class Chunk:
    """Some codes, and what each record has of them: parts that are not empty, in an order that tells nothing."""

    codes: frozenset[str]
    parts: tuple[Record, ...]


@dataclass(frozen=True)
class Cluster:
    """How many records there are, their chunks, and the codes of which only it is known that somebody has them."""

    records: int
    chunks: tuple[Chunk, ...]
    terms: frozenset[str]


@dataclass(frozen=True)
class JointCluster:
    """Clusters, and chunks of rare codes that they share. The terms of the clusters are without these codes."""

    clusters: tuple[Cluster, ...]
    shared: tuple[Chunk, ...] = ()

    @property
    def records(self) -> int:
        return sum(cluster.records for cluster in self.clusters)


@dataclass(frozen=True)
class Disassociated:
    """All that is released."""

    joints: tuple[JointCluster, ...]
    k: int
    m: int

    @property
    def records(self) -> int:
        return sum(joint.records for joint in self.joints)


def make_chunk(codes: frozenset[str], records: list[Record]) -> Chunk:
    """The parts of records that lie within some codes, sorted by what they hold."""
    parts = (record & codes for record in records)
    return Chunk(codes, tuple(sorted((part for part in parts if part), key=lambda part: (len(part), sorted(part)))))
