"""Snake order and dynamic programme: records in a row, similar ones side by side, cut where it costs least.

The order is lexicographic, but each inner key runs backwards in every second outer group, so that neighbours stay alike
across the borders of groups. Outer keys are those whose mixing is dear: two of D values cost 2/D, so categories of few
values come first; a number stands where mixing costs about a tenth; missing beside present values cost everything.
Then `cut_into_runs` finds the best runs of that order. Equal records may part, so the classes are smaller and the boxes
narrower than those of methods that keep combinations whole; the boxes of two classes may overlap (local recoding).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.anonymise.class_boxes import widths
from querygate.methods.anonymise.division.districts import districts
from querygate.methods.anonymise.division.mondrian import Progress
from querygate.methods.anonymise.division.node_cells import argsort_packed, starts_of
from querygate.methods.anonymise.division.runs import cut_into_runs
from querygate.methods.anonymise.guards.guard import Guard
from querygate.methods.anonymise.table import NULL, Attribute, Table

SEGMENT = 4_000
"""Records of a sequence that is cut on its own, and at least so many times k: the loss at borders is not visible."""

SEGMENT_CLASSES = 128

NUMBER = 0.1
"""A number stands behind the categories of which two values cost this share or more, unless its own neighbours do."""


def snake(table: Table, k: int, guards: Sequence[Guard] = (), *, progress: Progress | None = None) -> Ints:
    """The class of each record, 0..m-1: at least k in each, and every guard holds.

    The table has one row per record. Raises Infeasible if the table as a whole does not keep a promise.
    """
    labels = snake_runs(table, k, guards, progress=progress)
    return join_pure(table, labels, guards)


def snake_runs(table: Table, k: int, guards: Sequence[Guard] = (), *, progress: Progress | None = None) -> Ints:
    """As `snake`, but classes that consist of one and the same combination are not joined."""
    check_by_record(table)
    district = districts(table, k, guards)
    orders = [snake_order(keys, district, k) for keys in _priorities(table)]
    order = min(orders, key=lambda order: _loss_of_even_runs(table, order, k)) if len(orders) > 1 else orders[0]
    labels = cut_in_order(table, order, district, k, progress=progress)
    return _repaired(table, labels, district, guards) if guards else labels


def check_by_record(table: Table) -> None:
    """Raise ValueError unless every row is one record."""
    if table.counts.size and table.counts.max() > 1:
        raise ValueError("this method divides records: the table has one row for each")


@dataclass(frozen=True)
class SortKey:
    """What records are sorted by: codes 0..size-1 in the order wanted, and what mixing two neighbours may cost.

    `parts`: how many keys share the division of a group into runs of k, this one among them. A number that shares is
    taken in bands of equally many records; otherwise a fine number would leave the keys behind it nothing to sort.
    """

    codes: Ints
    size: int
    price: float
    number: bool = False
    parts: int = 1


def keys_of(table: Table) -> list[SortKey]:
    """The keys of the snake, the dearest first."""
    keys = [key for attribute in table.attributes for key in _keys(attribute)]
    return sorted(keys, key=lambda key: (-key.price, key.number))


def _keys(attribute: Attribute) -> list[SortKey]:
    missing = attribute.codes == NULL
    if attribute.ordered:
        length = (attribute.edges[1][attribute.size - 1] - attribute.edges[0][0]) / (attribute.span or 1.0)
        price = attribute.weight * max(NUMBER, float(length) / attribute.size)
        own = SortKey(np.maximum(attribute.codes, 0), attribute.size, price, number=True)
    else:
        frequency = np.bincount(attribute.codes[~missing], minlength=attribute.size)
        rank = np.empty_like(frequency)
        rank[np.argsort(-frequency, kind="stable")] = np.arange(attribute.size)
        own = SortKey(
            np.where(missing, 0, rank[attribute.codes]), attribute.size, attribute.weight * 2 / attribute.span
        )
    return [SortKey(missing.astype(np.int64), 2, attribute.weight), own] if attribute.has_nulls else [own]


def _priorities(table: Table) -> Iterator[list[SortKey]]:
    """By price. Where categories come behind a number, also with that number in bands, and with all of them before it.

    None of the three is best on every table: it depends on how fine the numbers are.
    """
    keys = keys_of(table)
    yield shared(keys, behind=0)
    if any(a.number and not b.number for a, b in pairwise(keys)):
        yield shared(keys, behind=1)
        yield shared(sorted(keys, key=lambda key: key.number), behind=0)


def shared(keys: Sequence[SortKey], behind: int) -> list[SortKey]:
    """The keys in this order, with bands for numbers that have numbers behind them, or categories, if these count."""
    after = [[key.number for key in keys[i + 1 :]] for i in range(len(keys))]
    return [
        replace(key, parts=1 + sum(rest) + behind * (not all(rest))) if key.number else key
        for key, rest in zip(keys, after, strict=True)
    ]


def snake_order(keys: Sequence[SortKey], group: Ints, k: int) -> Ints:
    """Rows in the order of the keys within each group; each key runs backwards in every second group before it."""
    # Bands are sorted inside at last, so that only equal records are left in the order in which they came.
    for key in (*keys, *(replace(key, parts=1) for key in keys if key.parts > 1)):
        codes, size = _bands(key, group, k) if key.parts > 1 else (key.codes, key.size)
        order, value = argsort_packed(group * size + np.where(group & 1, size - 1 - codes, codes))
        # Parity must alternate between groups that exist, so groups are numbered anew.
        group = _spread(order, np.cumsum(np.diff(value, prepend=value[:1]) != 0))
    return order


def _bands(key: SortKey, group: Ints, k: int) -> tuple[Ints, int]:
    """Within each group, as many bands as one of `parts` equal keys needs for runs of k; equal values stay together."""
    order, value = argsort_packed(group * key.size + key.codes)
    starts = starts_of(value)
    records = np.bincount(group)
    rank = _spread(order, np.repeat(starts, np.diff(starts, append=order.size))) - (np.cumsum(records) - records)[group]
    bands = np.ceil((records / k) ** (1 / key.parts)).astype(np.int64)
    return rank * bands[group] // records[group], int(bands.max())


def _spread(order: Ints, values: Ints) -> Ints:
    """Values along an order, given to the rows."""
    spread = np.empty_like(values)
    spread[order] = values
    return spread


def _loss_of_even_runs(table: Table, order: Ints, k: int) -> float:
    """What the order is worth, without the programme: the loss if it is cut after every k records."""
    return float(class_loss(table, _spread(order, np.arange(order.size) // k)).sum())


def class_loss(table: Table, labels: Ints) -> Floats:
    """Records times weighted width of each class."""
    weights = np.array([a.weight for a in table.attributes])
    loss: Floats = np.bincount(labels, table.counts) * (weights @ widths(table, labels))
    return loss


def cut_in_order(table: Table, order: Ints, group: Ints, k: int, *, progress: Progress | None = None) -> Ints:
    """Classes along an order in which the records of each group stand together; groups have at least k records."""
    size = np.bincount(group)
    pieces = np.maximum(1, size // max(SEGMENT, SEGMENT_CLASSES * k))
    piece = np.arange(int(pieces.sum())) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    size, pieces = np.repeat(size, pieces), np.repeat(pieces, pieces)
    lengths = (piece + 1) * size // pieces - piece * size // pieces
    begins = cut_into_runs(table.attributes, order, lengths, k, progress=progress)
    return _spread(order, np.cumsum(begins) - 1)


def _repaired(table: Table, labels: Ints, district: Ints, guards: Sequence[Guard]) -> Ints:
    """Classes that break a guard are joined with a neighbour in the order, until all hold.

    A district as a whole holds, so this ends. Of a row of broken classes every second one chooses, or else one round
    would join them all; it takes the neighbour with which the loss grows less.
    """
    while not (fine := holding(labels, guards)).all():
        place = np.arange(fine.size)
        since = place - np.maximum.accumulate(np.where(fine, place, -1))
        chooser = np.flatnonzero(~fine & (since % 2 == 1))
        growth = np.concatenate(([np.inf], _growth_of_joining(table, labels, district), [np.inf]))
        join = np.zeros(fine.size + 1, dtype=np.int64)  # of a class with the one before it
        join[chooser + (growth[chooser + 1] < growth[chooser])] = 1
        labels = (place - np.cumsum(join[:-1]))[labels]
    return labels


def _growth_of_joining(table: Table, labels: Ints, district: Ints) -> Floats:
    """By how much the loss grows if a class is joined with the next; infinite across districts."""
    loss = class_loss(table, labels)
    both = np.empty(loss.size - 1)
    both[::2] = class_loss(table, labels // 2)[: both[::2].size]
    both[1::2] = class_loss(table, (labels + 1) // 2)[1 : 1 + both[1::2].size]
    home = np.empty_like(labels, shape=loss.size)
    home[labels] = district
    return np.where(home[1:] == home[:-1], both - loss[1:] - loss[:-1], np.inf)


def holding(labels: Ints, guards: Sequence[Guard]) -> Bools:
    """Per class whether every guard holds."""
    rows, classes = np.arange(labels.size), int(labels.max()) + 1
    fine = np.ones(classes, dtype=np.bool_)
    for guard in guards:
        fine &= guard.classes(rows, labels, classes)
    return fine


def join_pure(table: Table, labels: Ints, guards: Sequence[Guard]) -> Ints:
    """Join the classes that consist of one and the same combination: fewer cells, the same boxes.

    Every guarantee known here survives such a join; one that does not keeps its classes apart.
    """
    order, value = argsort_packed(labels)
    starts = starts_of(value)
    codes = np.stack([a.codes[order] for a in table.attributes])
    pure = (np.minimum.reduceat(codes, starts, axis=1) == np.maximum.reduceat(codes, starts, axis=1)).all(axis=0)
    first = codes[:, starts]
    # Pure classes by combination, the others each on its own; stable, so the first of equals has the least number.
    alike = np.lexsort((*first, ~pure))
    new = np.ones(alike.size, dtype=np.bool_)
    new[1:] = ~pure[alike[1:]] | (first[:, alike[1:]] != first[:, alike[:-1]]).any(axis=0)
    leader = _spread(alike, alike[np.flatnonzero(new)][np.cumsum(new) - 1])
    if guards:
        kept = np.unique(leader, return_inverse=True)[1].reshape(-1)
        leader = np.where(holding(kept[labels], guards)[kept], leader, np.arange(leader.size))
    return np.unique(leader, return_inverse=True)[1].reshape(-1)[labels]
