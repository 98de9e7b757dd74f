"""Statements of a log whose failure would have revealed a secret, whatever their answers and whether they can be
read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from querygate.core.audit.audit_body import Severity
from querygate.core.audit.audit_records import AuditRecords, Unanswerable
from querygate.core.types import Bools
from querygate.custody.audit.audit_problems import AuditProblem, problem_of
from querygate.methods.audit import CaseStatement, Finding
from querygate.sql.logged.logged_failures import FailurePoint, may_fail
from querygate.sql.logged.logged_statement import UnauditableStatement


def failing(
    entries: Iterable[CaseStatement],
    records: AuditRecords,
    secret: Sequence[str],
    k: int,
    dialect: str,
    unread: dict[str, AuditProblem],
) -> list[Finding]:
    """One finding for each text and user: an attempt if it examines fewer than k records, else a notice.

    A statement that this fails on is added to `unread`.
    """
    sizes = records.counts("", "")
    found: dict[tuple[str, str], Finding] = {}
    seen: dict[str, FailurePoint | AuditProblem | None] = {}
    for entry in entries:
        if entry.sql not in seen:
            seen[entry.sql] = _may_fail(entry.sql, secret, dialect)
        fails = seen[entry.sql]
        if isinstance(fails, AuditProblem):
            unread.setdefault(entry.id, fails)
        if not isinstance(fails, FailurePoint) or (entry.user, entry.sql) in found:
            continue
        members = _members(records, fails.known, len(sizes))
        number = int(sizes[members].sum())
        severity: Severity = "attempt" if 0 < number < k else "notice"
        found[entry.user, entry.sql] = Finding(
            "error", severity, (entry.id,), (entry.user,), number, members, (), (), entry.user, (), fails.what
        )
    return list(found.values())


def _may_fail(sql: str, secret: Sequence[str], dialect: str) -> FailurePoint | AuditProblem | None:
    try:
        return may_fail(sql, secret, dialect)
    except UnauditableStatement:
        return None
    except Exception as error:
        return problem_of(error)


def _members(records: AuditRecords, known: str, places: int) -> Bools:
    """The records it examines, as far as they can be determined."""
    try:
        return records.mask(known)
    except Unanswerable:
        return np.ones(places, dtype=np.bool_)
