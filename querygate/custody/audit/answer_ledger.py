"""Which answers each user has had, and what the next answer would reveal, view by view.

One ledger is about one version of a dataset. It is filled from the log, so that a new process decides as the old one
would have, and several processes see each other's answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from querygate.core.types import Bools
from querygate.custody.audit.query_structure import Structure
from querygate.methods.audit.answer_verdict import LiveVerdict, Watch
from querygate.methods.audit.differencing_pairs import Bits

Views = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class ViewFinding:
    """What one view would learn."""

    view: str
    verdict: LiveVerdict


class AnswerLedger:
    """The answered sets of a version, and a watch for each group of users that was looked up.

    `pooled` is the name of the view of everybody, which may include people without accounts.
    """

    def __init__(self, structure: Structure, k: int, pooled: str) -> None:
        self.structure, self.k, self.pooled = structure, k, pooled
        self._taken: list[tuple[str, str, Bits]] = []  # (user, query, packed sets)
        self._watches: dict[frozenset[str] | None, Watch] = {}

    def judge(
        self, user: str, sets: Bools, views: Views, pending: Iterable[tuple[str, Bools]] = ()
    ) -> list[ViewFinding]:
        """What answering these sets to a user would reveal, in each view that the user belongs to, in order.

        Every view is examined, whatever the others show. `pending` are sets that others are being answered at the
        same time.
        """
        found = []
        for view, members in self._views_of(user, views):
            watch = self._watch(members)
            meanwhile = [rows for who, rows in pending if members is None or who in members]
            verdict = watch.judge(np.concatenate([*meanwhile, sets]))
            if verdict.isolates:
                found.append(ViewFinding(view, verdict))
        return found

    def take(self, user: str, query: str, sets: Bools) -> None:
        """The sets were answered."""
        self._taken.append((user, query, np.packbits(sets, axis=1)))
        for members, watch in self._watches.items():
            if members is None or user in members:
                watch.take(sets, query)

    def _views_of(self, user: str, views: Views) -> list[tuple[str, frozenset[str] | None]]:
        mine = {name: frozenset(members) for name, members in views.items() if user in members and name != self.pooled}
        mine.setdefault(user, frozenset({user}))
        return [*mine.items(), (self.pooled, None)]

    def _watch(self, members: frozenset[str] | None) -> Watch:
        """The watch of these users. A group that is new here is brought up to date."""
        if members not in self._watches:
            watch = self._watches[members] = Watch(self.structure.weights, self.k)
            mine = [(query, bits) for user, query, bits in self._taken if members is None or user in members]
            if mine:
                bits = np.concatenate([bits for _, bits in mine])
                sets = np.unpackbits(bits, axis=1, count=self.structure.places).astype(np.bool_)
                watch.take(sets, [query for query, bits in mine for _ in bits])
        return self._watches[members]


def in_smallest(found: Sequence[ViewFinding]) -> list[ViewFinding]:
    """Each thing in the first view that has it: what a user could work out alone is not news about their project."""
    kept: dict[tuple[str, int], ViewFinding] = {}
    for one in found:
        kept.setdefault((one.verdict.rule, one.verdict.records), one)
    return list(kept.values())
