"""Commands of the auditor: the site's own log, or anybody's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from querygate.cli.frame import LOCAL, format_option, new_file, open_here, site_option
from querygate.cli.lazy import LazyGroup
from querygate.cli.output import plain, print_json, print_records, print_table
from querygate.custody.audit.finding_text import between, named, people
from querygate.custody.policy import load_policy
from querygate.sql.logged_statement import DIALECTS

if TYPE_CHECKING:
    from querygate.custody.audit.audit_body import AuditOutcome

COLUMNS = ("case", "severity", "kind", "users", "queries", "records", "where", "inferred")
MOST_TOLD = 5
"""Findings of one case that a table explains; the others are in JSON and on the page."""
MOST_NAMED = 4

together_option = click.option("--together", multiple=True, metavar="NAME=USER,USER", help="Users to look at together.")
html_option = click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a report to this file too: one page, with a timeline and the arithmetic.",
)


ELSEWHERE = {
    "watch": ("querygate.cli.audit_watch:watch_command", "Follow the log, and report as it happens."),
    "replay": ("querygate.cli.audit_evidence:replay_command", "Compute every logged answer again, and compare."),
    "store": ("querygate.cli.audit_evidence:store_command", "Report what a published version gives away."),
    "users": ("querygate.cli.audit_evidence:users_command", "Score who behaves as if probing."),
}


@click.group(cls=LazyGroup, later=ELSEWHERE)
def audit() -> None:
    """Find queries that together single people out."""


@audit.command(
    "file",
    example="querygate audit file queries.jsonl --source patients.csv\n"
    "querygate audit file queries.jsonl --source patients.csv --html report.html --mask\n"
    "querygate audit file log.csv --source patients.parquet --dialect tsql --secret sbp --k 10",
)
@click.argument("log", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--source", required=True, metavar="S", help="The data that was asked: a file, or KIND:LOCATION.")
@click.option(
    "--policy", "policy_file", type=click.Path(path_type=Path, dir_okay=False), help="Says what is secret, and k."
)
@click.option("--secret", multiple=True, metavar="COLUMN", help="A secret column.  [default: what is measured]")
@click.option("--dialect", type=click.Choice(DIALECTS), default="duckdb", show_default=True, help="Of the SQL.")
@click.option("--k", type=click.IntRange(2), metavar="N", help="The smallest group that may be told.  [default: 5]")
@together_option
@click.option("--mask", is_flag=True, help="Hide answers, and what they tell of the isolated people.")
@html_option
@format_option
def audit_file_command(
    log: Path,
    source: str,
    policy_file: Path | None,
    secret: tuple[str, ...],
    dialect: str,
    k: int | None,
    together: tuple[str, ...],
    mask: bool,
    html: Path | None,
    form: str,
) -> None:
    """Audit the log of another system against its data.

    The log is JSON lines or CSV with id, user, sql, and where there are any time and answer. Nothing is sent anywhere.
    """
    _check_new(html)
    known: tuple[str, ...] = ()
    if policy_file is not None:
        policy = load_policy(policy_file)
        secret = secret or tuple(c.name for c in policy.columns if c.role in ("sensitive", "codes"))
        known = tuple(c.name for c in policy.columns if c.role in ("quasi-identifier", "public", "identifier"))
        k = k or policy.k
    from querygate.custody.audit.audit import AuditOptions
    from querygate.custody.roots.log_audit import audit_file  # loads what can open data

    options = AuditOptions(k or 5, secret, known, dialect, _groups(together))
    audited = [audit_file(log, source, options, exact=not mask)]
    _tell(audited, log.name, form, html, reveal=not mask, hint="audit it without --mask to see it")


@audit.command(
    "run",
    example="querygate audit run --dataset patients\n"
    "querygate audit run --dataset patients --reveal --html report.html",
)
@click.option("--dataset", required=True, metavar="NAME", help="Which dataset's queries.")
@together_option
@click.option(
    "--reveal",
    is_flag=True,
    help="Show what the answers leave open for the isolated people, and their true totals; it is logged.",
)
@html_option
@format_option
@site_option
def audit_run(dataset: str, together: tuple[str, ...], reveal: bool, html: Path | None, form: str, site: Path) -> None:
    """Audit the site's own log of a dataset.

    Views are each user, each project and organisation, and everybody. The findings without values are put on record,
    where custodians can read them through the gate.
    """
    _check_new(html)
    from querygate.custody.audit.audit import AuditOptions
    from querygate.custody.audit.audit_body import make_body
    from querygate.custody.roots.log_audit import audit_site  # loads what can open a vault
    from querygate.site.audit_notes import note_run

    opened = open_here(site)
    audited = audit_site(opened, dataset, AuditOptions(groups=_groups(together)), exact=reveal)
    note_run(opened, dataset, make_body(audited, dataset, reveal=False), user=LOCAL.name, revealed=reveal)
    _tell(audited, dataset, form, html, reveal=reveal, hint="--reveal shows it")


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
        raise click.UsageError(f"{html} is there already.")


# -- what is shown -----------------------------------------------------------------------------------------------------


def _tell(
    audited: Sequence[AuditOutcome], title: str, form: str, html: Path | None, *, reveal: bool, hint: str
) -> None:
    from querygate.custody.audit.audit_body import make_body

    body = make_body(audited, title, reveal=reveal)
    if html is not None:
        from querygate.custody.audit.audit_page import make_audit_page

        page = make_audit_page(body, audited)
        with new_file(html) as stream:
            stream.write(page.encode())
        click.echo(f"Wrote {html}.", err=True)
    if form == "json":
        print_json({name: body[name] for name in body if name != "title"})
    elif form != "table":
        print_records(body["findings"], form, columns=COLUMNS)
    else:
        _print_cases(body, hint)


def _print_cases(body: dict[str, Any], hint: str) -> None:
    """A line for each case, then what was done in each."""
    findings = {finding["id"]: finding for finding in body["findings"]}
    if not body["cases"]:
        click.echo("No group of fewer than k records can be worked out.")
    else:
        headings = ("case", "severity", "kinds", "users", "queries", "findings", "records", "where")
        print_table(headings, [_line(case, findings) for case in body["cases"]])
    for case in body["cases"]:
        _print_case(case, [findings[name] for name in case["findings"]], hint)
    unread, left = body["not_audited"], body["left_out"]
    counts = f"{body['queries']:,} queries; {len(unread):,} could not be audited; {len(left):,} tests were left out."
    click.echo(f"\n{counts}")
    for one in unread[:10]:
        click.echo(plain(f"  {one['query']}: {one['reason']}"))


def _line(case: dict[str, Any], findings: dict[str, dict[str, Any]]) -> list[str]:
    where = list(dict.fromkeys(findings[name]["isolates"]["where"] for name in case["findings"]))
    return [
        case["id"],
        case["severity"],
        ", ".join(case["kinds"]),
        named(case["users"], MOST_NAMED),
        named(case["queries"], MOST_NAMED),
        f"{len(case['findings']):,}",
        f"{case['records']:,}",
        where[0] if len(where) == 1 else f"{where[0]} and {len(where) - 1:,} more",
    ]


def _print_case(case: dict[str, Any], findings: list[dict[str, Any]], hint: str) -> None:
    period = f" {case['first']} to {case['last']}." if case["first"] else ""
    click.echo()
    click.echo(plain(f"{case['id']}: {case['severity']}, {people(case['records'])}.{period}"))
    for one in findings[:MOST_TOLD]:
        click.echo(plain(f"  {one['explanation']}"))
        for inferred in one["inferred"]:
            if inferred.get("hidden"):
                click.echo(plain(f"    {inferred['column']}: hidden; {hint}."))
            elif inferred["low"] is None:
                click.echo(plain(f"    {inferred['column']}: {between(None, None)}; the log has no answers."))
    if len(findings) > MOST_TOLD:
        click.echo(f"  and {len(findings) - MOST_TOLD:,} more findings.")
    if case["signs"]:
        click.echo(plain(f"  Signs of intent: {'; '.join(case['signs'])}."))
