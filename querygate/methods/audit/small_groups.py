"""One view of a log: every group of fewer than k records whose total the answers of the view fix, with the proof.

    narrow        one query set that is that small                                              (T0)
    differencing  two sets that differ by that few                                              (T2)
    linear        any combination of sets that leaves one atom, found by null-space probes      (T3)
    extremes      minima, maxima and medians of sets that differ by that few                    (T4)
    moments       a variance beside a sum is a total of squares                                 (T5)

Nothing here looks at an answer or at a secret column: whoever knows the quasi-identifiers could work out each finding.
Answers enter afterwards, to say what they tell (`inference`). Where there are several proofs, one is preferred whose
answers the log has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

import numpy as np

from querygate.core.count_text import counted
from querygate.core.types import Bools, Floats, Ints
from querygate.methods.audit.differencing_pairs import near_pairs, nested_pairs, packed
from querygate.methods.audit.linear_attack import PROBES, null_vectors, tied, zero
from querygate.methods.audit.power_sums import with_squares
from querygate.methods.audit.prime_field import residues
from querygate.methods.audit.shortest_proof import Combination, combine
from querygate.methods.audit.total_matrix import PlaceGroups, TotalCells, lay_out, planes, stacked
from querygate.methods.audit.totals import VARIANCE, Base, Pattern, QueryTotal

MOST_ROWS = 20_000
"""Different sets of one base in one view, beyond which the linear test is not made: its matrix would not fit."""

MOST_ENTRIES = 400_000_000
"""Rows times columns of one base in one view, for the same reason."""

MOST_EXPLAINED = 400
"""Atoms of one measure that are proved one by one; of the others only the number is given."""


@dataclass(frozen=True, eq=False)
class IsolatedGroup:
    """Places with fewer than k records whose total of a measure is fixed by a combination of totals."""

    measure: str
    places: Bools
    records: int
    parts: tuple[tuple[QueryTotal, Fraction], ...]
    difference: bool = False  # what is fixed is the difference of two atoms, not their sum


@dataclass(frozen=True)
class Unexamined:
    """What was not looked into: the linear test of a measure with too many sets, or atoms not proved one by one.

    `fault` is an error of the test itself; `incident` the number under which it is on record, once it is.
    """

    measure: str
    reason: str
    fault: Exception | None = None
    incident: str = ""


@contextmanager
def noted(left: list[Unexamined], measure: str) -> Iterator[None]:
    """A test that fails is one that was not made: the others go on."""
    try:
        yield
    except Exception as fault:
        left.append(Unexamined(measure, "the test failed", fault))


def examine(
    totals: Sequence[QueryTotal], weights: Mapping[str, Ints], k: int, bases: Mapping[str, Base] | None = None
) -> tuple[list[IsolatedGroup], list[tuple[QueryTotal, QueryTotal, Bools]], list[Unexamined]]:
    """What the totals of one view isolate; pairs of extremes that differ by too few; and what was left out.

    `weights` are the records of each place that have a value of the measure; `bases` the measures that combine.
    """
    isolated: list[IsolatedGroup] = []
    left: list[Unexamined] = []
    totals = with_squares(totals)
    by_system: dict[str, list[QueryTotal]] = {}
    for total in totals:
        if not total.extreme:
            by_system.setdefault(total.system, []).append(total)
    for system, mine in by_system.items():
        base = (bases or {}).get(system, Base({system: (1,)}, 1))
        with noted(left, system):
            search = _Search(base, distinct(mine), weights[system], k)
            isolated += search.run()
            left += [Unexamined(system, reason) for reason in search.left]
    extremes: list[tuple[QueryTotal, QueryTotal, Bools]] = []
    for (measure, _), same in _by_extreme(totals).items():
        with noted(left, measure):
            extremes += _extremes(same, weights[measure], k)
    return isolated, extremes, left


def distinct(totals: Sequence[QueryTotal]) -> list[QueryTotal]:
    """One total for each row; the one whose answer leaves the least open."""
    kept: dict[tuple[tuple[Pattern, bytes], ...], QueryTotal] = {}
    for total in totals:
        known = kept.get(total.mark)
        if known is None or _is_tighter(total.width, known.width):
            kept[total.mark] = total
    return list(kept.values())


def _is_tighter(width: Fraction | None, than: Fraction | None) -> bool:
    return width is not None and (than is None or width < than) and than != 0


class _Search:
    """Groups fixed by one set, by two, or by any combination; each group of places once, by its shortest proof."""

    def __init__(self, base: Base, totals: list[QueryTotal], weights: Ints, k: int) -> None:
        self.base, self.totals, self.weights, self.k = base, totals, weights, k
        self.found: dict[tuple[str, bytes], tuple[Pattern, IsolatedGroup]] = {}
        self.left: list[str] = []

    def run(self) -> list[IsolatedGroup]:
        self._small()
        self._near()
        if len(self.totals) > MOST_ROWS:
            self.left.append(
                f"{len(self.totals):,} distinct sets are too many to combine: single sets and pairs were examined, "
                "larger combinations were not"
            )
        else:
            self._combined()
        return self._needed()

    def _add(self, pattern: Pattern, places: Bools, proof: Combination, *, difference: bool = False) -> None:
        measure, sign = self.base.name(pattern)
        if measure:  # what has no name is looked for elsewhere
            known = self.base.measures.get(measure, pattern)
            self._keep(measure, known, places, proof, sign, difference=difference)

    def _keep(
        self,
        measure: str,
        pattern: Pattern,
        places: Bools,
        proof: Combination,
        sign: int = 1,
        *,
        difference: bool = False,
    ) -> None:
        records = int(self.weights[places].sum())
        if not 0 < records < self.k:
            return
        parts = tuple((self.totals[i], sign * c) for i, c in proof.items())
        key = (measure, places.tobytes())
        if key not in self.found or _length(parts) < _length(self.found[key][1].parts):
            self.found[key] = pattern, IsolatedGroup(measure, places, records, parts, difference)

    def _small(self) -> None:
        """Totals that are about few by themselves."""
        for i, total in enumerate(self.totals):
            places = total.members & (self.weights > 0)
            if int(self.weights[places].sum()) >= self.k:
                continue
            if len(total.cells) == 1:
                self._add(total.cells[0][0], places, {i: Fraction(1)})
            elif total.measure not in self.base.measures:  # a sum of its own, of different minterms
                self._keep(total.measure, (), places, {i: Fraction(1)})

    def _near(self) -> None:
        """Pairs whose difference is one pattern over few, so that one of them is nowhere less than the other."""
        rows = stacked(self.totals, self.weights, len(self.base.minterms))
        # of totals that differ only where nobody is, the first and the first with an answer are enough
        once = {(row.tobytes(), self.totals[i].width is None): i for i, row in reversed([*enumerate(rows)])}
        mine = np.array(sorted(once.values()), dtype=np.int64)
        bits = planes(rows[mine])
        layers = bits.shape[1] // len(self.weights)
        # a record is in as many bits as there are layers, so that pairs below k are among those below k * layers
        for i, j in mine[nested_pairs(bits, np.tile(self.weights, layers), self.k * layers)].tolist():
            apart = rows[j] - rows[i]
            places = apart.any(axis=1)
            times = apart[np.argmax(places)].astype(np.int64)
            if (apart[places] == times).all() and abs(times.sum()) == np.abs(times).sum():
                sign = 1 if times.sum() >= 0 else -1
                self._add(tuple(int(sign * one) for one in times), places, {j: Fraction(sign), i: Fraction(-sign)})

    def _combined(self) -> None:
        cells = lay_out(self.totals, self.weights, len(self.base.minterms))
        if cells.over.size > MOST_ENTRIES:
            rows, columns = cells.over.shape
            self.left.append(
                f"{rows:,} sets over {columns:,} atoms are too many to combine: single sets and pairs were examined, "
                "larger combinations were not"
            )
            return
        probes = null_vectors(cells.over, PROBES)
        for name, pattern in self.base.measures.items():
            groups = cells.groups(pattern)
            missed = self._fixed(name, pattern, cells, groups, residues(groups.sums(probes)))
            if missed > 0:
                self.left.append(f"{counted(missed, 'more group is', 'more groups are')} determined")

    def _fixed(self, name: str, pattern: Pattern, cells: TotalCells, groups: PlaceGroups, probes: Floats) -> int:
        """Prove the groups that the probes show to be fixed; return how many were too many to prove."""
        inside = groups.group >= 0
        records = np.bincount(groups.group[inside], self.weights[inside], minlength=len(groups.labels)).astype(np.int64)
        few = groups.possible & (records > 0) & (records < self.k)
        fixed = np.flatnonzero(zero(probes) & few)
        wanted = [{int(one): 1} for one in fixed[:MOST_EXPLAINED]]
        wanted += list(islice(_tied_groups(probes, np.where(few, records, self.k), self.k), MOST_EXPLAINED))
        for signs in wanted:
            places = np.isin(groups.group, list(signs))
            known = self.found.get((name, places.tobytes()))
            if known is not None and not _length(known[1].parts)[0]:
                continue
            columns = cells.over.shape[1]
            target = sum((sign * groups.target(g, columns) for g, sign in signs.items()), np.zeros(columns, np.int64))
            proof = self._proof(cells, target)
            if proof is not None:
                self._add(pattern, places, proof, difference=min(signs.values()) < 0)
        return len(fixed) - MOST_EXPLAINED

    def _proof(self, cells: TotalCells, target: Ints) -> Combination | None:
        """By totals whose answers are there, if that can be."""
        told = np.array([i for i, total in enumerate(self.totals) if total.width is not None], dtype=np.int64)
        if 0 < len(told) < len(self.totals):
            proof = combine(cells.over[told], target)
            if proof is not None:
                return {int(told[i]): c for i, c in proof.items()}
        return combine(cells.over, target)

    def _needed(self) -> list[IsolatedGroup]:
        """Without what nobody asked for, where it follows from what is told of the same places."""
        spans: dict[bytes, list[Pattern]] = {}
        order = {name: i for i, name in enumerate(self.base.measures)}
        kept = []
        last = len(order)
        for (name, places), (pattern, one) in sorted(self.found.items(), key=lambda item: order.get(item[0][0], last)):
            span = spans.setdefault(places, [])
            if order.get(name, last) < self.base.asked or one.difference or not pattern or _is_new(pattern, span):
                kept.append(one)
                span += [pattern] if pattern else []
        return kept


def _is_new(pattern: Pattern, span: list[Pattern]) -> bool:
    return not span or np.linalg.matrix_rank(np.array([*span, pattern])) > np.linalg.matrix_rank(np.array(span))


def _length(parts: Sequence[tuple[QueryTotal, Fraction]]) -> tuple[bool, int]:
    """Answers that are missing make a proof worth less than one that is longer."""
    return any(total.width is None for total, _ in parts), len(parts)


def _tied_groups(probes: Floats, records: Ints, k: int) -> Iterator[dict[int, int]]:
    """Pairs of atoms, together below k, whose sum or difference is fixed although neither is."""
    for one, other in tied(probes):
        if not (records[one] and records[other] and records[one] + records[other] < k):
            continue
        for sign in (1, -1):  # a sum is known iff every null vector has z_a + z_b = 0
            if not residues(probes[:, one] + sign * probes[:, other]).any():
                yield {one: 1, other: sign}


def _by_extreme(totals: Sequence[QueryTotal]) -> dict[tuple[str, str], list[QueryTotal]]:
    by_kind: dict[tuple[str, str], list[QueryTotal]] = {}
    for total in totals:
        if total.extreme:
            by_kind.setdefault((total.measure, total.extreme), []).append(total)
    return by_kind


def _extremes(totals: Sequence[QueryTotal], held: Ints, k: int) -> Iterator[tuple[QueryTotal, QueryTotal, Bools]]:
    """Pairs of minima, maxima or medians over sets that differ by fewer than k records; a small set with itself."""
    mine = distinct(totals)
    sets = np.array([total.members & (held > 0) for total in mine])
    for small in np.flatnonzero((sets @ held < k) & (sets @ held > 0)):
        yield mine[small], mine[small], sets[small]
    for i, j in near_pairs(packed(sets), held, k) if mine[0].extreme != VARIANCE else ():
        yield mine[i], mine[j], sets[i] ^ sets[j]
