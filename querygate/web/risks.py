"""Risk reports over HTTP: what the custodian's process measured, for custodians to read."""

from __future__ import annotations

from flask import Response

from querygate.core.types import Principal
from querygate.site.gate import OpenSite
from querygate.site.risk_notes import find_risk, find_risk_page
from querygate.web.api import give


class Risks:
    """One method per route about risk, called as the route's name."""

    def __init__(self, opened: OpenSite) -> None:
        self._opened = opened

    def read_risk(self, principal: Principal, dataset: str) -> Response:
        return give(find_risk(self._opened, dataset, user=principal.name))

    def read_risk_report(self, principal: Principal, dataset: str) -> Response:
        # To be opened where it was saved: this site's rules for pages let in no styles or pictures of the page's own.
        page = find_risk_page(self._opened, dataset, user=principal.name)
        response = Response(page, content_type="text/html; charset=utf-8")
        response.headers["Content-Disposition"] = f'attachment; filename="{dataset}-risk.html"'
        return response
