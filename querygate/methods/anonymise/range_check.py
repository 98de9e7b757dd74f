"""What the values of a class span of their domain, measured from texts alone: the independent check of range diversity.

>>> import numpy as np
>>> narrowest_range(np.array([1, 1, 2, 2]), ["mild", "severe", "mild", None], of_order(("mild", "medium", "severe")))
0.0
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TypeAlias

from querygate.core.types import Ints

Span: TypeAlias = Callable[[frozenset[str]], float]
"""The share of the domain that a set of values spans; none where it is one value."""


def narrowest_range(classes: Ints, values: Sequence[str | None], span: Span) -> float:
    """The least share of the domain that a class spans. A missing value adds nothing; 0 where a class has no other."""
    held: dict[int, set[str]] = defaultdict(set)
    for number, value in zip(classes.tolist(), values, strict=True):
        held[number].update(() if value is None else (value,))
    known: dict[frozenset[str], float] = {}
    for found in map(frozenset, held.values()):
        if found not in known:
            known[found] = span(found) if len(found) > 1 else 0.0
    return min(known.values())


def of_names(domain: int) -> Span:
    """So many of so many values."""
    return lambda found: min(1.0, len(found) / domain)


def of_order(order: Sequence[str]) -> Span:
    """From the first to the last of values in an order; others add nothing."""
    place = {value: float(i) for i, value in enumerate(order)}

    def span(found: frozenset[str]) -> float:
        places = [place[value] for value in found if value in place]
        return (max(places) - min(places)) / max(1, len(order) - 1) if places else 0.0

    return span


def of_tree(rows: Sequence[Sequence[str]]) -> Span:
    """The leaves of the lowest node that has them all. A row leads from a leaf to the root."""
    ways = {row[0]: tuple(row) for row in rows}

    def span(found: frozenset[str]) -> float:
        own = [ways[value] for value in found]
        height = next(h for h in range(len(own[0])) if len({way[h:] for way in own}) == 1)
        return sum(way[height:] == own[0][height:] for way in ways.values()) / len(ways)

    return span
