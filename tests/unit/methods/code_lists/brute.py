"""A checker of policies that shares nothing with what it checks: records, items and itemsets as plain sets of texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import TypeVar

T = TypeVar("T")


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


# -- promises about sets by their size, about rules and about whole lists --------------------------------------------


def shown(records: Iterable[set[str]], items: Sequence[frozenset[str]]) -> list[frozenset[frozenset[str]]]:
    """The items of which each record has a code."""
    holder = {code: item for item in items for code in item}
    return [frozenset(holder[code] for code in record if code in holder) for record in records]


def held_sets(held: Iterable[Iterable[T]], most: int) -> Counter[frozenset[T]]:
    """How many records hold each set of up to so many things, none among them."""
    return Counter(
        frozenset(chosen) for one in held for size in range(most + 1) for chosen in combinations(set(one), size)
    )


def rare(held: Iterable[Iterable[T]], most: int, k: int) -> list[frozenset[T]]:
    """Sets of up to so many things that some but fewer than k records hold."""
    return [chosen for chosen, number in held_sets(held, most).items() if number < k]


def too_sure(held: Sequence[set[str]], known: set[str], secret: set[str], most: int, share: float) -> int:
    """Sets of up to so many known codes whose holders have another secret code in more than a share."""
    number = held_sets((one & known for one in held), most)
    told = Counter(
        (frozenset(chosen), code)
        for one in held
        for size in range(most + 1)
        for chosen in combinations(one & known, size)
        for code in one & secret - set(chosen)
    )
    return len({chosen for (chosen, _), n in told.items() if n > share * number[chosen] + 1e-9})


def unprotected(
    records: Sequence[set[str]],
    items: Sequence[frozenset[str]],
    rules: Iterable[tuple[set[str], set[str]]],
    k: int,
    share: float,
) -> int:
    """Rules whose known side leads to some but fewer than k records, or to its secret side in more than a share."""
    covers, broken = covered(records, items), 0
    for known, secret in rules:
        having = [cover for cover in covers if known <= cover]
        told = sum(secret <= cover for cover in having) if secret else 0
        broken += bool(having) and (len(having) < k or told > share * len(having) + 1e-9)
    return broken


def untrue(records: Sequence[set[str]], told: Sequence[set[frozenset[str]]]) -> int:
    """Records with an item of which they have no code, or with items that leave out a code. To tell nothing is true."""
    return sum(
        bool(items) and not (all(item & record for item in items) and record <= set().union(*items))
        for record, items in zip(records, told, strict=True)
    )
