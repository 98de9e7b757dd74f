"""The custodian's audits: of the site's own log, and of any other system's log beside its data."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from querygate.core.publications.vault_ports import Source
from querygate.core.types import folded
from querygate.custody.audit.audit import Audit, AuditOptions, LogStatement, audit, check_secret, on_record, roles
from querygate.custody.audit.audit_report import AuditOutcome
from querygate.custody.audit.log_file import answer_rows, read_log
from querygate.custody.audit.log_tables import TablePart, TableSources, by_table
from querygate.custody.audit.true_totals import Exact, exact_totals
from querygate.custody.use_cases.audits.certified_answers import has_views, is_certified
from querygate.custody.use_cases.audits.site_coalitions import POOLED, views_of
from querygate.custody.use_cases.withdraw_dataset import last_catalog
from querygate.methods.audit import Unexamined, noted
from querygate.methods.audit.cases import GRAVITY, make_cases
from querygate.site.open_gate import OpenSite
from querygate.sql.code_tests import with_flags
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.store.duckdb_store import version_file
from querygate_adapters.vault.blind_records import BlindRecords
from querygate_adapters.vault.raw_records import DuckDBRecords


def audit_file(log: Path, sources: Sequence[str], options: AuditOptions, *, reveal: bool) -> list[AuditOutcome]:
    """Audit a log of another system, or an exported one, against the data it was asked of, table by table.

    With `reveal`, true totals of the isolated people are read from the data, beside what the answers tell. Without it
    the findings follow from statements and known columns alone, save for the verdict on each case.
    """
    entries = list(read_log(log))
    parts = by_table(entries, options.dialect)
    data = TableSources(sources, {part.table for part in parts})
    opened = {source: open_source(source) for source in data.all}
    check_secret(options.secret, [name for records in opened.values() for name in records.columns()])
    tables = {part.table for part in parts}
    audited = []
    for part in parts or [TablePart("", 0, [])]:
        source = data.of(part.table)
        if source is None:
            one = _unaudited(
                part.entries, f"There is no data of {part.table}: add --source {part.table}=FILE.", options
            )
        else:
            own = {folded(name) for name in opened[source].columns()}
            here = replace(options, secret=tuple(name for name in options.secret if folded(name) in own))
            one = audit_source(part.entries, opened[source], here, part.version, reveal=reveal)
            if not reveal:
                told = audit_source(part.entries, opened[source], here, part.version, reveal=True)
                one = replace(one, found=_with_verdicts(one, told.found))
            certified = {entry.id: entry.certified_k for entry in part.entries if entry.certified_k}
            one = replace(one, found=_certified(_attempts(one.found), certified)) if part.version else one
        audited.append(replace(one, version=part.version, table=part.table if len(tables) > 1 else ""))
    return audited


def audit_site(
    opened: OpenSite, dataset: str, options: AuditOptions, *, reveal: bool, users: Collection[str] | None = None
) -> list[AuditOutcome]:
    """Audit the answered queries of a dataset, version by version: a version is a records of its own.

    Views are each user, each project and organisation, the groups of `options`, and everybody. Answers are ranges
    computed from the published store, so whatever is isolated is an attempt: no range tells more than the store does.
    If that is certified views, it is a notice. With `users`, only what they were answered. Unless secrets may be
    revealed, none are read: the outcome is the same whatever they are.
    """
    catalog = last_catalog(opened, dataset)
    secret = tuple(c.name for c in catalog.columns if c.role == "sensitive")
    known = tuple(c.name for c in catalog.columns if c.role != "sensitive")
    public = {c.name: (c.low, c.high) for c in catalog.columns if c.low is not None and c.high is not None}
    missing = tuple(c.name for c in catalog.columns if c.role == "sensitive" and c.nullable)
    options = replace(
        options, k=catalog.k, secret=secret, known=known, domains=public, person=catalog.person, nullable=missing
    )
    by_version: dict[int, list[LogStatement]] = {}
    modes: dict[str, str | None] = {}
    for line in opened.log.queries(dataset=dataset):
        asked = users is None or line["user"] in users
        if asked and line["outcome"] == "answered" and line["version"] is not None:
            sql = with_flags(line["sql"], catalog)
            entry = LogStatement(line["id"], line["user"], sql, line["time"], answer_rows(line["answer"]))
            by_version.setdefault(int(line["version"]), []).append(entry)
            modes[line["id"]] = line["mode"]
    views = views_of(opened, options.groups)
    audited = []
    for version, entries in sorted(by_version.items()):
        path = version_file(opened.site.vault / dataset, version)
        groups = _with_several(views, {entry.user for entry in entries})
        if path.exists():
            source = open_source(f"duckdb:{path}#rows")
            one = audit_source(entries, source, replace(options, groups=groups), version, reveal=reveal)
            views_told = has_views(opened, catalog, version)
            certified = {query: options.k for query, mode in modes.items() if is_certified(mode, views=views_told)}
            audited.append(replace(one, found=_certified(_attempts(one.found), certified)))
        else:
            why = f"The vault does not have the raw records of version {version}."
            audited.append(replace(_unaudited(entries, why, options), groups=groups, version=version))
    return audited


def _with_several(views: Mapping[str, Sequence[str]], asked: set[str]) -> dict[str, list[str]]:
    """Views in which more than one person asked; each person alone, and everybody, are looked at anyway."""
    here = {name: [user for user in members if user in asked] for name, members in views.items() if name != POOLED}
    return {name: members for name, members in here.items() if len(members) > 1}


def _unaudited(entries: Sequence[LogStatement], why: str, options: AuditOptions) -> AuditOutcome:
    nothing = Audit((), len(entries), tuple((entry.id, why) for entry in entries), (), 0)
    return AuditOutcome(nothing, entries, options.k)


def audit_source(
    entries: Sequence[LogStatement], source: Source, options: AuditOptions, version: int = 0, *, reveal: bool
) -> AuditOutcome:
    """Audit statements about one source. Unless secrets may be revealed, neither they nor answers are looked at."""
    if not reveal:
        asked = [replace(entry, answer=None) for entry in entries]
        secret, _, _ = roles(asked, source.columns(), options)
        found = audit(asked, BlindRecords(source, secret, options.nullable), options)
        return AuditOutcome(found, entries, options.k, options.groups, version, domains=options.domains)
    records = DuckDBRecords(source)
    found = audit(entries, records, options)
    true: Exact = {}
    failed: list[Unexamined] = []
    with noted(failed, ""):
        true = exact_totals(found, records)
    found = replace(found, left=(*found.left, *((POOLED, on_record(one)) for one in failed)))
    return AuditOutcome(found, entries, options.k, options.groups, version, True, true, options.domains)


def _with_verdicts(one: AuditOutcome, told: Audit) -> Audit:
    """Findings with the verdict on their case: how grave the answers make it is all that is told of them.

    A case is about statements, so one verdict covers whatever several of them ask of the same people.
    """
    found = [finding for finding, _ in one.found.findings]
    graded = list(one.found.findings)
    for case in make_cases(found, one.entries):
        queries = set(case.queries)
        verdicts = [case.severity, *(other.severity for other, _ in told.findings if queries.issuperset(other.queries))]
        for i in case.findings:
            if found[i].severity != "notice":
                graded[i] = (replace(found[i], severity=max(verdicts, key=GRAVITY.__getitem__)), graded[i][1])
    return replace(one.found, findings=tuple(graded))


def _certified(found: Audit, certified: Mapping[str, int]) -> Audit:
    """What follows from ranges of certified views alone accuses nobody: no combination of what the views tell is about
    fewer than k people, so ordinary tables whose sets happen to differ by few people are no attempt. `certified` has
    the k of each such range.
    """
    told = []
    for one, where in found.findings:
        k = min((certified.get(query, 0) for query in one.queries), default=0)
        if one.severity == "attempt" and one.totals and one.records < k:
            note = f"These are ranges from certified views, in which no combination is about fewer than {k} people."
            one = replace(one, severity="notice", note=note)
        told.append((one, where))
    return replace(found, findings=tuple(told))


def _attempts(found: Audit) -> Audit:
    """An answer of the gate is a function of the store, so no combination narrows anybody below what is published."""
    return replace(
        found,
        findings=tuple(
            (one if one.severity == "notice" else replace(one, severity="attempt"), where)
            for one, where in found.findings
        ),
    )
