"""Findings as cases: what one person, or one group, went about. 200 rows of one sliding window are one case.

Two findings of the same users belong together if their combinations share a query, or if they isolate a common place.
Each stands in the smallest view that has it, so what one person did alone is never laid to a crowd. A case is as grave
as the gravest of its findings. Ids are hashes of the content: the same log gives the same ids.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

import numpy as np

from querygate.core.audit.audit_body import Severity
from querygate.core.types import Ints
from querygate.methods.audit.set_bits import fingerprint
from querygate.methods.audit.totals import SEVERITIES, Finding, Kind, QueryTotal

GRAVITY: dict[Severity, int] = {severity: rank for rank, severity in enumerate(SEVERITIES)}

SHORT = timedelta(minutes=10)
"""Queries of one finding that lie within this time look like one thought."""


class CaseStatement(Protocol):
    """A logged statement, as far as it matters to a case."""

    @property
    def id(self) -> str: ...
    @property
    def user(self) -> str: ...
    @property
    def sql(self) -> str: ...
    @property
    def time(self) -> str: ...


@dataclass(frozen=True)
class Case:
    """Findings that belong together. `findings` are places in the list given, the gravest first."""

    id: str
    severity: Severity
    kinds: tuple[Kind, ...]
    users: tuple[str, ...]
    view: str
    queries: tuple[str, ...]  # in the order of the log
    first: str
    last: str
    records: int  # people isolated; of a notice, those it concerns
    findings: tuple[int, ...]
    signs: tuple[str, ...]  # of intent


def finding_id(finding: Finding) -> str:
    """A name that the finding has in every audit of the same log."""
    proof = sorted((measure, query, str(times)) for measure, query, times in finding.coefficients)
    asked = sorted({(total.query, total.measure, total.extreme) for total in finding.totals})
    parts = (finding.kind, finding.view, sorted(finding.queries), sorted(finding.users), proof, asked, finding.note)
    return "f_" + _digest(repr(parts).encode() + np.packbits(finding.places).tobytes())


def make_cases(
    findings: Sequence[Finding],
    statements: Sequence[CaseStatement],
    totals: Sequence[QueryTotal] = (),
    weights: Mapping[str, Ints] | None = None,
    k: int = 0,
) -> list[Case]:
    """The cases, gravest first. `totals` are all of the log, `weights` the records of each place by measure."""
    log = _Log(statements, totals, weights or {}, k)
    cases = [log.case(findings, group) for group in _groups(findings)]
    return sorted(cases, key=lambda case: (-GRAVITY[case.severity], -case.records, case.first, case.id))


def _groups(findings: Sequence[Finding]) -> list[list[int]]:
    """Findings that hang together, by the first of each group."""
    above = list(range(len(findings)))

    def root(i: int) -> int:
        while above[i] != i:
            above[i] = above[above[i]]
            i = above[i]
        return i

    holder: dict[Hashable, int] = {}
    for i, finding in enumerate(findings):
        for tie in _ties(finding):
            above[root(i)] = root(holder.setdefault(tie, i))
    groups: dict[int, list[int]] = {}
    for i in range(len(findings)):
        groups.setdefault(root(i), []).append(i)
    return list(groups.values())


def _ties(finding: Finding) -> Iterator[Hashable]:
    """What a finding shares with others of its case. A notice isolates nobody and stays among its kind."""
    of = (finding.view, frozenset(finding.users), finding.kind if finding.severity == "notice" else "")
    for query in finding.queries:
        yield (*of, query)
    if finding.severity != "notice":
        for place in np.flatnonzero(finding.places).tolist():
            yield (*of, place)


class _Log:
    """What is known of each query: when it was asked, its words and its sets."""

    def __init__(
        self, statements: Sequence[CaseStatement], totals: Sequence[QueryTotal], weights: Mapping[str, Ints], k: int
    ) -> None:
        self.order = {one.id: number for number, one in enumerate(statements)}
        self.by_id = {one.id: one for one in statements}
        self.weights, self.k = weights, k
        self.asked: defaultdict[Hashable, set[str]] = defaultdict(set)  # a set of people and a measure -> queries
        self.rare: set[str] = set()
        for total in totals:
            self.asked[_question(total)].add(total.query)
            if total.measure in weights and weights[total.measure][total.members].sum() < k:
                self.rare.add(total.query)

    def case(self, findings: Sequence[Finding], group: Sequence[int]) -> Case:
        group = sorted(group, key=lambda i: (-GRAVITY[findings[i].severity], findings[i].records, i))
        held = [findings[i] for i in group]
        queries = sorted({q for one in held for q in one.queries}, key=lambda q: (self.order.get(q, 0), q))
        times = sorted((self.by_id[q].time for q in queries if q in self.by_id), key=lambda t: (_moment(t) or "", t))
        return Case(
            id="c_" + _digest("".join(sorted(map(finding_id, held))).encode()),
            severity=held[0].severity,
            kinds=tuple(dict.fromkeys(one.kind for one in held)),
            users=held[0].users,
            view=held[0].view,
            queries=tuple(queries),
            first=times[0] if times else "",
            last=times[-1] if times else "",
            records=self._people(held),
            findings=tuple(group),
            signs=tuple(self._signs(held, queries)) if held[0].severity != "notice" else (),
        )

    def _people(self, held: Sequence[Finding]) -> int:
        """Records isolated: those of all places together, and never more than the findings count one by one."""
        counted = sum(one.records for one in held)
        if not self.weights:
            return counted
        places = np.logical_or.reduce([one.places for one in held])
        return min(counted, int(np.max([weight[places].sum() for weight in self.weights.values()])))

    def _signs(self, held: Sequence[Finding], queries: Sequence[str]) -> Iterator[str]:
        """What speaks for intent. Analysts slide windows too: reasons to look and to talk, and no more."""
        users = set(held[0].users)
        if len(users) == 1 and len(queries) > 1:
            yield "a single user"
        reworded = self._rewordings(held, users)
        if reworded:
            yield f"{reworded} {'rewording' if reworded == 1 else 'rewordings'} of an earlier query"
        gap = self._gap(held[0].queries)
        if gap is not None and gap <= SHORT:
            yield f"asked within {_span(gap)}"
        rare = len(self.rare.intersection(queries))
        if rare:
            yield f"{rare} {'query selects' if rare == 1 else 'queries select'} fewer than {self.k} records"

    def _rewordings(self, held: Sequence[Finding], users: set[str]) -> int:
        """Texts that ask for a set of the case once more, in other words."""
        again = 0
        for question in {_question(total) for one in held for total in one.totals}:
            mine = [self.by_id[q] for q in self.asked[question] if q in self.by_id and self.by_id[q].user in users]
            again += max(0, len({" ".join(one.sql.split()).casefold() for one in mine}) - 1)
        return again

    def _gap(self, queries: Sequence[str]) -> timedelta | None:
        moments = [_moment(self.by_id[q].time) for q in queries if q in self.by_id]
        known = [datetime.fromisoformat(moment) for moment in moments if moment]
        return max(known) - min(known) if len(known) == len(queries) > 1 else None


def _question(total: QueryTotal) -> Hashable:
    return total.measure, total.extreme, tuple((pattern, fingerprint(members)) for pattern, members in total.cells)


def _moment(time: str) -> str:
    """A time that compares as text: in UTC where it says its zone; empty where it is none."""
    try:
        moment = datetime.fromisoformat(time)
        moment = moment.replace(tzinfo=None) - (moment.utcoffset() or timedelta())
    except (ValueError, OverflowError):
        return ""
    return moment.isoformat(timespec="microseconds")


def _span(gap: timedelta) -> str:
    """
    >>> _span(timedelta(seconds=40)), _span(timedelta(minutes=3, seconds=1))
    ('40 seconds', '4 minutes')
    """
    seconds = max(1, -(-gap // timedelta(seconds=1)))
    number, unit = (seconds, "second") if seconds < 60 else (-(-seconds // 60), "minute")
    return f"{number} {unit}{'' if number == 1 else 's'}"


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=5).hexdigest()
