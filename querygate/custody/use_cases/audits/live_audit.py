"""The custodian's watch: follows the log of a dataset and reports what each answer, with those before it, revealed.

It decides as the inline auditor would, over the same views, but afterwards and in the custodian's own process. An alert
names the queries, the users and the number of records; it has no SQL, no value and no answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from querygate.control.alerts import Alerts
from querygate.control.log.log_tail import AnsweredQuery, follow
from querygate.core.audit.audit_records import Unanswerable
from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.core.json_body import JsonValue
from querygate.core.types import Catalog
from querygate.custody.audit.answer_ledger import AnswerLedger, ViewFinding, in_smallest
from querygate.custody.audit.audit_problems import AuditProblem, problem_of
from querygate.custody.use_cases.audits.certified_answers import has_views, is_certified
from querygate.custody.use_cases.audits.site_coalitions import POOLED, views_of
from querygate.custody.use_cases.known_columns import open_structure
from querygate.methods.audit.answer_verdict import ITSELF, WHOLE
from querygate.site.open_gate import OpenSite

SAID = {
    "small": "is about too few",
    "pair": "differs by too few from",
    "linear": "with earlier answers determines the total of too few",
    "tied": "with earlier answers links too few with each other",
    "cap": "is one of more distinct sets than can be followed",
}

Alert: TypeAlias = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class LogLook:
    """The result of one look at the log."""

    alerts: tuple[Alert, ...]
    queries: int
    unread: tuple[tuple[str, str], ...]  # (query, why it could not be audited)
    incidents: tuple[str, ...] = ()  # of queries that the auditor failed on


class LiveAudit:
    """One dataset, from where its last watch ended."""

    def __init__(self, opened: OpenSite, dataset: str, *, user: str, channels: tuple[str, ...] = ()) -> None:
        self._opened, self._dataset, self._user, self._channels = opened, dataset, user, channels
        self._served = opened.store.current(dataset).catalog
        self._alerts = Alerts(opened.log.database, opened.log)
        self._ledgers: dict[int, AnswerLedger | None] = {}  # by version; None if its raw records are gone
        self._views: dict[int, bool] = {}  # by version
        self._read = 0  # entries in the ledgers
        self._capped: set[tuple[int, str]] = set()

    def look(self) -> LogLook:
        """Audit everything that was answered since: when this returns, findings are logged and ready to be sent.

        What was looked at before is taken in again first, without a word, where this process is a new one.
        """
        found: list[Alert] = []
        unread: dict[str, AuditProblem] = {}
        queries = 0
        seen = self._alerts.seen(self._dataset)
        for entry in follow(self._opened.log, self._dataset, self._read):
            is_new = entry.seq > seen
            try:
                alerts = self._alerts_of(entry, judge=is_new)
            except Exception as error:
                alerts = []
                if is_new:
                    unread[entry.query_id] = problem_of(error)
            self._read = entry.seq
            if is_new:
                queries += 1
                found += self._alerts.record(self._dataset, entry.seq, alerts, self._channels, user=self._user)
        told = tuple((query, problem.reason) for query, problem in unread.items())
        incidents = tuple(problem.incident for problem in unread.values() if problem.incident)
        return LogLook(tuple(found), queries, told, incidents)

    def _alerts_of(self, entry: AnsweredQuery, *, judge: bool) -> list[Alert]:
        """What an answer made known. It is taken in whatever comes of it, a range from certified views too: by itself
        it tells of nobody, but a noisy answer beside it might.
        """
        judge = judge and not is_certified(entry.mode, views=self._has_views(entry.version))
        ledger = self._ledger(entry.version)
        if ledger is None:
            raise Unanswerable(f"The vault does not have the raw records of version {entry.version}.")
        sets = ledger.structure.sets(entry.sql)
        try:
            found = ledger.judge(entry.user, sets, views_of(self._opened)) if judge else []
        finally:
            ledger.take(entry.user, entry.query_id, sets)
        return [make_alert(self._dataset, entry, one) for one in in_smallest(found) if self._is_news(entry, one)]

    def _is_news(self, entry: AnsweredQuery, found: ViewFinding) -> bool:
        """That a view has more sets than can be followed is reported once."""
        if found.verdict.rule != "cap":
            return True
        told = (entry.version, found.view) in self._capped
        self._capped.add((entry.version, found.view))
        return not told

    def _has_views(self, version: int) -> bool:
        if version not in self._views:
            self._views[version] = has_views(self._opened, self._served, version)
        return self._views[version]

    def _ledger(self, version: int) -> AnswerLedger | None:
        if version not in self._ledgers:
            catalog: Catalog = replace(self._served, version=version)
            try:
                self._ledgers[version] = AnswerLedger(open_structure(self._opened.site, catalog), catalog.k, POOLED)
            except ConfigError:
                self._ledgers[version] = None
        return self._ledgers[version]


def make_alert(dataset: str, entry: AnsweredQuery, found: ViewFinding) -> Alert:
    """The id follows from what it is about: the same finding has it in every process."""
    about = (dataset, entry.version, entry.query_id, found.view, found.verdict.rule)
    ident = "a_" + hashlib.blake2b("\n".join(map(str, about)).encode(), digest_size=10).hexdigest()
    return {
        "id": ident,
        "dataset": dataset,
        "version": entry.version,
        "time": entry.time,
        "query": entry.query_id,
        "with": found.verdict.other or None,
        "user": entry.user,
        "view": found.view,
        "rule": found.verdict.rule,
        "records": found.verdict.records,
    }


def explain_alert(alert: Alert) -> str:
    """The alert in a sentence or two."""
    people = counted(int(str(alert["records"])), "record")
    beside = {WHOLE: " everybody", ITSELF: " another of its own groups"}.get(
        str(alert["with"]), f" {alert['with'] or ''}"
    )
    said = f"{alert['query']} of {alert['user']} {SAID[str(alert['rule'])]}{beside}".rstrip()
    told = f": {people}" if alert["records"] else ""
    return f"{said}{told}. View: {alert['view']}; {alert['dataset']}, version {alert['version']}; {alert['id']}."


def write_alert(alert: Alert) -> str:
    """The alert as a mail."""
    return f"Subject: QueryGate: {alert['dataset']}, {alert['rule']} ({alert['id']})\n\n{explain_alert(alert)}\n"
