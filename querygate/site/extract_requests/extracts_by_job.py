"""Extracts at a gate without a vault: what needs the raw rows, or what lies beside them, is done by a worker."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Never

from querygate.core.errors import ExtractRefused, QueryGateError
from querygate.core.extracts.approval_states import FINAL, Action, ExtractRequest, roles_of
from querygate.core.extracts.use_agreement import UseAgreement
from querygate.core.jobs import JobKind, JobUnderway
from querygate.core.types import Principal
from querygate.site.extract_requests.extracts import Extracts
from querygate.site.job_exchange import DRAWN_S, JobExchange
from querygate.site.open_gate import OpenSite

PREVIEW_S = 3600.0
"""So long programs get the figures again that were made for anybody who decides. Pages say when they were made."""


class ExtractsByJob(Extracts):
    """The same use-cases; a build is a job from the start, others where they are not done in time."""

    def __init__(self, site: OpenSite, exchange: JobExchange) -> None:
        super().__init__(site, via="http")
        self._exchange = exchange

    def may_preview(self, by: Principal, request_id: str) -> bool:
        request = self._see(by, request_id)
        return request.state not in FINAL and request.manifest is None and "reviewer" in roles_of(by, request)

    def read_preview(self, by: Principal, request_id: str) -> Mapping[str, Any] | None:
        request = self._see(by, request_id)
        self._check_reviewer(by, request)
        wanted = _asked(request, self._served(request))
        job = self._exchange.last("extract.preview", request.spec.dataset, by.name, wanted)
        if job is None or job.state == "cancelled":
            return None
        if not job.has_ended:
            raise JobUnderway(job.id)
        found = job.result or {}
        return {**(found if job.state == "done" else {"refused": found}), "made": job.finished}

    def start_preview(self, by: Principal, request_id: str) -> None:
        request = self._see(by, request_id)
        self._check_reviewer(by, request)
        self._begin_preview(by, request, shared_s=0)

    def risk_page(self, by: Principal, request_id: str) -> bytes:
        assessment, request = self.risk(by, request_id), self._see(by, request_id)
        found = self._ask("extract.risk_page", by, request, {"assessment": assessment}, shared_s=DRAWN_S)
        return str(found["page"]).encode()

    def _decide(
        self,
        by: Principal,
        request_id: str,
        action: Action,
        comment: str,
        beside_views: bool,
        agreement: UseAgreement | None,
    ) -> ExtractRequest:
        """Whoever begins to review will want the figures, so they are begun too."""
        request = super()._decide(by, request_id, action, comment, beside_views, agreement)
        if action == "take":
            with suppress(QueryGateError):  # of a dataset that is gone; whoever looks is told
                self._begin_preview(by, request, shared_s=PREVIEW_S)
        return request

    def _build(self, by: Principal, request_id: str) -> Never:
        request = self._check_leaving(by, request_id, "build")
        self._ask("extract.build", by, request, shared_s=0, wait=False)
        raise AssertionError("a build is a job, which is never there at once")

    def _release(self, by: Principal, request_id: str) -> ExtractRequest:
        request = self._check_leaving(by, request_id, "release")
        self._ask("extract.release", by, request, shared_s=0)
        return self._see(by, request_id)

    def _preview(self, by: Principal, request: ExtractRequest) -> dict[str, Any]:
        self._check_reviewer(by, request)
        try:
            return dict(self._ask("extract.preview", by, request, self._served(request), shared_s=PREVIEW_S))
        except ExtractRefused as refused:
            return {"refused": {"code": refused.code, "detail": refused.detail, "remedy": refused.remedy}}

    def _begin_preview(self, by: Principal, request: ExtractRequest, shared_s: float) -> None:
        with suppress(JobUnderway, ExtractRefused):
            self._ask("extract.preview", by, request, self._served(request), shared_s=shared_s, wait=False)

    def _read_built(self, by: Principal, request: ExtractRequest) -> bytes | None:
        page = self._ask("extract.report", by, request, shared_s=PREVIEW_S)["page"]
        return None if page is None else str(page).encode()

    def _served(self, request: ExtractRequest) -> dict[str, int]:
        """The version that figures are of: with another, they are other figures."""
        return {"version": self._catalog(request.spec.dataset).version}

    def _ask(
        self,
        kind: JobKind,
        by: Principal,
        request: ExtractRequest,
        more: Mapping[str, Any] | None = None,
        *,
        shared_s: float,
        wait: bool = True,
    ) -> Mapping[str, Any]:
        body = _asked(request, more or {})
        return self._exchange.ask(
            kind, dataset=request.spec.dataset, user=by.name, body=body, shared_s=shared_s, wait=wait
        )


def _asked(request: ExtractRequest, more: Mapping[str, Any]) -> dict[str, Any]:
    """What a job is about. Whoever asks for the same gets the same."""
    told = {"request": request.id, "requester": request.requester, "manifest": request.manifest}
    agreed = {"agreement": request.agreement.to_dict()} if request.agreement else {}
    return {**told, "wish": request.spec.to_dict(), **agreed, **more}
