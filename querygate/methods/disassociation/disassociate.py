"""The three steps of disassociation: records into clusters, clusters into chunks, and rare codes into shared chunks.

*Horizontally*, records that have the most frequent code go apart from those that do not, then by the next, until a
cluster is small. *Vertically*, the codes of a cluster are taken from the most frequent on: one joins a chunk if every
set of up to m codes in it is still held by k records or by none. Codes of fewer than k records are terms. *Refining*
puts the terms that two neighbouring clusters have in common into chunks over both.

A cluster whose chunks leave no doubt is not enough: where no term is left, its parts must be so many that k records can
hold any m codes of different chunks (Lemma 2 of the paper); until they are, the rarest code becomes a term. We only
join pairs of clusters, the paper joins on while it helps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise

from querygate.methods.disassociation.chunks import (
    Chunk,
    Cluster,
    Disassociated,
    JointCluster,
    Record,
    make_chunk,
)


def disassociate(records: Sequence[Record], k: int, m: int, largest: int | None = None) -> Disassociated:
    """Records as clusters in which whoever knows up to m codes of somebody is led to k records at least.

    Records without codes are in clusters like any others. `largest` is the size of clusters, 6 k by default.
    """
    if k < 2 or m < 1:
        raise ValueError("k is at least 2, and m at least 1")
    if len(records) < k:
        raise ValueError("there are fewer than k records")
    parts = horizontal(records, k, max(2 * k, largest or 6 * k))
    clusters = [vertical(part, k, m) for part in parts]
    return Disassociated(tuple(refine(clusters, parts, k, m)), k, m)


# -- records into clusters -------------------------------------------------------------------------------------------


def horizontal(records: Sequence[Record], k: int, largest: int) -> list[list[Record]]:
    """Clusters of k to about so many records that have frequent codes in common."""
    waiting: list[tuple[list[Record], frozenset[str]]] = [(list(records), frozenset())]
    done: list[list[Record]] = []
    while waiting:
        part, used = waiting.pop()
        code = _most_frequent(part, used)
        if len(part) < largest or code is None:
            done += _cut(part, largest, k)
            continue
        having, others = [r for r in part if code in r], [r for r in part if code not in r]
        if min(len(having), len(others)) < k:
            waiting.append((part, used | {code}))
        else:
            waiting += [(others, used), (having, used | {code})]
    return done


def _most_frequent(records: Iterable[Record], used: frozenset[str]) -> str | None:
    counts = Counter(code for record in records for code in record if code not in used)
    return min(counts, key=lambda code: (-counts[code], code), default=None)


def _cut(records: list[Record], largest: int, k: int) -> list[list[Record]]:
    """Records that no code divides, in clusters of no more than so many and no fewer than k."""
    number = max(1, min(len(records) // k, -(-len(records) // largest)))
    ends = [len(records) * i // number for i in range(number + 1)]
    return [records[a:b] for a, b in pairwise(ends)]


# -- clusters into chunks --------------------------------------------------------------------------------------------


def vertical(records: list[Record], k: int, m: int) -> Cluster:
    """The chunks of a cluster.

    >>> cluster = vertical([frozenset("ab"), frozenset("abc"), frozenset("a"), frozenset("c")], k=2, m=2)
    >>> [sorted(chunk.codes) for chunk in cluster.chunks], sorted(cluster.terms)
    ([['a', 'b']], ['c'])
    """
    counts = Counter(code for record in records for code in record)
    order = sorted((code for code in counts if counts[code] >= k), key=lambda code: (-counts[code], code))
    terms = frozenset(counts) - set(order)
    while True:
        chunks = tuple(make_chunk(codes, records) for codes in _chunks(order, records, k, m))
        if terms or not order or _is_doubtful(chunks, len(records), k, m):
            return Cluster(len(records), chunks, terms)
        terms |= {order.pop()}


def _chunks(order: Sequence[str], records: Sequence[Record], k: int, m: int) -> list[frozenset[str]]:
    found, waiting = [], list(order)
    while waiting:
        chunk: list[str] = []
        for code in waiting:
            if _is_safe(code, chunk, records, k, m):
                chunk.append(code)
        found.append(frozenset(chunk))
        waiting = [code for code in waiting if code not in found[-1]]
    return found


def _is_safe(code: str, chunk: Sequence[str], records: Sequence[Record], k: int, m: int) -> bool:
    """Whether every set of up to m codes of the chunk with this code is held by k records or by none."""
    own = frozenset(chunk)
    held = Counter(
        chosen
        for record in records
        if code in record
        for size in range(min(m, len(own) + 1))
        for chosen in combinations(sorted(record & own), size)
    )
    return all(number >= k for number in held.values())


def _is_doubtful(chunks: Sequence[Chunk], records: int, k: int, m: int) -> bool:
    """Lemma 2 of the paper, where there are no terms."""
    return sum(len(chunk.parts) for chunk in chunks) >= records + k * (min(m, len(chunks)) - 1)


# -- rare codes into shared chunks -----------------------------------------------------------------------------------


def refine(clusters: Sequence[Cluster], parts: Sequence[list[Record]], k: int, m: int) -> list[JointCluster]:
    """Neighbours by their terms, in pairs, with the terms that both have in chunks over both where k records have
    them."""
    by_terms = sorted(range(len(clusters)), key=lambda i: sorted(clusters[i].terms))
    joints: list[JointCluster] = []
    while by_terms:
        one = by_terms.pop(0)
        pairs = ((other, _shared(clusters, parts, one, other, k, m)) for other in by_terms[:1])
        other, chunks = next(((i, made) for i, made in pairs if made), (None, []))
        if other is None:
            joints.append(JointCluster((clusters[one],)))
            continue
        by_terms.remove(other)
        told = frozenset[str]().union(*(chunk.codes for chunk in chunks))
        both = tuple(Cluster(clusters[i].records, clusters[i].chunks, clusters[i].terms - told) for i in (one, other))
        joints.append(JointCluster(both, tuple(chunks)))
    return joints


def _shared(
    clusters: Sequence[Cluster], parts: Sequence[list[Record]], one: int, other: int, k: int, m: int
) -> list[Chunk]:
    """Chunks of terms that both have; none of a cluster that would be left without terms and without doubt."""
    common = clusters[one].terms & clusters[other].terms
    records = [record & common for i in (one, other) for record in parts[i]]
    counts = Counter(code for record in records for code in record)
    order = sorted((code for code in common if counts[code] >= k), key=lambda code: (-counts[code], code))
    chunks = [make_chunk(codes, records) for codes in _chunks(order, records, k, m)]
    told = frozenset[str]().union(*(chunk.codes for chunk in chunks))
    for i in (one, other):
        cluster = clusters[i]
        if cluster.terms <= told and not _is_doubtful(cluster.chunks, cluster.records, k, m):
            return []
    return chunks
