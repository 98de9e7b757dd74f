"""Why something was not audited: it cannot be read, or the auditor failed on it. One failure does not stop the rest."""

from __future__ import annotations

from dataclasses import dataclass

from querygate.core.audit.audit_records import Unanswerable
from querygate.core.errors import ConfigError
from querygate.gate.incidents import make_fault
from querygate.sql.logged.logged_statement import UnauditableStatement


@dataclass(frozen=True, slots=True)
class AuditProblem:
    """The reason in words; if there is an incident, it is a fault of the auditor, whose kind and place are in the
    program's log."""

    reason: str
    incident: str | None = None


def problem_of(error: Exception) -> AuditProblem:
    """What may be said about an error. Texts of unexpected errors can quote values, so they are not passed on."""
    if isinstance(error, (UnauditableStatement, Unanswerable)):
        return AuditProblem(str(error))
    if isinstance(error, ConfigError):
        return AuditProblem(error.detail)
    incident = make_fault(error).incident
    return AuditProblem(f"The auditor failed on it (incident {incident}).", incident)
