"""The root that joins a gate to the exchange of jobs: what needs raw rows is done by a worker, wherever that is."""

from __future__ import annotations

from dataclasses import dataclass, replace

from querygate.site.audit_by_job import AuditByJob
from querygate.site.extract_requests.extracts import Extracts
from querygate.site.extract_requests.extracts_by_job import ExtractsByJob
from querygate.site.job_exchange import JobExchange
from querygate.site.noise_by_job import NoiseByJob
from querygate.site.open_gate import OpenSite


@dataclass(frozen=True, slots=True)
class GateWithJobs:
    """A site whose gate puts jobs, its exchange, and its extracts."""

    opened: OpenSite
    exchange: JobExchange
    extracts: Extracts


def with_jobs(opened: OpenSite) -> GateWithJobs:
    """The site with noisy answers at its gate, extracts that can be built and, where its settings want one, an inline
    auditor."""
    exchange = JobExchange(opened)
    auditor = AuditByJob(exchange) if opened.site.settings["inline_audit"] else None
    gate = replace(opened.gate, noise=NoiseByJob(opened, exchange), auditor=auditor)
    return GateWithJobs(replace(opened, gate=gate), exchange, ExtractsByJob(opened, exchange))
