"""Disassociation: the paper's example, everything that leaves counted anew, and counts that contain the truth."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from querygate.methods.disassociation import (
    Chunk,
    Cluster,
    Disassociated,
    JointCluster,
    disassociate,
    find_faults,
)
from querygate.methods.disassociation.disassociate import horizontal, refine, vertical
from tests.unit.methods.disassociation.record_support import support

WORDS = {
    "i": "itunes", "f": "flu", "m": "madonna", "k": "ikea", "r": "ruby", "v": "viagra", "a": "audi a4", "s": "sony tv",
    "c": "digital camera", "p": "panic disorder", "b": "playboy", "n": "iphone sdk",
}  # fmt: skip
FIRST = [frozenset(WORDS[letter] for letter in line) for line in ("ifmkr", "mfvras", "imaks", "ifv", "ifmas")]
SECOND = [frozenset(WORDS[letter] for letter in line) for line in ("mcpb", "nmkr", "ncmb", "ncp", "ncmkr")]


def names(chunks: tuple[Chunk, ...]) -> list[set[str]]:
    return [set(chunk.codes) for chunk in chunks]


def test_the_example_of_the_paper() -> None:
    """Terrovitis et al. 2012, figures 2 and 4: two clusters of five queries, k = 3 and m = 2; then ikea and ruby are
    rare in each and shared by both.
    """
    one, other = vertical(FIRST, 3, 2), vertical(SECOND, 3, 2)
    assert names(one.chunks) == [{"itunes", "flu", "madonna"}, {"audi a4", "sony tv"}]
    assert one.terms == {"ikea", "viagra", "ruby"}
    assert names(other.chunks) == [{"madonna", "digital camera", "iphone sdk"}]
    assert other.terms == {"panic disorder", "playboy", "ikea", "ruby"}
    assert sorted(map(sorted, one.chunks[1].parts)) == [["audi a4", "sony tv"]] * 3
    (joint,) = refine([one, other], [FIRST, SECOND], 3, 2)
    assert names(joint.shared) == [{"ikea", "ruby"}]
    assert sorted(map(len, joint.shared[0].parts)) == [1, 1, 2, 2, 2]
    assert {cluster.terms for cluster in joint.clusters} == {
        frozenset({"viagra"}),
        frozenset({"panic disorder", "playboy"}),
    }
    released = Disassociated((joint,), 3, 2)
    assert not find_faults(released, FIRST + SECOND).any
    assert support(released, frozenset({"ikea", "ruby"})) == (3, 3, 3.0)
    assert support(released, frozenset({"madonna"}))[:2] == (8, 8)
    assert support(released, frozenset({"viagra"}))[:2] == (1, 5)


def hostile(rng: np.random.Generator, number: int) -> list[frozenset[str]]:
    """Empty records, twins, a code that all share, rare codes, unicode and leading zeros."""
    codes = ["all", "008", "8", "Ä", "ä", "x y", *(f"c{i}" for i in range(12))]
    share = rng.random(len(codes)) ** 2
    records = [frozenset(np.array(codes)[rng.random(len(codes)) < share].tolist()) for _ in range(number)]
    return [record | {"all"} for record in records[: number // 2]] + [frozenset()] * 3 + records[:2] * 2 + records


@pytest.mark.parametrize("seed", range(12))
def test_what_leaves_keeps_its_promise_and_counts_contain_the_truth(seed: int) -> None:
    rng = np.random.default_rng(seed)
    records, k, m = hostile(rng, int(rng.integers(4, 60))), int(rng.integers(2, 6)), int(rng.integers(1, 4))
    released = disassociate(records, k, m)
    assert not find_faults(released, records).any
    codes = sorted(frozenset[str]().union(*records))
    for size in (0, 1, 2, 3):
        for asked in combinations(codes[:9], size):
            truth = sum(record.issuperset(asked) for record in records)
            found = support(released, frozenset(asked))
            assert found.low <= truth <= found.high
    assert support(released, frozenset({"nowhere"})) == (0, 0, 0.0)


def test_each_fault_is_found() -> None:
    chunk = Chunk(frozenset("ab"), (frozenset("ab"), frozenset("ab")))
    good = Cluster(3, (chunk,), frozenset("z"))
    raw = [frozenset("abz"), frozenset("ab"), frozenset()]

    def faults(cluster: Cluster, k: int = 2) -> object:
        return find_faults(Disassociated((JointCluster((cluster,)),), k, 2), raw)

    assert not faults(good).any
    assert faults(good, k=3).rare == 3
    assert faults(good, k=4).small == 1
    two = replace(
        good, chunks=(Chunk(frozenset("a"), (frozenset("a"),) * 2), Chunk(frozenset("b"), (frozenset("b"),) * 2))
    )
    assert faults(replace(two, terms=frozenset())).certain == 1
    assert faults(replace(good, terms=frozenset("az"))).twice == 1
    assert faults(replace(good, chunks=(Chunk(frozenset("a"), chunk.parts),))).misplaced == 2
    assert faults(replace(good, records=4)).wrong == 1
    assert faults(replace(good, terms=frozenset("y"))).wrong == 2


def test_clusters_are_neither_small_nor_large() -> None:
    records = hostile(np.random.default_rng(1), 300)
    sizes = [len(part) for part in horizontal(records, 4, 24)]
    assert sum(sizes) == len(records)
    assert min(sizes) >= 4
    assert max(sizes) <= 24


@pytest.mark.parametrize(("k", "m", "number"), [(1, 2, 5), (2, 0, 5), (6, 2, 5)])
def test_what_cannot_be_meant_is_refused(k: int, m: int, number: int) -> None:
    with pytest.raises(ValueError, match=r"k"):
        disassociate([frozenset("a")] * number, k, m)
