"""Requests for extracts over HTTP: decode, call, render. What is decided is decided elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, cast

from flask import Response, request

from querygate.core.extracts.approval_states import Action
from querygate.core.extracts.use_agreement import UseAgreement
from querygate.core.types import Principal
from querygate.site.extract_requests.extracts import Extracts
from querygate.web.problems import malformed
from querygate.web.query_routes import give, give_page
from querygate.web.request_body import check_fields, read_object, read_text, read_truth

CHUNK = 1 << 18
SPEC = 'Send {"dataset": "...", "purpose": "...", ...}.'
COMMENT = 'Send no body, or {"comment": "...", "beside_views": false, "agreement": {...}}.'


class Exports:
    """One method per route about extracts, called as the route's name."""

    def __init__(self, extracts: Extracts) -> None:
        self._extracts = extracts

    def list_exports(self, principal: Principal) -> Response:
        state, mine = request.args.get("state"), read_truth("mine")
        return give({"exports": self._extracts.listed(principal, state=state, mine=mine)})

    def request_export(self, principal: Principal) -> Response:
        return give(self._extracts.request(principal, read_object(SPEC)))

    def show_export(self, principal: Principal, request_id: str) -> Response:
        return give(self._extracts.show(principal, request_id, preview=read_truth("preview")))

    def edit_export(self, principal: Principal, request_id: str) -> Response:
        return give(self._extracts.edit(principal, request_id, read_object(SPEC)))

    def act_on_export(self, principal: Principal, request_id: str, action: str) -> Response:
        body = read_object(COMMENT, optional=True)
        check_fields(body, "", ("comment", "beside_views", "agreement"))
        comment = read_text(body, "comment") if "comment" in body else ""
        beside_views = body.get("beside_views", False)
        if not isinstance(beside_views, bool):
            raise malformed("beside_views: must be true or false.")
        agreement = UseAgreement.of(body["agreement"]) if "agreement" in body else None
        given = cast(Action, action)
        return give(
            self._extracts.act(principal, request_id, given, comment, beside_views=beside_views, agreement=agreement)
        )

    def fetch_export(self, principal: Principal, request_id: str) -> Response:
        handle = self._extracts.fetch(principal, request_id)
        response = Response(_chunks(handle), content_type="application/zip")
        response.call_on_close(handle.close)  # a reader that goes away leaves the generator unfinished
        response.headers["Content-Disposition"] = f'attachment; filename="{request_id}.zip"'
        return response

    def read_export_report(self, principal: Principal, request_id: str) -> Response:
        return give_page(self._extracts.report(principal, request_id), f"{request_id}.html")

    def read_export_risk(self, principal: Principal, request_id: str) -> Response:
        return give(self._extracts.risk(principal, request_id))

    def read_export_risk_report(self, principal: Principal, request_id: str) -> Response:
        return give_page(self._extracts.risk_page(principal, request_id), f"{request_id}-risk.html")


def _chunks(handle: BinaryIO) -> Iterator[bytes]:
    while chunk := handle.read(CHUNK):
        yield chunk
