"""Mondrian written the slow and obvious way, one node and one cut at a time, for comparison with the real one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from querygate.methods.anonymise import NULL, Attribute, Table

Rows = list[int]
Allowed = Callable[[Rows], bool]


def naive_mondrian(table: Table, allowed: Allowed) -> list[Rows]:
    """The classes, as lists of combinations. `allowed` says whether a set of combinations may be a class."""
    nodes, waiting = [], [list(range(table.combinations))]
    for public in (True, False):
        while waiting:
            rows = waiting.pop()
            halves = _best_split(table, rows, allowed, public)
            if halves is None:
                nodes.append(rows)
            else:
                waiting.extend(halves)
        waiting, nodes = (nodes, []) if public else ([], nodes)
    return sorted(sorted(rows) for rows in nodes)


def loss(table: Table, rows: Rows) -> float:
    """Records times weighted width of one class."""
    records = sum(int(table.counts[r]) for r in rows)
    return records * sum(a.weight * width(a, [int(a.codes[r]) for r in rows]) for a in table.attributes)


def width(attribute: Attribute, codes: Sequence[int]) -> float:
    values = {c for c in codes if c != NULL}
    if len(values) < len(set(codes)):
        return 1.0 if values else 0.0
    if attribute.lower is None or attribute.upper is None:
        return len(values) / attribute.span if len(values) > 1 else 0.0
    return float(attribute.upper[max(values)] - attribute.lower[min(values)]) / attribute.span


def _best_split(table: Table, rows: Rows, allowed: Allowed, public: bool) -> tuple[Rows, Rows] | None:
    best, least = None, np.inf if public else loss(table, rows)
    for attribute in table.attributes:
        own, halves = np.inf, None
        for left, right in _cuts(table, attribute, rows, public):
            if not (allowed(left) and allowed(right)):
                continue
            this = sum(
                width(attribute, [int(attribute.codes[r]) for r in side]) * sum(int(table.counts[r]) for r in side)
                for side in (left, right)
            )
            if this < own:
                own, halves = this, (left, right)
        if halves and loss(table, halves[0]) + loss(table, halves[1]) < least:
            best, least = halves, loss(table, halves[0]) + loss(table, halves[1])
    return best


def _cuts(table: Table, attribute: Attribute, rows: Rows, public: bool) -> Iterator[tuple[Rows, Rows]]:
    """Every cut of the attribute in cutting order, missing values behind the values and then before them."""
    codes = {r: int(attribute.codes[r]) for r in rows}
    records = {c: sum(int(table.counts[r]) for r in rows if codes[r] == c) for c in codes.values()}
    values = sorted(c for c in records if c != NULL)
    if not attribute.ordered:
        values.sort(key=lambda c: (-records[c], c))
    lines = [[*values, NULL], [NULL, *values]] if NULL in records else [values]
    # Cut by cut, so that equal losses are met in the same order as in the arrays.
    for line in lines:
        for place in range(1, len(line)):
            if public and not _is_public(attribute, line[place - 1], line[place]):
                continue
            ahead = set(line[:place])
            yield [r for r in rows if codes[r] in ahead], [r for r in rows if codes[r] not in ahead]


def _is_public(attribute: Attribute, before: int, after: int) -> bool:
    if not attribute.cuts:
        return False
    return NULL in (before, after) or any(before < c <= after for c in attribute.cuts)


def can_be_cut_publicly(table: Table, rows: Rows, allowed: Allowed) -> bool:
    """Whether a class could still be divided at a public cut, missing values on either side."""
    return any(
        allowed(left) and allowed(right)
        for attribute in table.attributes
        for left, right in _cuts(table, attribute, rows, public=True)
    )


def classes_of(labels: np.ndarray) -> list[Rows]:
    """The combinations of each class, in a form that does not depend on how classes are numbered."""
    order = np.argsort(labels, kind="stable").tolist()
    return sorted(list(g) for _, g in itertools.groupby(order, key=lambda r: int(labels[r])))
