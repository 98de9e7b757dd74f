"""The path of an audit: logged statements to totals over places, totals to findings, findings to what a person reads.

    take apart   each statement into what it added up and over whom               (pure: sql)
    place        conditions evaluated on the combinations an attacker may know    (records)
    find         groups of fewer than k that the totals fix, view by view         (pure: inference)
    note         signs that isolate nobody: repeats, groups with one secret, errors (pure: inference)
    tell         where the people are, and what the answers reveal about them

The custodian's own job: it reads raw records. The interval path never imports it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from querygate.core.audit.audit_records import AuditRecords, Unanswerable
from querygate.core.errors import ConfigError
from querygate.core.json_body import JsonValue
from querygate.core.types import Floats, Ints, folded
from querygate.custody.audit.audit_measures import AuditMeasures, shown, unsquared
from querygate.custody.audit.audit_problems import AuditProblem, problem_of
from querygate.custody.audit.failure_leaks import failing
from querygate.custody.audit.query_sets import QuerySets, StatementCase
from querygate.gate.incidents import make_fault
from querygate.methods.audit import (
    FAMILY,
    POOLED,
    Finding,
    QueryTotal,
    Unexamined,
    describe_places,
    find,
    noted,
    notices,
)
from querygate.sql.logged.logged_statement import LoggedStatement, table_columns, take_apart
from querygate.sql.logged.secret_tests import conditions_of, secret_tests


@dataclass(frozen=True)
class LogStatement:
    """One statement of a log. The answer is a number, a row, or rows; a range is a mapping with low and high."""

    id: str
    user: str
    sql: str
    time: str = ""
    answer: JsonValue = None
    version: int = 0  # of the dataset; 0: unknown
    certified_k: int = 0  # for a range from certified views: combinations of them are about at least this many people


@dataclass(frozen=True)
class AuditOptions:
    """How to audit. Without a list of secret columns, the measured ones are secret."""

    k: int = 5
    secret: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    dialect: str = "duckdb"
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    domains: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # public ones, by column
    person: str = ""  # the column that is known to have a different value in every row
    nullable: tuple[str, ...] = ()  # secret columns that are known to have missing values


@dataclass(frozen=True)
class Unproved:
    """A finding whose proof failed the check: a fault of the auditor, not an accusation."""

    finding: Finding
    incident: str


@dataclass(frozen=True)
class Audit:
    """The result: findings with the location of each in words, and the statements and tests left out."""

    findings: tuple[tuple[Finding, str], ...]
    entries: int
    unread: tuple[tuple[str, str], ...]  # (query, why)
    left: tuple[tuple[str, Unexamined], ...]  # (view, what)
    places: int
    totals: tuple[QueryTotal, ...] = field(default=(), repr=False)  # all statements, to explain findings in detail
    weights: Mapping[str, Ints] = field(default_factory=dict, repr=False)  # by measure
    measures: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # what is added up, and for whom: SQL
    unproved: tuple[Unproved, ...] = ()
    incidents: Mapping[str, str] = field(default_factory=dict)  # for statements that the auditor failed on, by query


def audit(entries: Sequence[LogStatement], records: AuditRecords, options: AuditOptions) -> Audit:
    """Everything that the answers of the log isolate. Failures are reported, and the rest continues."""
    check_secret(options.secret, records.columns)
    secret, known, unread = roles(entries, records.columns, options)
    size = records.settle(known)
    measures = AuditMeasures(records, options.domains)
    totals = _totals(entries, records, secret, options, QuerySets(records, size, measures), unread)
    bases, weights, domains, texts = measures.described()
    weights |= {total.measure: measures.counts("", "") for total in totals if total.measure.startswith(FAMILY)}
    looked, left = find(totals, weights, options.k, domains, options.groups, bases)
    totals = [total for total in totals if not total.measure.startswith(FAMILY)]
    failed = list(measures.left)
    with noted(failed, ""):
        looked += notices(totals, weights, options.k, _contributions(totals, texts, records))
    looked += failing(entries, records, secret, options.k, options.dialect, unread)
    unproved = [Unproved(one, make_fault(one.rejected).incident) for one in looked if one.rejected is not None]
    findings: list[tuple[Finding, str]] = []
    with noted(failed, ""):
        where = _Where(records, known, measures.counts("", ""), texts)
        for finding in (one for one in looked if one.rejected is None):
            findings.append((finding, where.describe(finding)))
    return Audit(
        tuple(findings),
        len(entries),
        tuple((query, problem.reason) for query, problem in unread.items()),
        tuple((view, on_record(one)) for view, one in (*left, *((POOLED, one) for one in failed))),
        size,
        tuple(totals),
        weights,
        texts,
        tuple(unproved),
        {query: problem.incident for query, problem in unread.items() if problem.incident},
    )


def on_record(one: Unexamined) -> Unexamined:
    """A failed test is reported with the incident number of its error in the log."""
    if one.fault is None:
        return one
    incident = make_fault(one.fault).incident
    return replace(one, reason=f"{one.reason} (incident {incident})", incident=incident)


class _Where:
    """Isolated records in words, by the known columns."""

    def __init__(
        self, records: AuditRecords, known: Sequence[str], sizes: Ints, texts: Mapping[str, tuple[str, str]]
    ) -> None:
        self._columns = {name: records.values(name) for name in known}
        self._sizes, self._texts = sizes, texts

    def describe(self, finding: Finding) -> str:
        """A condition that selects them; where some records have no value, only those with one."""
        where = describe_places(finding.places, self._columns)
        told = [one.measure for one in finding.inferred] + [total.measure for total in finding.totals]
        value = next((self._texts[name][0] for name in told if name in self._texts), "")
        if not value or finding.severity == "notice" or int(self._sizes[finding.places].sum()) == finding.records:
            return where
        present = f"{shown(unsquared(value))} IS NOT NULL"
        return f"({where}) AND {present}" if " or " in where else f"{where} AND {present}" if where else present


def _contributions(
    totals: Iterable[QueryTotal], texts: Mapping[str, tuple[str, str]], records: AuditRecords
) -> dict[str, tuple[Floats, Floats, Floats]]:
    """The largest contributors to each sum in the log, by place."""
    asked = {total.measure for total in totals if not total.extreme}
    sums = {name: texts[name] for name in asked if name in texts and texts[name][0]}
    found = {}
    for name, (value, secret) in sums.items():
        with suppress(Unanswerable):  # not a number
            found[name] = records.largest(value, secret)
    return found


def _totals(
    entries: Sequence[LogStatement],
    records: AuditRecords,
    secret: tuple[str, ...],
    options: AuditOptions,
    placing: QuerySets,
    unread: dict[str, AuditProblem],
) -> list[QueryTotal]:
    """What the statements added up. A repeated statement is taken apart once, and read once if its answer is the
    same."""
    apart: dict[str, list[LoggedStatement]] = {}
    asked: dict[str, list[list[StatementCase]] | AuditProblem] = {}
    for sql in dict.fromkeys(entry.sql for entry in entries if entry.id not in unread):
        try:
            apart[sql] = take_apart(sql, records.columns, secret, options.dialect, options.person)
        except Exception as error:
            asked[sql] = problem_of(error)
    records.expect(secret_tests(conditions_of(one for statements in apart.values() for one in statements)))
    with suppress(Exception):  # conditions that cannot be evaluated together are evaluated one by one
        placing.look_up(one for statements in apart.values() for one in statements)
    for sql, statements in apart.items():
        try:
            asked[sql] = [placing.note(one) for one in statements]
        except Exception as error:
            asked[sql] = problem_of(error)
    placing.measures.settle()
    totals: list[QueryTotal] = []
    made: dict[tuple[str, str], list[QueryTotal] | AuditProblem] = {}
    for entry in entries:
        if entry.id in unread:
            continue
        found, key = asked[entry.sql], (entry.sql, repr(entry.answer))
        if key not in made:
            made[key] = found if isinstance(found, AuditProblem) else _made(placing, entry.answer, found)
        outcome = made[key]
        if isinstance(outcome, AuditProblem):
            unread[entry.id] = outcome
        else:
            totals += [replace(total, query=entry.id, user=entry.user) for total in outcome]
    return totals


def _made(
    placing: QuerySets, answer: JsonValue, asked: Sequence[Sequence[StatementCase]]
) -> list[QueryTotal] | AuditProblem:
    try:
        return [total for one in asked for total in placing.totals(answer, one)]
    except Exception as error:
        return problem_of(error)


def check_secret(secret: Collection[str], columns: Collection[str]) -> None:
    unknown = [name for name in secret if folded(name) not in map(folded, columns)]
    if unknown:
        raise ConfigError(
            "QG802",
            f"The data has no column {', '.join(unknown)}.",
            f"Its columns are: {', '.join(columns)}.",
        )


def roles(
    entries: Iterable[LogStatement], columns: Collection[str], options: AuditOptions
) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, AuditProblem]]:
    """Which columns are secret, which are known and used, and which statements cannot be read."""
    measured: set[str] = set()
    used: set[str] = set()
    unread: dict[str, AuditProblem] = {}
    for entry in entries:
        try:
            inside, mentioned = table_columns(entry.sql, options.dialect)
        except Exception as error:
            unread[entry.id] = problem_of(error)
            continue
        measured |= inside
        used |= mentioned
    hidden = {folded(name) for name in options.secret} or measured - {folded(name) for name in options.known}
    secret = tuple(name for name in columns if folded(name) in hidden)
    apart = hidden | {folded(options.person)}  # it only counts persons; nobody is found by this key
    known = tuple(name for name in columns if folded(name) in used and folded(name) not in apart)
    return secret, known, unread
