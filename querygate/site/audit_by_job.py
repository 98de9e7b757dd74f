"""The inline auditor of a gate without raw rows: a worker says whether an answer could single people out."""

from __future__ import annotations

from querygate.core.jobs import JobUnderway
from querygate.core.types import Catalog
from querygate.site.job_exchange import JobExchange
from querygate.site.noise_by_job import no_worker


class AuditByJob:
    """What stands behind `core.ports.InlineAuditor`: no verdict, no answer."""

    def __init__(self, exchange: JobExchange) -> None:
        self._exchange = exchange

    def judge(self, query_id: str, catalog: Catalog, user: str, sql: str) -> bool:
        if catalog.margins:  # no combination of ranges from certified views is about fewer than k people
            return False
        body = {"query_id": query_id, "version": catalog.version, "sql": sql}
        try:
            found = self._exchange.ask("audit.verdict", dataset=catalog.dataset, user=user, body=body)
        except JobUnderway as underway:
            self._exchange.cancel(underway.job_id)
            raise no_worker() from None
        return bool(found["could"])

    def settle(self, query_id: str) -> None:
        """The worker sees in the log how the query ended."""
