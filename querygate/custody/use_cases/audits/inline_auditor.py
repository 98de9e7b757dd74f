"""The inline auditor: says before an answer whether it could single people out. By the setting `inline_audit` alone.

It reads quasi-identifiers in the vault, in the custodian's worker or command. Whoever knows these could work out each
decision; whoever does not learns from a refusal that a set is small. State is the log: what was answered, by whichever
process, is read from there before each decision. What is being answered at the moment is remembered until it is
settled.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import replace

from querygate.control.log.log_tail import follow
from querygate.core.errors import ConfigError
from querygate.core.ports import QueryLog
from querygate.core.types import Bools, Catalog
from querygate.custody.audit.answer_ledger import AnswerLedger, ViewFinding
from querygate.custody.audit.audit_problems import problem_of
from querygate.custody.use_cases.audits.certified_answers import is_certified
from querygate.custody.use_cases.audits.site_coalitions import POOLED, is_blocking, views_of
from querygate.custody.use_cases.known_columns import open_structure
from querygate.gate.query_state import INTERVAL
from querygate.site.audit_rule import check_differencing
from querygate.site.open_gate import OpenSite

NOTE = "audit.inline"

logger = logging.getLogger("querygate")


def with_auditor(opened: OpenSite) -> OpenSite:
    """The site with an inline auditor at its gate."""
    check_differencing("refuse", opened.site.settings)
    return replace(opened, gate=replace(opened.gate, auditor=Inline(opened)))


class Inline:
    """One auditor for all datasets of a site. Safe to share between threads."""

    def __init__(self, opened: OpenSite, notes: QueryLog | None = None) -> None:
        """What is found is noted in the log of the site, unless somewhere else."""
        self._opened, self._notes = opened, notes or opened.log
        self._datasets: dict[str, _Dataset] = {}
        self._pending: dict[str, _Dataset] = {}
        self._lock = threading.Lock()

    def judge(self, query_id: str, catalog: Catalog, user: str, sql: str) -> bool:
        """Could the answer single people out? A statement that cannot be decided on could. The gate asks about ranges
        alone, and no combination of ranges from certified views is about fewer than k people.
        """
        if is_certified(INTERVAL, views=bool(catalog.margins)):
            return False
        with self._lock:
            known = self._datasets.get(catalog.dataset)
            if known is None or known.version != catalog.version:
                known = self._datasets[catalog.dataset] = _Dataset(self._opened, catalog)
            self._pending[query_id] = known
        found, why = known.judge(query_id, user, sql)
        could = bool(why) or any(is_blocking(one.view, user) for one in found)
        if found or why:
            views = [{"view": one.view, "rule": one.verdict.rule, "records": one.verdict.records} for one in found]
            refused = could and catalog.on_differencing == "refuse"
            body = {"query": query_id, "version": catalog.version, "found": views, "undecided": why, "refused": refused}
            self._notes.note(NOTE, user=user, dataset=catalog.dataset, body=body)
            if refused:
                known.settle(query_id)
        return could

    def settle(self, query_id: str) -> None:
        with self._lock:
            known = self._pending.pop(query_id, None)
        if known is not None:
            known.settle(query_id)


class _Dataset:
    """One version of a dataset: what was answered of it, and what is being answered."""

    def __init__(self, opened: OpenSite, catalog: Catalog) -> None:
        self._opened, self._catalog = opened, catalog
        self.version = catalog.version
        self._ledger: AnswerLedger | None = None
        self._seen = 0
        self._pending: dict[str, tuple[str, Bools]] = {}
        self._lock = threading.Lock()

    def judge(self, query_id: str, user: str, sql: str) -> tuple[list[ViewFinding], str]:
        """What each view would come to know, or why that is not known."""
        with self._lock:
            try:
                ledger = self._caught_up()
                sets = ledger.structure.sets(sql)
                found = ledger.judge(user, sets, views_of(self._opened), self._pending.values())
            except Exception as error:
                if isinstance(error, ConfigError):
                    logger.error("the inline audit failed: %s", error.detail)
                return [], problem_of(error).reason
            self._pending[query_id] = user, sets
            return found, ""

    def settle(self, query_id: str) -> None:
        with self._lock:
            self._pending.pop(query_id, None)

    def _caught_up(self) -> AnswerLedger:
        """The ledger with everything that the log says was answered of this version."""
        if self._ledger is None:
            structure = open_structure(self._opened.site, self._catalog)
            self._ledger = AnswerLedger(structure, self._catalog.k, POOLED)
        for entry in follow(self._opened.log, self._catalog.dataset, self._seen):
            self._seen = entry.seq
            if entry.version == self.version:
                try:
                    self._ledger.take(entry.user, entry.query_id, self._ledger.structure.sets(entry.sql))
                except Exception as error:  # it was answered all the same: under another rule, or before there was one
                    problem_of(error)  # a fault is in the log of the server; no later query fails by it
        return self._ledger
