"""The page for whoever runs the site: is it well, what is it set to, what is being worked on."""

from __future__ import annotations

from typing import Final

from flask import Response

from querygate.control.sessions import Session
from querygate.core.jobs import ENDED
from querygate.core.rights import Right
from querygate.site.admin_overview import (
    last_mark,
    last_of,
    quick_checks,
    receivers,
    shown_settings,
    sizes,
    waiting_messages,
)
from querygate.site.job_exchange import JobExchange
from querygate.site.open_gate import OpenSite, now
from querygate.web.console.page import make_page
from querygate.web.console.page_session import PageRoute

RUN: tuple[Right, ...] = ("operate", "accounts")

PAGES: Final = (PageRoute("site", "GET", "/site", rights=RUN),)

MOST_JOBS = 25


class SitePages:
    def __init__(self, opened: OpenSite, exchange: JobExchange | None) -> None:
        self._opened, self._exchange = opened, exchange

    def site(self, session: Session) -> Response:
        """What jobs were about, and what came of them, is not told: that is for whoever asked."""
        jobs = self._exchange.latest(MOST_JOBS) if self._exchange is not None else []
        workers = {job.worker: job.lease for job in jobs if job.worker and job.state not in ENDED}
        return make_page(
            "custodian/site.html",
            session=session,
            checks=list(quick_checks(self._opened)),
            settings=shown_settings(self._opened),
            jobs=jobs,
            workers=workers,
            waiting=self._exchange.waiting() if self._exchange is not None else None,
            sizes=sizes(self._opened),
            messages=waiting_messages(self._opened),
            receivers=receivers(self._opened),
            is_signed=bool(self._opened.site.settings["webhook_secret"]),
            backup=last_of(self._opened, "site.backup"),
            rotated=last_of(self._opened, "log.rotate"),
            mark=last_mark(self._opened),
            now=now().isoformat(),
        )
