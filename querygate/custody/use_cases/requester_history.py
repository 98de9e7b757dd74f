"""What a requester, and those they work with, had been answered before they requested an extract.

Reviewers see how many queries there were and what an audit finds in them. The audit runs in a separate process with a
limit on time and memory, because its work depends on what others wrote into the log: a history that is too large to
audit is reported to the reviewers, and must not delay the review.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path

from querygate.custody.audit.audit import AuditOptions
from querygate.custody.use_cases.audits.log_audit import audit_site
from querygate.custody.use_cases.audits.site_coalitions import ORGANISATION, PROJECT, views_of
from querygate.site.layout import open_site
from querygate.site.open_gate import OpenSite, open_gate, with_records

TOO_LARGE = "not audited: too large"
NOT_AUDITED = "not audited"
AUDITED = "audited"


@dataclass(frozen=True, slots=True)
class AuditCount:
    """How many findings there are about these people's queries, how many of them isolate somebody, and how many
    queries could not be audited. A finding whose proof failed counts as well: somebody has to look at it."""

    findings: int = 0
    isolating: int = 0
    not_audited: int = 0


@dataclass(frozen=True, slots=True)
class RequesterHistory:
    """For reviewers alone. Where `audit` is not "audited", the counts of findings are missing, not zero."""

    people: int
    asked: int
    answered: int
    audit: str
    findings: int | None
    isolating: int | None
    not_audited: int | None


def read_history(opened: OpenSite, dataset: str, requester: str) -> RequesterHistory:
    """The queries of the requester, their project and their organisation, and what an audit says about them."""
    views = views_of(opened)
    named = [name for name in views if requester in views[name] and name.startswith((PROJECT, ORGANISATION))]
    people = sorted({requester, *(member for name in named for member in views[name])})
    queries = [line for line in opened.log.queries(dataset=dataset) if line["user"] in people]
    answered = sum(1 for line in queries if line["outcome"] == "answered")
    if answered > 1:
        outcome, counted = _audit_apart(opened, dataset, people)
    else:
        outcome, counted = AUDITED, AuditCount()
    found = (None, None, None) if counted is None else (counted.findings, counted.isolating, counted.not_audited)
    return RequesterHistory(len(people), len(queries), answered, outcome, *found)


def count_findings(opened: OpenSite, dataset: str, people: Collection[str]) -> AuditCount:
    """Audit what these people were answered."""
    audits = [one.found for one in audit_site(opened, dataset, AuditOptions(), reveal=False, users=people)]
    findings = [finding for found in audits for finding, _ in found.findings]
    findings += [one.finding for found in audits for one in found.unproved]
    isolating = sum(1 for finding in findings if finding.severity != "notice")
    return AuditCount(len(findings), isolating, sum(len(found.unread) for found in audits))


def _audit_apart(opened: OpenSite, dataset: str, people: list[str]) -> tuple[str, AuditCount | None]:
    """Audits in a separate process, which is ended afterwards whatever it was doing."""
    seconds = opened.site.settings["review_audit_s"]
    task = json.dumps([str(opened.site.folder.resolve()), str(opened.log.database.path.resolve()), dataset, people])
    command = [sys.executable, "-m", __name__]
    try:
        done = subprocess.run(command, input=task, capture_output=True, text=True, timeout=seconds, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        return TOO_LARGE, None
    if done.returncode:
        return (TOO_LARGE if done.returncode in _OUT_OF_LIMITS else NOT_AUDITED), None
    return AUDITED, AuditCount(**json.loads(done.stdout))


_OUT_OF_MEMORY = 3
_OUT_OF_LIMITS = (_OUT_OF_MEMORY, -9, -24)  # killed, or the processor time of an orphan was used up


def main() -> int:
    """The separate process: a task on standard input, the counts on standard output."""
    folder, records, dataset, people = json.load(sys.stdin)
    site = open_site(Path(folder))
    memory, seconds = site.settings["review_audit_mb"] << 20, site.settings["review_audit_s"] + 1
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))  # in case nobody waits for it any longer
    try:
        counted = count_findings(with_records(open_gate(site), Path(records)), dataset, people)
    except MemoryError:
        return _OUT_OF_MEMORY
    print(json.dumps(asdict(counted)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
