"""One view of a log: every group of fewer than k records whose total the answers of the view fix, with the proof.

    narrow        one query set that is that small                                              (T0)
    differencing  two sets that differ by that few                                              (T2)
    linear        any combination of sets that leaves one atom, found by null-space probes      (T3)
    extremes      minima, maxima and medians of sets that differ by that few                    (T4)

Nothing here looks at an answer or at a secret column: whoever knows the quasi-identifiers could work out each finding.
Answers enter afterwards, to say what they tell (`inference`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

import numpy as np

from querygate.audit.combination import Combination, combine
from querygate.audit.field import residues
from querygate.audit.linear import PROBES, null_vectors, tied, zero
from querygate.audit.pairs import near_pairs, packed
from querygate.audit.sets import atoms, fingerprint
from querygate.audit.totals import Total
from querygate.core.types import Bools, Floats, Ints

MOST_ROWS = 20_000
"""Different sets of one measure in one view, beyond which the linear test is not made: its matrix would not fit."""

MOST_EXPLAINED = 400
"""Atoms of one measure that are proved one by one; the others are told by their number."""


@dataclass(frozen=True, eq=False)
class Isolated:
    """Places with fewer than k records whose total of a measure is fixed by a combination of totals."""

    measure: str
    places: Bools
    records: int
    parts: tuple[tuple[Total, Fraction], ...]
    difference: bool = False  # what is fixed is the difference of two atoms, not their sum


@dataclass(frozen=True)
class Left:
    """What was not looked into: the linear test of a measure with too many sets, or atoms not proved one by one."""

    measure: str
    reason: str


def examine(
    totals: Sequence[Total], weights: Mapping[str, Ints], k: int
) -> tuple[list[Isolated], list[tuple[Total, Total, Bools]], list[Left]]:
    """What the totals of one view isolate; pairs of extremes that differ by too few; and what was left out.

    `weights` are the records of each place that have a value of the measure.
    """
    isolated: list[Isolated] = []
    left: list[Left] = []
    sums = [total for total in totals if not total.extreme]
    for measure in dict.fromkeys(total.measure for total in sums):
        mine = _distinct([total for total in sums if total.measure == measure])
        found, not_done = _linear(measure, mine, weights[measure], k)
        isolated += found
        left += not_done
    return isolated, list(_extremes(totals, weights, k)), left


def _distinct(totals: Sequence[Total]) -> list[Total]:
    """One total for each set; the first that has an answer."""
    kept: dict[str, Total] = {}
    for total in totals:
        mark = fingerprint(total.members)
        if mark not in kept or (kept[mark].low is None and total.low is not None):
            kept[mark] = total
    return list(kept.values())


def _linear(measure: str, totals: list[Total], weights: Ints, k: int) -> tuple[list[Isolated], list[Left]]:
    """Groups fixed by one set, by two, or by any combination; each group of places once, by its shortest proof."""
    sets = np.array([total.members & (weights > 0) for total in totals])
    found: dict[bytes, Isolated] = {}

    def add(places: Bools, proof: Combination, *, difference: bool = False) -> None:
        records = int(weights[places].sum())
        known = found.get(places.tobytes())
        if 0 < records < k and (known is None or len(known.parts) > len(proof)):
            parts = tuple((totals[i], c) for i, c in proof.items())
            found[places.tobytes()] = Isolated(measure, places, records, parts, difference)

    for small in np.flatnonzero(sets @ weights < k).tolist():
        add(sets[small], {small: Fraction(1)})
    for i, j in near_pairs(packed(sets), weights, k):
        for one, other in ((i, j), (j, i)):
            if not (sets[one] & ~sets[other]).any():
                add(sets[other] & ~sets[one], {other: Fraction(1), one: Fraction(-1)})
    if len(totals) > MOST_ROWS:
        return list(found.values()), [Left(measure, f"{len(totals):,} different sets are too many to combine")]
    label, over = atoms(sets)
    records = np.bincount(label, weights).astype(np.int64)
    probes = null_vectors(over, PROBES)
    targets = np.flatnonzero(zero(probes) & (records > 0) & (records < k))
    wanted = [np.equal(np.arange(len(records)), a).astype(np.int64) for a in targets[:MOST_EXPLAINED]]
    wanted += list(islice(_tied_groups(probes, records, k), MOST_EXPLAINED))
    for target in wanted:
        places = (target != 0)[label]
        if places.tobytes() not in found:
            proof = combine(over, target)
            if proof is not None:
                add(places, proof, difference=bool((target < 0).any()))
    missed = len(targets) - MOST_EXPLAINED
    return list(found.values()), [Left(measure, f"{missed:,} more groups are fixed")] if missed > 0 else []


def _tied_groups(probes: Floats, records: Ints, k: int) -> Iterator[Ints]:
    """Pairs of atoms, together below k, whose sum or difference is fixed although neither is."""
    for one, other in tied(probes):
        if not (records[one] and records[other] and records[one] + records[other] < k):
            continue
        for sign in (1, -1):  # a sum is known iff every null vector has z_a + z_b = 0
            if not residues(probes[:, one] + sign * probes[:, other]).any():
                target = np.zeros(len(records), dtype=np.int64)
                target[one], target[other] = 1, sign
                yield target


def _extremes(totals: Sequence[Total], weights: Mapping[str, Ints], k: int) -> Iterator[tuple[Total, Total, Bools]]:
    """Pairs of minima, maxima or medians over sets that differ by fewer than k records; a small set with itself."""
    extremes = [total for total in totals if total.extreme]
    for key in dict.fromkeys((total.measure, total.extreme) for total in extremes):
        mine = _distinct([total for total in extremes if (total.measure, total.extreme) == key])
        held = weights[key[0]]
        sets = np.array([total.members & (held > 0) for total in mine])
        for small in np.flatnonzero((sets @ held < k) & (sets @ held > 0)):
            yield mine[small], mine[small], sets[small]
        for i, j in near_pairs(packed(sets), held, k):
            yield mine[i], mine[j], sets[i] ^ sets[j]
