"""Suppression: which classes may stay, and which cells become `*` so that fewer records are left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from querygate.core.types import Bools, Ints
from querygate.methods.anonymise.guards.diversity import Alpha, Closeness, Distinct, EntropyDiversity, Recursive
from querygate.methods.anonymise.guards.guard import Guard, NumericHull
from querygate.methods.anonymise.guards.numeric_guards import SpreadGuard
from querygate.methods.anonymise.guards.p_sensitive import PSensitive
from querygate.methods.anonymise.guards.tree_closeness import TreeCloseness
from querygate.methods.anonymise.recode.recoder import RecodedTable, Stretches
from querygate.methods.anonymise.table import Table

KEPT_BY_MORE = (Distinct, PSensitive, SpreadGuard, NumericHull)
"""A class that keeps these still keeps them whoever joins it: they require that something occurs."""

KEPT_BY_UNIONS = (EntropyDiversity, Recursive, Alpha, Closeness, TreeCloseness)
"""Two classes that keep these make one that does: shares are averaged, entropy is concave, earth mover's distance is
convex, and for recursive diversity: Machanavajjhala et al., TKDD 2007. A class that breaks them can spoil one that
keeps them, so they are monotone only where no class is left out. Others (personalised, proximity, k-map) are not
monotone at all."""


@dataclass(frozen=True)
class Promise:
    """What every class must keep, and how many records may be left out because theirs does not."""

    table: Table
    k: int
    guards: Sequence[Guard]
    limit: int

    @cached_property
    def monotone(self) -> tuple[Guard, ...]:
        """Guards with which a coarser recoding of the same records never has to leave out more."""
        kinds = KEPT_BY_MORE if self.limit else (*KEPT_BY_MORE, *KEPT_BY_UNIONS)
        return tuple(guard for guard in self.guards if isinstance(guard, kinds))

    @cached_property
    def others(self) -> tuple[Guard, ...]:
        return tuple(guard for guard in self.guards if guard not in self.monotone)

    def kept(self, rows: Ints, label: Ints) -> Bools:
        """Per class 0..m-1 whether it may stand."""
        return ask(self.guards, rows, label, np.asarray(np.bincount(label, self.table.counts[rows]) >= self.k))


def ask(guards: Sequence[Guard], rows: Ints, label: Ints, standing: Bools) -> Bools:
    """The classes that stand and keep every guard; the others are not looked at."""
    verdict = standing.copy()
    for guard in guards:
        if not verdict.any():
            break
        mine = verdict[label]
        number = np.cumsum(verdict) - 1
        verdict[verdict] = guard.classes(rows[mine], number[label[mine]], int(number[-1]) + 1)
    return verdict


def records_of(share: float, table: Table) -> int:
    if not 0 <= share < 1:
        raise ValueError("a share is at least 0 and below 1")
    return int(share * table.records + 1e-9)


def recode(
    make: Callable[[Promise], Stretches], table: Table, k: int, guards: Sequence[Guard], suppress: float, cells: float
) -> RecodedTable:
    """Recode within the limits, with `*` in cells where that loses less.

    For cells, as many more records are left out first, and brought back with `*`.
    """
    limit, extra = records_of(suppress, table), records_of(cells, table)
    drafts = [make(Promise(table, k, guards, limit))]
    if extra:
        promise = Promise(table, k, guards, min(limit + extra, table.records - 1))
        drafts.append(bring_back(make(promise), promise, extra * len(table.attributes)))
    return min((draft for draft in drafts if draft.suppressed <= limit), key=lambda draft: draft.loss).recoded()


# -- cells -----------------------------------------------------------------------------------------------------------


def bring_back(draft: Stretches, promise: Promise, most: int) -> Stretches:
    """Records that are left out come back where `*` in some of their cells makes them alike; at most so many cells.

    Local suppression (Samarati, Sweeney, SRI-CSL-98-04, 1998), greedily: of the groups of equal records that do not
    keep the promise, the smallest joins the group or class with which the fewest cells become `*`, until all keep it.
    Then those come back first that need the fewest cells for each record that returns.
    """
    if not draft.out.any():
        return draft
    groups = _Groups.of(draft, promise)
    groups.join()
    back = np.bincount(groups.of_row[draft.out], draft.table.counts[draft.out], groups.cells.size)
    wanted = np.flatnonzero((back > 0) & groups.done)
    first, last, out = draft.first.copy(), draft.last.copy(), draft.out.copy()
    spent = 0
    for group in wanted[np.argsort(groups.cells[wanted] / back[wanted], kind="stable")].tolist():
        if spent + groups.cells[group] > most:
            continue
        spent += int(groups.cells[group])
        rows = np.flatnonzero(groups.of_row == group)
        first[:, rows], last[:, rows] = groups.first[:, [group]], groups.last[:, [group]]
        out[rows] = False
    found = replace(draft, first=first, last=last, out=out, starred=spent, optimal=False)
    return found if _stands(found, promise) else draft


def _stands(draft: Stretches, promise: Promise) -> bool:
    """Two groups that came to look alike are one class: some guards have to be asked again."""
    kept = np.flatnonzero(~draft.out)
    return not kept.size or bool(promise.kept(kept, draft.groups_of(kept)).all())


@dataclass
class _Groups:
    """Rows that are published alike, classes among them; those left out are groups of their own until they join.

    `cells` are those replaced by `*` so far; `done` groups keep the promise.
    """

    promise: Promise
    of_row: Ints
    first: Ints
    last: Ints
    root: Ints
    records: Ints
    cells: Ints
    done: Bools

    @classmethod
    def of(cls, draft: Stretches, promise: Promise) -> _Groups:
        key = 2 * draft.groups_of(np.arange(draft.out.size)) + draft.out
        _, member, of_row = np.unique(key, return_index=True, return_inverse=True)
        of_row = of_row.reshape(-1)
        records = np.bincount(of_row, draft.table.counts).astype(np.int64)
        root = np.array([scale.root for scale in draft.scales]).T
        first, last = draft.first[:, member], draft.last[:, member]
        return cls(promise, of_row, first, last, root, records, np.zeros_like(records), ~draft.out[member])

    def join(self) -> None:
        gone = np.zeros(self.done.size, dtype=np.bool_)
        while (pending := np.flatnonzero(~self.done & ~gone)).size:
            small = int(pending[np.argmin(self.records[pending])])
            others = np.flatnonzero(~gone)
            others = others[others != small]
            if not others.size:
                return
            self._unite(int(others[np.argmin(self._added(small, others))]), small)
            gone[small] = True

    def _added(self, one: int, others: Ints) -> Ints:
        """Cells that become `*` if a group joins each of the others."""
        differ = (self.first[:, others] != self.first[:, [one]]) | (self.last[:, others] != self.last[:, [one]])
        theirs = (differ & ~self._starred(others)).sum(axis=0) * self.records[others]
        own = (differ & ~self._starred(np.array([one]))).sum(axis=0) * self.records[one]
        return np.asarray(theirs + own)

    def _starred(self, groups: Ints) -> Bools:
        return np.asarray(
            (self.first[:, groups] == self.root[0][:, None]) & (self.last[:, groups] == self.root[1][:, None])
        )

    def _unite(self, group: int, other: int) -> None:
        self.cells[group] += self.cells[other] + int(self._added(other, np.array([group]))[0])
        differ = (self.first[:, group] != self.first[:, other]) | (self.last[:, group] != self.last[:, other])
        self.first[differ, group], self.last[differ, group] = self.root[0, differ], self.root[1, differ]
        self.records[group] += self.records[other]
        self.of_row[self.of_row == other] = group
        rows = np.flatnonzero(self.of_row == group)
        self.done[group] = bool(self.promise.kept(rows, np.zeros_like(rows))[0])
