"""Pages for whoever looks after the site: today, and the log."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, Final

from flask import Response, request

from querygate.control.activity import Activity, DayActivity
from querygate.control.log.entry_kinds import KINDS
from querygate.control.log.log_search import LogFilter, search_log
from querygate.control.sessions import Session
from querygate.core.errors import CODES, NotPermitted
from querygate.core.jobs import JobUnderway
from querygate.core.rights import Right
from querygate.core.types import Principal
from querygate.site.audit_cases import AuditCases, AuditedDataset
from querygate.site.budget_evidence import open_ledger
from querygate.site.job_exchange import JobExchange
from querygate.site.noise_by_job import no_worker
from querygate.site.open_gate import OpenSite, now
from querygate.web.console.entry_words import entry_words
from querygate.web.console.page import go, make_page
from querygate.web.console.page_session import PageRoute
from querygate.web.console.timeline import Timeline, make_timeline
from querygate.web.job_routes import JobViews
from querygate.web.problems import malformed

OVERSEE: tuple[Right, ...] = ("oversee",)

PAGES: Final = (
    PageRoute("today", "GET", "/today", rights=OVERSEE),
    PageRoute("log", "GET", "/log", rights=OVERSEE),
    PageRoute("entry", "GET", "/log/<int:seq>", rights=OVERSEE),
    PageRoute("verify_log", "POST", "/log/verify", rights=OVERSEE),
)

DAYS = 14
MOST_LISTED = 8
FAMILIES = tuple(dict.fromkeys(kind.partition(".")[0] for kind in KINDS))


@dataclass(frozen=True, slots=True)
class BudgetLeft:
    """What was spent of a limit."""

    dataset: str
    whose: str
    name: str
    spent: float
    limit: float


class OverviewPages:
    def __init__(self, opened: OpenSite, cases: AuditCases, jobs: JobViews, exchange: JobExchange | None) -> None:
        self._opened, self._cases, self._jobs, self._exchange = opened, cases, jobs, exchange
        self._activity = Activity(opened.log.database)

    # -- today -------------------------------------------------------------------------------------------

    def today(self, session: Session) -> Response:
        days = self._activity.days(now().date(), DAYS)
        codes: Counter[str] = sum((Counter(day.codes) for day in days), Counter())
        datasets: Counter[str] = sum((Counter(day.datasets) for day in days), Counter())
        audited = self._cases.overview()
        return make_page(
            "custodian/today.html",
            session=session,
            today=days[-1],
            timelines=timelines(days),
            number=DAYS,
            codes=[(code, CODES[code].title if code in CODES else "", n) for code, n in codes.most_common(MOST_LISTED)],
            datasets=datasets.most_common(MOST_LISTED),
            waiting=self._waiting(session.principal, audited),
            budgets=self._budgets(),
        )

    def _waiting(self, principal: Principal, audited: list[AuditedDataset]) -> list[tuple[str, str, int]]:
        """What somebody should look at: its name, where it is, and how much there is."""
        cases = [(f"Unresolved cases in {one.name}", f"/audits/{one.name}", one.open) for one in audited if one.open]
        states = self._opened.log.database.rows(
            "SELECT state, count(*) FROM export_request WHERE state IN ('submitted', 'in_review') GROUP BY state"
        )
        if principal.may("review"):
            words = {"submitted": "Extract requests submitted", "in_review": "Extract requests in review"}
            cases += [(words[state], f"/requests?state={state}", int(number)) for state, number in states]
        if self._exchange is not None and (jobs := self._exchange.waiting()[0]) and principal.may("operate"):
            cases.append(("Jobs waiting for a worker", "/site", jobs))
        return cases

    def _budgets(self) -> list[BudgetLeft]:
        """Of each dataset that answers with noise; a ledger elsewhere is not asked."""
        if self._opened.site.settings["budgets"]:
            return []
        ledger, found = open_ledger(self._opened), []
        for dataset in self._opened.store.datasets():
            spent = [one for one in ledger.spent(dataset) if one.scope.kind == "dataset"]
            found += [BudgetLeft(dataset, "dataset", dataset, one.epsilon, one.scope.epsilon) for one in spent]
        return found

    # -- the log -----------------------------------------------------------------------------------------

    def log(self, session: Session) -> Response:
        """Whoever reads the log is on record in it."""
        wanted, before = _read_filter(), _read_number("before")
        body: dict[str, Any] = {name: value for name, value in asdict(wanted).items() if value and name != "dataset"}
        body |= {"before": before} if before else {}
        self._opened.log.note(
            "log.read", user=session.principal.name, dataset=wanted.dataset or None, body={**body, "page": True}
        )
        job_id = request.args.get("job", "")
        return make_page(
            "custodian/log.html",
            session=session,
            page=search_log(self._opened.log.database, wanted, before),
            wanted=wanted,
            families=FAMILIES,
            entry_words=entry_words,
            codes=CODES,
            datasets=self._opened.store.datasets(),
            head=self._opened.log.head(),
            is_filtered=any(asdict(wanted).values()),
            job=self._jobs.body_of(session.principal, job_id) if job_id else None,
        )

    def entry(self, session: Session, seq: int) -> Response:
        found = self._opened.log.entry(seq)
        if found is None:
            raise NotPermitted(
                "QG307",
                "There is no such entry, or it is in an archive.",
                "`querygate log list` reads archives too.",
            )
        self._opened.log.note("log.read", user=session.principal.name, body={"entry": seq})
        body = json.dumps(found["body"], indent=2, ensure_ascii=False)
        return make_page("custodian/entry.html", session=session, entry=found, body=body)

    def verify_log(self, session: Session) -> Response:
        """A worker follows the whole log; what came of it stands above the entries."""
        if self._exchange is None:
            raise no_worker()
        name = session.principal.name
        self._opened.log.note("log.verify", user=name)
        try:
            self._exchange.ask("log.verify", dataset="", user=name, body={}, shared_s=0, wait=False)
        except JobUnderway as underway:
            return go(f"/log?job={underway.job_id}")
        return go("/log")


def timelines(days: list[DayActivity]) -> list[Timeline]:
    """Each figure by day."""
    named = [(day.day.isoformat(), day) for day in days]
    parts = ("answered", "refused", "failed")
    return [
        make_timeline("Questions", parts, [(text, [day.outcomes.get(p, 0) for p in parts]) for text, day in named]),
        make_timeline("Users", ("users",), [(text, [len(day.users)]) for text, day in named]),
        make_timeline("Refusals", ("refused",), [(text, [day.refused]) for text, day in named]),
        make_timeline("Alerts", ("alerts",), [(text, [day.alerts]) for text, day in named]),
        make_timeline("Budget spent", ("epsilon",), [(text, [day.epsilon]) for text, day in named], "{:g}"),
    ]


def _read_filter() -> LogFilter:
    given = {name: request.args.get(name, "").strip()[:200] for name in LogFilter.__slots__}
    for name in ("since", "until"):
        try:
            given[name] = date.fromisoformat(given[name]).isoformat() if given[name] else ""
        except ValueError:
            raise malformed(f"{name}: must be a day.", "Write it as 2026-03-01.") from None
    if given["code"] and given["code"] not in CODES:
        raise malformed("code: is not a code of this gate.", "Choose one from the list.")
    return LogFilter(**given)


def _read_number(name: str) -> int | None:
    text = request.args.get(name, "")
    if text and not (text.isascii() and text.isdigit() and len(text) < 16):
        raise malformed(f"{name}: must be a whole number.")
    return int(text) if text else None
