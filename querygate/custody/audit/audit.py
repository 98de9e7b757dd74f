"""The path of an audit: logged statements to totals over places, totals to findings, findings to what a person reads.

    take apart   each statement into what it added up and over whom               (pure: sql)
    place        conditions evaluated on the combinations an attacker may know    (records)
    find         groups of fewer than k that the totals fix, view by view         (pure: audit)
    note         signs that isolate nobody: repeats, groups of one secret, errors (pure: audit)
    tell         where they are, and what the answers tell of them

The custodian's own job: it reads raw records. The interval path never imports it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from querygate.core.audit_records import AuditRecords, Unanswerable
from querygate.core.errors import ConfigError
from querygate.core.json_body import JsonValue
from querygate.core.types import Floats, Ints, folded
from querygate.custody.audit.audit_measures import AuditMeasures
from querygate.custody.audit.failure_leaks import failing
from querygate.custody.audit.query_sets import QuerySets, StatementCase
from querygate.methods.inference import POOLED, Finding, QueryTotal, Unexamined, describe_places, find, notices
from querygate.sql.logged_statement import LoggedStatement, UnauditableStatement, table_columns, take_apart


@dataclass(frozen=True)
class LogStatement:
    """One statement of a log. The answer is a number, a row, or rows; a range is a mapping with low and high."""

    id: str
    user: str
    sql: str
    time: str = ""
    answer: JsonValue = None


@dataclass(frozen=True)
class AuditOptions:
    """How to look. Without a list of secret columns, those that are measured are secret."""

    k: int = 5
    secret: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    dialect: str = "duckdb"
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    domains: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # public ones, by column
    person: str = ""  # the column that has another value in every row, where it is known to


@dataclass(frozen=True)
class Audit:
    """What came out: findings with a text for where they are, statements left out, tests left out."""

    findings: tuple[tuple[Finding, str], ...]
    entries: int
    unread: tuple[tuple[str, str], ...]  # (query, why)
    left: tuple[tuple[str, Unexamined], ...]  # (view, what)
    places: int
    totals: tuple[QueryTotal, ...] = field(
        default=(), repr=False
    )  # all there were, for whoever tells more of a finding
    weights: Mapping[str, Ints] = field(default_factory=dict, repr=False)  # by measure
    measures: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # what is added up, of whom: SQL


def audit(entries: Sequence[LogStatement], records: AuditRecords, options: AuditOptions) -> Audit:
    """Everything that the answers of the log isolate."""
    check_secret(options.secret, records.columns)
    secret, known, unread = roles(entries, records.columns, options)
    size = records.settle(known)
    measures = AuditMeasures(records, options.domains)
    totals = _totals(entries, records, secret, options, QuerySets(records, size, measures), unread)
    bases, weights, domains, texts = measures.described()
    findings, left = find(totals, weights, options.k, domains, options.groups, bases)
    left += [(POOLED, one) for one in measures.left]
    findings += notices(totals, weights, options.k, _contributions(totals, texts, records))
    findings += failing(entries, records, secret, options.k, options.dialect)
    columns = {name: records.values(name) for name in known}
    told = tuple((finding, describe_places(finding.places, columns)) for finding in findings)
    return Audit(
        told,
        len(entries),
        tuple(unread.items()),
        tuple(left),
        size,
        tuple(totals),
        weights,
        texts,
    )


def _contributions(
    totals: Iterable[QueryTotal], texts: Mapping[str, tuple[str, str]], records: AuditRecords
) -> dict[str, tuple[Floats, Floats, Floats]]:
    """The largest contributors of each sum that was asked for, place by place."""
    asked = {total.measure for total in totals if not total.extreme}
    sums = {name: texts[name] for name in asked if name in texts and texts[name][0]}
    found = {}
    for name, (value, secret) in sums.items():
        with suppress(Unanswerable):  # no number
            found[name] = records.largest(value, secret)
    return found


def _totals(
    entries: Sequence[LogStatement],
    records: AuditRecords,
    secret: tuple[str, ...],
    options: AuditOptions,
    placing: QuerySets,
    unread: dict[str, str],
) -> list[QueryTotal]:
    """What the statements added up. What was asked before is taken apart once, and read once if its answer is equal."""
    apart: dict[str, list[LoggedStatement]] = {}
    asked: dict[str, list[list[StatementCase]] | str] = {}
    for sql in dict.fromkeys(entry.sql for entry in entries if entry.id not in unread):
        try:
            apart[sql] = take_apart(sql, records.columns, secret, options.dialect, options.person)
        except UnauditableStatement as problem:
            asked[sql] = str(problem)
    placing.look_up(one for statements in apart.values() for one in statements)
    for sql, statements in apart.items():
        try:
            asked[sql] = [placing.note(one) for one in statements]
        except (UnauditableStatement, Unanswerable) as problem:
            asked[sql] = str(problem)
    placing.measures.settle()
    totals: list[QueryTotal] = []
    made: dict[tuple[str, str], list[QueryTotal]] = {}
    for entry in entries:
        found, key = asked.get(entry.sql, ""), (entry.sql, repr(entry.answer))
        try:
            if isinstance(found, str):
                raise UnauditableStatement(found)
            if key not in made:
                made[key] = [total for one in found for total in placing.totals(entry.answer, one)]
            totals += [replace(total, query=entry.id, user=entry.user) for total in made[key]]
        except (UnauditableStatement, Unanswerable) as problem:
            unread.setdefault(entry.id, str(problem))
    return totals


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
) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, str]]:
    """Which columns are secret, which are known and used, and which statements cannot be read."""
    measured: set[str] = set()
    used: set[str] = set()
    unread: dict[str, str] = {}
    for entry in entries:
        try:
            inside, mentioned = table_columns(entry.sql, options.dialect)
        except UnauditableStatement as problem:
            unread[entry.id] = str(problem)
            continue
        measured |= inside
        used |= mentioned
    hidden = {folded(name) for name in options.secret} or measured - {folded(name) for name in options.known}
    secret = tuple(name for name in columns if folded(name) in hidden)
    apart = hidden | {folded(options.person)}  # persons are counted, and nobody is found by their key
    known = tuple(name for name in columns if folded(name) in used and folded(name) not in apart)
    return secret, known, unread
