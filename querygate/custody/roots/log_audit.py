"""The custodian's audits: of the site's own log, and of any other system's log beside its data."""

from __future__ import annotations

import csv
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from querygate.core.bodies import AnswerBody
from querygate.core.errors import ConfigError
from querygate.core.json_body import JsonValue
from querygate.custody.audit.audit import Audit, AuditOptions, LogStatement, audit
from querygate.custody.audit.audit_body import AuditOutcome
from querygate.custody.audit.true_totals import exact_totals
from querygate.custody.roots.log_coalitions import POOLED, views_of
from querygate.site.open_gate import OpenSite
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.store.duckdb_store import version_file
from querygate_adapters.vault.raw_records import DuckDBRecords


def audit_file(log: Path, source: str, options: AuditOptions, *, exact: bool) -> AuditOutcome:
    """Audit a log of another system, JSON lines or CSV, against the data it was asked of.

    With `exact`, true totals of the isolated people are read from the data, beside what the answers tell.
    """
    return _audited(list(read_log(log)), source, options, 0, exact=exact)


def audit_site(
    opened: OpenSite, dataset: str, options: AuditOptions, *, exact: bool, users: Collection[str] | None = None
) -> list[AuditOutcome]:
    """Audit the answered queries of a dataset, version by version: a version is a records of its own.

    Views are each user, each project and organisation, the groups of `options`, and everybody. Answers are ranges
    computed from the published store, so whatever is isolated is an attempt: no range tells more than the store does.
    With `users`, only what they were answered.
    """
    catalog = opened.store.current(dataset).catalog
    secret = tuple(c.name for c in catalog.columns if c.role == "sensitive")
    known = tuple(c.name for c in catalog.columns if c.role != "sensitive")
    public = {c.name: (c.low, c.high) for c in catalog.columns if c.low is not None and c.high is not None}
    options = replace(options, k=catalog.k, secret=secret, known=known, domains=public, person=catalog.person)
    by_version: dict[int, list[LogStatement]] = {}
    for line in opened.log.queries(dataset=dataset):
        asked = users is None or line["user"] in users
        if asked and line["outcome"] == "answered" and line["version"] is not None:
            entry = LogStatement(line["id"], line["user"], line["sql"], line["time"], _rows(line["answer"]))
            by_version.setdefault(int(line["version"]), []).append(entry)
    views = views_of(opened, options.groups)
    audited = []
    for version, entries in sorted(by_version.items()):
        path = version_file(opened.site.vault / dataset, version)
        groups = _with_several(views, {entry.user for entry in entries})
        if path.exists():
            one = _audited(entries, f"duckdb:{path}#rows", replace(options, groups=groups), version, exact=exact)
            audited.append(replace(one, found=_attempts(one.found)))
        else:
            why = f"The vault does not have the raw records of version {version}."
            nothing = Audit((), len(entries), tuple((entry.id, why) for entry in entries), (), 0)
            audited.append(AuditOutcome(nothing, entries, options.k, groups, version))
    return audited


def _with_several(views: Mapping[str, Sequence[str]], asked: set[str]) -> dict[str, list[str]]:
    """Views in which more than one person asked; each person alone, and everybody, are looked at anyway."""
    here = {name: [user for user in members if user in asked] for name, members in views.items() if name != POOLED}
    return {name: members for name, members in here.items() if len(members) > 1}


def _audited(
    entries: list[LogStatement], source: str, options: AuditOptions, version: int, *, exact: bool
) -> AuditOutcome:
    records = DuckDBRecords(open_source(source))
    found = audit(entries, records, options)
    true = exact_totals(found, records) if exact else {}
    return AuditOutcome(found, entries, options.k, options.groups, version, true, options.domains)


def _attempts(found: Audit) -> Audit:
    """An answer of the gate is a function of the store, so no combination narrows anybody below what is published."""
    return replace(
        found,
        findings=tuple(
            (one if one.severity == "notice" else replace(one, severity="attempt"), where)
            for one, where in found.findings
        ),
    )


def _rows(answer: AnswerBody | None) -> JsonValue:
    """The rows of a logged answer, without what the gate says about each group."""
    if not isinstance(answer, dict) or "rows" not in answer:
        return None
    return [{name: value for name, value in row.items() if name != "_group"} for row in answer["rows"]]


# -- logs of others ----------------------------------------------------------------------------------------------------


def read_log(path: Path) -> Iterator[LogStatement]:
    """JSON lines, or CSV with a header: id, user and sql, and where there are any time and answer."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise ConfigError("QG802", f"The log {path.name} cannot be read.", "Use a file of JSON lines or CSV.") from None
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    records = _json_lines(lines) if first.lstrip().startswith("{") else enumerate(csv.DictReader(lines), 2)
    for number, record in records:
        yield _entry(number, record)


def _json_lines(lines: list[str]) -> Iterator[tuple[int, dict[str, JsonValue]]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            raise ConfigError(
                "QG802", f"Line {number} of the log is not a JSON object.", "Write one JSON object per line."
            )
        yield number, record


def _entry(number: int, record: dict[str, JsonValue]) -> LogStatement:
    wanted = [record.get(name) for name in ("id", "user", "sql")]
    if not wanted[2] or wanted[1] is None:
        raise ConfigError(
            "QG802", f"Line {number} of the log has no user or no sql.", "Each line needs id, user and sql."
        )
    answer = record.get("answer")
    if isinstance(answer, str):
        answer = _parsed(answer)
    ident = str(wanted[0]) if wanted[0] not in (None, "") else f"line {number}"
    return LogStatement(ident, str(wanted[1]), str(wanted[2]), str(record.get("time") or ""), answer)


def _parsed(text: str) -> JsonValue:
    """An answer of a CSV: JSON where it is some, else a number as it is written."""
    try:
        answer: JsonValue = json.loads(text)
    except ValueError:
        return text or None
    return answer
