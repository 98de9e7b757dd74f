"""A checker of policies that shares nothing with what it checks: records, items and itemsets as plain sets of texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations


def covered(records: Iterable[set[str]], items: Sequence[frozenset[str]]) -> list[set[str]]:
    """The codes that each record may have, by its items: those of which it has a code."""
    holder = {code: item for item in items for code in item}
    return [set().union(*(holder[code] for code in record if code in holder)) for record in records]


def support(covers: Iterable[set[str]], itemset: set[str]) -> int:
    """Records whose items cover every code of the itemset."""
    return sum(itemset <= cover for cover in covers)


def unsafe(
    records: Sequence[set[str]], items: Sequence[frozenset[str]], policy: Iterable[set[str]], k: int, *, residue: bool
) -> list[set[str]]:
    """The itemsets that some but fewer than k records support; with residue, what suppression has left of them."""
    published = set().union(*items)
    covers = covered(records, items)
    asked = [itemset & published if residue else itemset for itemset in policy]
    return [itemset for itemset in asked if itemset and 0 < support(covers, itemset) < k]


def all_sets(codes: Iterable[str], most: int) -> list[set[str]]:
    """Every set of up to so many codes."""
    found = sorted(codes)
    return [set(chosen) for size in range(1, most + 1) for chosen in combinations(found, size)]


def disjoint(items: Sequence[frozenset[str]]) -> bool:
    return sum(map(len, items)) == len(set().union(*items))
