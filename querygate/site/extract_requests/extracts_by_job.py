"""Extracts at a gate without a vault: what needs the raw rows, or what lies beside them, is done by a worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Never

from querygate.core.errors import ExtractRefused
from querygate.core.extracts.approval import FINAL, ExtractRequest, roles_of
from querygate.core.jobs import JobKind
from querygate.core.types import Principal
from querygate.site.extract_requests.extracts import Extracts
from querygate.site.job_exchange import JobExchange
from querygate.site.open_gate import OpenSite

PREVIEW_S = 600.0
"""So long the figures of a preview are given again to whoever asked for them."""


class ExtractsByJob(Extracts):
    """The same use-cases; a build is a job from the start, others where they are not done in time."""

    def __init__(self, site: OpenSite, exchange: JobExchange) -> None:
        super().__init__(site, via="http")
        self._exchange = exchange

    def may_preview(self, by: Principal, request_id: str) -> bool:
        request = self._see(by, request_id)
        return request.state not in FINAL and request.manifest is None and "reviewer" in roles_of(by, request)

    def risk_page(self, by: Principal, request_id: str) -> bytes:
        assessment, request = self.risk(by, request_id), self._see(by, request_id)
        found = self._ask("extract.risk_page", by, request, {"assessment": assessment}, shared_s=PREVIEW_S)
        return str(found["page"]).encode()

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
        body = {
            "request": request.id,
            "requester": request.requester,
            "wish": request.spec.to_dict(),
            "manifest": request.manifest,
            **({"agreement": request.agreement.to_dict()} if request.agreement else {}),
            **(more or {}),
        }
        return self._exchange.ask(
            kind, dataset=request.spec.dataset, user=by.name, body=body, shared_s=shared_s, wait=wait
        )
