"""Risk reports over HTTP: what the custodian's process measured, for custodians to read."""

from __future__ import annotations

from flask import Response

from querygate.core.types import Principal
from querygate.site.open_gate import OpenSite
from querygate.site.risk_report_files import find_risk, find_risk_page
from querygate.web.query_routes import give, give_page


class Risks:
    """One method per route about risk, called as the route's name."""

    def __init__(self, opened: OpenSite) -> None:
        self._opened = opened

    def read_risk(self, principal: Principal, dataset: str) -> Response:
        return give(find_risk(self._opened, dataset, user=principal.name))

    def read_risk_report(self, principal: Principal, dataset: str) -> Response:
        return give_page(find_risk_page(self._opened, dataset, user=principal.name), f"{dataset}-risk.html")
