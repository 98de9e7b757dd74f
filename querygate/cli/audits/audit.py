"""Commands of the auditor: the site's own log, or anybody's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from querygate.cli.shared.actor import acting
from querygate.cli.shared.command import LazyGroup
from querygate.cli.shared.output import plain, print_json, print_records, print_table
from querygate.cli.shared.shared_options import format_option, new_file, open_here, site_option
from querygate.core.audit.audit_body import AuditCase, AuditFinding, AuditReport
from querygate.core.count_text import counted
from querygate.core.json_body import to_json
from querygate.custody.audit.audit import AuditOptions
from querygate.custody.audit.audit_page import make_audit_page
from querygate.custody.audit.audit_report import AuditOutcome, make_body
from querygate.custody.audit.finding_text import between, named, people
from querygate.custody.policy import load_policy
from querygate.custody.use_cases.audits.log_audit import audit_file, audit_site
from querygate.site.audit_notes import note_run
from querygate.sql.logged.logged_statement import DIALECTS

COLUMNS = ("case", "severity", "kind", "users", "queries", "records", "where", "inferred")
MOST_TOLD = 5
"""Findings of one case that a table explains; the others are in JSON and on the page."""
MOST_NAMED = 4
MOST_REASONS = 10

together_option = click.option("--together", multiple=True, metavar="NAME=USER,USER", help="Users to audit together.")
html_option = click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Also write a report to this file: a page with a timeline and the arithmetic.",
)


ELSEWHERE = {
    "watch": ("querygate.cli.audits.audit_watch:watch_command", "Follow the log, and report as it happens."),
    "replay": ("querygate.cli.audits.audit_evidence:replay_command", "Compute every logged answer again, and compare."),
    "store": ("querygate.cli.audits.audit_evidence:store_command", "Report what a published version reveals."),
    "users": ("querygate.cli.audits.audit_evidence:users_command", "Score users by signs of probing."),
}


@click.group(cls=LazyGroup, later=ELSEWHERE)
def audit() -> None:
    """Find queries that, combined, single people out."""


@audit.command(
    "file",
    example="querygate audit file queries.jsonl --source patients.csv\n"
    "querygate audit file queries.jsonl --source patients.csv --html report.html --mask\n"
    "querygate audit file log.csv --source patients.parquet --dialect tsql --secret sbp --k 10\n"
    "querygate audit file log.jsonl --source patients=patients.csv --source visits=visits.parquet",
)
@click.argument("log", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--source",
    "sources",
    required=True,
    multiple=True,
    metavar="[TABLE=]S",
    help="The data that was queried: a file, or KIND:LOCATION. Repeat it with TABLE= if the log has several tables.",
)
@click.option(
    "--policy",
    "policy_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Policy that names the secret columns and k.",
)
@click.option("--secret", multiple=True, metavar="COLUMN", help="A secret column.  [default: measured columns]")
@click.option("--dialect", type=click.Choice(DIALECTS), default="duckdb", show_default=True, help="Dialect of the SQL.")
@click.option(
    "--k", type=click.IntRange(2), metavar="N", help="The smallest group that may be disclosed.  [default: 5]"
)
@together_option
@click.option("--mask", is_flag=True, help="Hide answers and what they reveal about isolated people.")
@html_option
@format_option
def audit_file_command(
    log: Path,
    sources: tuple[str, ...],
    policy_file: Path | None,
    secret: tuple[str, ...],
    dialect: str,
    k: int | None,
    together: tuple[str, ...],
    mask: bool,
    html: Path | None,
    form: str,
) -> None:
    """Audit the log of another system, or what `log export` wrote, against its data.

    The log is JSON lines or CSV with the fields user and sql, and optionally id, time and answer. Each table of the log
    is audited by itself. Nothing leaves this machine. Exit code 1 means that nothing was audited; 3, that the auditor
    failed on something, and says on what.
    """
    _check_new(html)
    known: tuple[str, ...] = ()
    if policy_file is not None:
        policy = load_policy(policy_file)
        secret = secret or tuple(c.name for c in policy.columns if c.role in ("sensitive", "codes"))
        known = tuple(c.name for c in policy.columns if c.role in ("quasi-identifier", "public", "identifier"))
        k = k or policy.k
    options = AuditOptions(k or 5, secret, known, dialect, _groups(together))
    audited = audit_file(log, sources, options, reveal=not mask)
    _tell(audited, log.name, form, html, hint="audit without --mask to see it")


@audit.command(
    "run",
    example="querygate audit run --dataset patients\n"
    "querygate audit run --dataset patients --reveal --html report.html",
)
@click.option("--dataset", required=True, metavar="NAME", help="Dataset whose queries to audit.")
@together_option
@click.option(
    "--reveal",
    is_flag=True,
    help="Show what the answers reveal about isolated people, and their true totals. This is logged.",
)
@html_option
@format_option
@site_option
def audit_run(dataset: str, together: tuple[str, ...], reveal: bool, html: Path | None, form: str, site: Path) -> None:
    """Audit the site's own log of a dataset.

    The audit looks at each user, each project, each organisation, and everybody together. Findings are recorded without
    values, and custodians can read them through the gate. Exit code 1 means that nothing was audited; 3, that the
    auditor failed on something, and says on what.
    """
    _check_new(html)
    opened = open_here(site)
    options = AuditOptions(groups=_groups(together))
    audited = audit_site(opened, dataset, options, reveal=False)
    note_run(opened, dataset, make_body(audited, dataset), user=acting().name, revealed=reveal)
    if reveal:
        audited = audit_site(opened, dataset, options, reveal=True)
    _tell(audited, dataset, form, html, hint="use --reveal to see it")


def _groups(together: tuple[str, ...]) -> dict[str, list[str]]:
    groups = {}
    for one in together:
        name, equals, users = one.partition("=")
        if not name or not equals or not users:
            raise click.BadParameter("Write NAME=USER,USER.", param_hint="--together")
        groups[name] = users.split(",")
    return groups


def _check_new(html: Path | None) -> None:
    """A long audit does not end with a file that is there already."""
    if html is not None and html.exists():
        raise click.UsageError(f"{html} already exists.")


# -- what is shown -----------------------------------------------------------------------------------------------------


def _tell(audited: Sequence[AuditOutcome], title: str, form: str, html: Path | None, *, hint: str) -> None:
    report = make_body(audited, title)
    if html is not None:
        page = make_audit_page(report, audited)
        with new_file(html) as stream:
            stream.write(page.encode())
        click.echo(f"Wrote {html}.", err=True)
    if form == "json":
        print_json({name: part for name, part in to_json(report).items() if name != "title"})
    elif form != "table":
        print_records([to_json(finding) for finding in report.findings], form, columns=COLUMNS)
        for line in _shortfalls(report):
            click.echo(plain(line), err=True)
    else:
        _print_cases(report, hint)
    _end(report)


def _print_cases(report: AuditReport, hint: str) -> None:
    """A line for each case, then what was done in each."""
    findings = {finding.id: finding for finding in report.findings}
    for line in _shortfalls(report):
        click.echo(plain(line))
    if not report.cases and not report.unproved and report.queries_audited:
        which = "queries" if report.queries_audited == report.queries else "audited queries"
        click.echo(f"The {which} reveal nothing about any group of fewer than k records.")
    elif report.cases:
        headings = ("case", "severity", "kinds", "users", "queries", "findings", "records", "where")
        print_table(headings, [_line(case, findings) for case in report.cases])
    for case in report.cases:
        _print_case(case, [findings[name] for name in case.findings], hint)
    queries, tests = (
        counted(report.queries, "query", "queries"),
        counted(len(report.left_out), "test was", "tests were"),
    )
    counts = f"{queries}; {len(report.not_audited):,} could not be audited; {tests} left out."
    click.echo(f"\n{counts}")
    for one in report.not_audited[:MOST_REASONS]:
        click.echo(plain(f"  {one.query}: {one.reason}"))
    if len(report.not_audited) > MOST_REASONS:
        click.echo(f"  and {len(report.not_audited) - MOST_REASONS:,} more, in --format json.")


def _shortfalls(report: AuditReport) -> Iterator[str]:
    """What keeps a report from being read as clean."""
    if not report.queries:
        yield "Nothing was audited: the log has no answered queries."
    elif not report.queries_audited:
        yield f"Nothing was audited: 0 of {counted(report.queries, 'query', 'queries')}. This report clears nobody."
    for one in report.unproved:
        yield (
            f"Unproved: {named(one.queries)} of {named(one.users)}. The check of this finding's proof failed "
            f"(incident {one.incident})."
        )
    failed = [incident for incident in report.incidents if incident not in {one.incident for one in report.unproved}]
    if failed:
        yield f"The auditor failed {counted(len(failed), 'time')} (incident {named(failed, MOST_NAMED)})."


def _end(report: AuditReport) -> None:
    """The exit code: a failure of the auditor, nothing audited, or done."""
    click.get_current_context().exit(3 if report.incidents else 0 if report.queries_audited else 1)


def _line(case: AuditCase, findings: Mapping[str, AuditFinding]) -> list[str]:
    where = list(dict.fromkeys(findings[name].isolates.where for name in case.findings))
    return [
        case.id,
        case.severity,
        ", ".join(case.kinds),
        named(case.users, MOST_NAMED),
        named(case.queries, MOST_NAMED),
        f"{len(case.findings):,}",
        f"{case.records:,}",
        where[0] if len(where) == 1 else f"{where[0]} and {len(where) - 1:,} more",
    ]


def _print_case(case: AuditCase, findings: Sequence[AuditFinding], hint: str) -> None:
    period = f" {case.first} to {case.last}." if case.first else ""
    click.echo()
    click.echo(plain(f"{case.id}: {case.severity}, {people(case.records)}.{period}"))
    for one in findings[:MOST_TOLD]:
        click.echo(plain(f"  {one.explanation}"))
        for inferred in one.inferred:
            if inferred.hidden:
                click.echo(plain(f"    {inferred.column}: hidden; {hint}."))
            elif inferred.low is None:
                click.echo(plain(f"    {inferred.column}: {between(None, None)}; the log contains no answers."))
    if len(findings) > MOST_TOLD:
        click.echo(f"  and {counted(len(findings) - MOST_TOLD, 'more finding')}.")
    if case.signs:
        click.echo(plain(f"  Signs of intent: {'; '.join(case.signs)}."))
