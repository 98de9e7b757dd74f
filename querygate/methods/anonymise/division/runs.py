"""Cut sequences of records into runs of at least k, so that the loss is least: a dynamic programme.

In an optimal cut no run has 2k records or more, since cutting it again never costs anything. So with F(i) the least
loss of the first i records, F(i) = min over L = k..2k-1 of F(i - L) + L x width of the window of L records that ends
at i (for one number: Hansen, Mukherjee, "A Polynomial Algorithm for Optimal Univariate Microaggregation", TKDE 2003).
Windows grow by one record at a time, all of them at once; sequences lie side by side, so the loop over the position is
a loop over vectors.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from querygate.core.types import Bools, Floats, Ints
from querygate.methods.anonymise.division.mondrian import Progress
from querygate.methods.anonymise.division.node_cells import argsort_packed, starts_of
from querygate.methods.anonymise.table import NULL, Attribute

FINE = 128
"""From twice this on, k is divided into so many steps or a few more, and runs begin at whole steps only: the time for a
record is bounded."""

BLOCK = 1_000_000
"""Records handled together ..."""

WINDOWS = 1 << 25
"""... and windows, which are what needs the memory."""

Floats32 = NDArray[np.float32]


def cut_into_runs(
    attributes: Sequence[Attribute], order: Ints, lengths: Ints, k: int, *, progress: Progress | None = None
) -> Bools:
    """Where runs begin in `order`, a list of rows that is divided into sequences of these lengths, each at least k."""
    step = max(1, k // FINE)
    least = -(-k // step)
    begins = np.zeros(order.size, dtype=np.bool_)
    first = np.cumsum(lengths) - lengths
    begins[first] = True
    two = (lengths >= 2 * k) & (lengths < 3 * k)
    for which in _alike(np.where(two, lengths, 0), BLOCK):
        start, size = first[which], lengths[which]
        begins[start + _best_cut_in_two(attributes, order[_side_by_side(start, size)], size, k)] = True
    progress = progress or (lambda share: None)
    done = int(lengths[lengths < 3 * k].sum())
    steps = np.where(lengths < 3 * k, 0, lengths // step)
    for which in _alike(steps, min(BLOCK // step, WINDOWS // least)):
        progress(done / order.size)
        # What is left over by whole steps stands at the head and belongs to the first run, whatever its length.
        start, size = first[which] + lengths[which] % step, steps[which]
        loss = _loss_of_windows(attributes, order[_side_by_side(start, size * step)], least, step)
        for at, sequence in _best_cuts(loss, size, least):
            begins[start[sequence] + at * step] = True
        done += int(lengths[which].sum())
    progress(1.0)
    return begins


def _alike(sizes: Ints, room: int) -> Iterator[Ints]:
    """Sequences of positive size in batches of about `room`; the longest is at most twice as long as the shortest."""
    waiting = np.argsort(-sizes, kind="stable")
    waiting = waiting[sizes[waiting] > 0]
    while waiting.size:
        longest = int(sizes[waiting[0]])
        batch = waiting[: max(1, room // longest)]
        batch = batch[2 * sizes[batch] >= longest]
        yield batch
        waiting = waiting[batch.size :]


def _side_by_side(start: Ints, size: Ints) -> Ints:
    """Places of sequences, one in each column; shorter ones repeat their last."""
    return np.minimum(np.arange(size.max())[:, None], size - 1) + start


def _best_cut_in_two(attributes: Sequence[Attribute], rows: Ints, size: Ints, k: int) -> Ints:
    """Where the second run begins. Fewer than 3k records are two runs at most, so beginnings and ends are enough."""
    left, right = np.zeros(rows.shape), np.zeros(rows.shape)
    for attribute in attributes:
        codes = attribute.codes[rows]
        left[1:] += _width_of_beginnings(attribute, codes)[:-1]
        right += _width_of_beginnings(attribute, codes[::-1])[::-1]
    at = np.arange(rows.shape[0])[:, None]
    loss = at * left + (size - at) * right
    loss[(at < k) | (at > size - k)] = np.inf
    best: Ints = loss.argmin(axis=0)
    return best


def _width_of_beginnings(attribute: Attribute, codes: Ints) -> Floats:
    """Weighted width of the first, the first two, ... records of every sequence."""
    missing = codes == NULL
    width: Floats
    if attribute.ordered:
        lower, upper = (e[codes] / (attribute.span or 1.0) for e in attribute.edges)
        least = np.minimum.accumulate(np.where(missing, np.inf, lower))
        width = np.maximum(np.maximum.accumulate(np.where(missing, -np.inf, upper)) - least, 0.0)
    else:
        order, key = argsort_packed((np.arange(codes.shape[1]) * (attribute.size + 1) + codes + 1).ravel())
        new = np.zeros(codes.size, dtype=np.bool_)
        new[order[starts_of(key)]] = True
        values = np.cumsum(new.reshape(codes.shape) & ~missing, axis=0)
        width = np.where(values > 1, values, 0) / attribute.span
    if attribute.has_nulls:
        width[np.logical_or.accumulate(missing) & np.logical_or.accumulate(~missing)] = 1.0
    return attribute.weight * width


def _loss_of_windows(attributes: Sequence[Attribute], rows: Ints, least: int, step: int) -> Floats32:
    """loss[i, t, s]: records times weighted width of the window of least + i steps that ends at step t of sequence s.

    Windows that begin before their sequence have no meaning and are never asked for.
    """
    loss = np.zeros((least, rows.shape[0] // step + 1, rows.shape[1]), dtype=np.float32)
    for attribute in attributes:
        windows = (_Numbers if attribute.ordered else _Categories)(attribute, attribute.codes[rows], step)
        for records in range(1, min(rows.shape[0], (2 * least - 1) * step) + 1):
            # So long a window ends at step `first` at the earliest; there, and at all later steps, it gains a record.
            first = -(-records // step)
            windows.grow(slice(first, None), slice(first * step - records, rows.shape[0] - records + 1, step))
            if records % step == 0 and records >= least * step:
                loss[first - least, first:] += windows.width(slice(first, None))
    loss *= np.arange(least, 2 * least, dtype=np.float32)[:, None, None] * np.float32(step)
    return loss


class _Windows(ABC):
    """One window per step and sequence, ending there; all grow backwards together. Widths are weighted.

    A window of values and missing values has full width; missing values alone have none.
    """

    def __init__(self, attribute: Attribute, codes: Ints, step: int) -> None:
        self.shape = (codes.shape[0] // step + 1, codes.shape[1])
        self.weight = np.float32(attribute.weight)
        self.missing = codes == NULL
        self.has_nulls = attribute.has_nulls
        self.some_missing, self.some_known = np.zeros(self.shape, np.bool_), np.zeros(self.shape, np.bool_)

    def grow(self, at: slice, new: slice) -> None:
        """Take the records `new` into the windows `at`."""
        self.take(at, new)
        if self.has_nulls:
            self.some_missing[at] |= self.missing[new]
            self.some_known[at] |= ~self.missing[new]

    def width(self, at: slice) -> Floats32:
        width = self.width_of_values(at)
        if self.has_nulls:
            width[self.some_missing[at] & self.some_known[at]] = self.weight
        return width

    @abstractmethod
    def take(self, at: slice, new: slice) -> None: ...

    @abstractmethod
    def width_of_values(self, at: slice) -> Floats32: ...


class _Numbers(_Windows):
    """Least and greatest end so far."""

    def __init__(self, attribute: Attribute, codes: Ints, step: int) -> None:
        super().__init__(attribute, codes, step)
        lower, upper = attribute.edges
        scale = attribute.weight / (attribute.span or 1.0)
        low, high = (((e - lower[0]) * scale).astype(np.float32)[codes] for e in (lower, upper))
        far = np.float32(np.inf)
        self.low, self.high = np.where(self.missing, far, low), np.where(self.missing, -far, high)
        self.least, self.greatest = np.full(self.shape, far), np.full(self.shape, -far)

    def take(self, at: slice, new: slice) -> None:
        np.minimum(self.least[at], self.low[new], out=self.least[at])
        np.maximum(self.greatest[at], self.high[new], out=self.greatest[at])

    def width_of_values(self, at: slice) -> Floats32:
        width: Floats32 = np.maximum(self.greatest[at] - self.least[at], np.float32(0))
        return width


class _Categories(_Windows):
    """Different values so far: a record adds one if its value comes again only behind the window."""

    def __init__(self, attribute: Attribute, codes: Ints, step: int) -> None:
        super().__init__(attribute, codes, step)
        self.again = np.where(self.missing, -1, _next_equal(codes, attribute.size)).astype(np.int32)
        self.end = (np.arange(self.shape[0], dtype=np.int32) * step)[:, None]
        self.values = np.zeros(self.shape, dtype=np.float32)
        self.scale = np.float32(attribute.weight / attribute.span)

    def take(self, at: slice, new: slice) -> None:
        self.values[at] += self.again[new] >= self.end[at]

    def width_of_values(self, at: slice) -> Floats32:
        values = self.values[at]
        width: Floats32 = (values - (values == 1)) * self.scale
        return width


def _next_equal(codes: Ints, size: int) -> Ints:
    """Where, in its sequence (a column), the code of each record comes next; the end if it does not."""
    length, sequences = codes.shape
    key = (np.arange(sequences)[:, None] * (size + 1) + codes.T + 1).ravel()
    order, key = argsort_packed(key)
    following = np.full(key.size, length)
    equal = np.flatnonzero(key[1:] == key[:-1])
    following[order[equal]] = order[equal + 1] % length
    return np.ascontiguousarray(following.reshape(sequences, length).T)


def _best_cuts(loss: Floats32, size: Ints, least: int) -> Iterator[tuple[Ints, Ints]]:
    """Steps at which all runs but the first begin, and in which sequence, from the last run to the second."""
    ends, sequences = loss.shape[1:]
    front = 2 * least - 1  # so that the programme may look back before the beginning
    total: Floats = np.full((front + ends, sequences), np.inf)
    total[front] = 0.0
    chosen = np.zeros((ends, sequences), dtype=np.int64)
    column = np.arange(sequences)
    for t in range(least, ends):
        sums = total[t + front - 2 * least + 1 : t + front - least + 1][::-1] + loss[:, t]
        chosen[t] = sums.argmin(axis=0)
        total[front + t] = sums[chosen[t], column]
    at = size.copy()
    while column.size:
        at = at - least - chosen[at, column]
        at, column = at[at > 0], column[at > 0]
        yield at, column
