"""Commands of the auditor: the site's own log, or anybody's."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from querygate.audit import PRESENCE, Finding
from querygate.cli.frame import LOCAL, Group, format_option, open_here, site_option
from querygate.cli.printing import print_json, print_records
from querygate.gateway.auditing import Audit, Options
from querygate.policy import load_policy
from querygate.sql.logged import DIALECTS

COLUMNS = ("severity", "kind", "users", "queries", "records", "where", "inferred")
HIDDEN = "hidden; --reveal shows it"


@click.group(cls=Group)
def audit() -> None:
    """Find queries that together single people out."""


@audit.command(
    "file",
    example="querygate audit file queries.jsonl --source patients.csv\n"
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
@click.option("--together", multiple=True, metavar="NAME=USER,USER", help="Users to look at together.")
@format_option
def audit_file_command(
    log: Path,
    source: str,
    policy_file: Path | None,
    secret: tuple[str, ...],
    dialect: str,
    k: int | None,
    together: tuple[str, ...],
    form: str,
) -> None:
    """Audit the log of another system against its data.

    The log is JSON lines or CSV with id, user, sql, and where there are any time and answer. Nothing is sent anywhere.
    """
    known: tuple[str, ...] = ()
    if policy_file is not None:
        policy = load_policy(policy_file)
        secret = secret or tuple(c.name for c in policy.columns if c.role in ("sensitive", "codes"))
        known = tuple(c.name for c in policy.columns if c.role in ("quasi-identifier", "public", "identifier"))
        k = k or policy.k
    from querygate.site.auditing import audit_file  # loads what can open data

    options = Options(k or 5, secret, known, dialect, _groups(together))
    _print({0: audit_file(log, source, options)}, form, reveal=True)


@audit.command("run", example="querygate audit run --dataset patients")
@click.option("--dataset", required=True, metavar="NAME", help="Which dataset's queries.")
@click.option("--together", multiple=True, metavar="NAME=USER,USER", help="Users to look at together.")
@click.option("--reveal", is_flag=True, help="Show what the answers leave open for the isolated people; it is logged.")
@format_option
@site_option
def audit_run(dataset: str, together: tuple[str, ...], reveal: bool, form: str, site: Path) -> None:
    """Audit the site's own log of a dataset."""
    from querygate.site.auditing import audit_site  # loads what can open a vault

    opened = open_here(site)
    found = audit_site(opened, dataset, Options(groups=_groups(together)))
    body = {"findings": sum(len(one.findings) for one in found.values()), "revealed": reveal}
    opened.log.note("audit.run", user=LOCAL.name, dataset=dataset, body=body)
    _print(found, form, reveal=reveal)


def _groups(together: tuple[str, ...]) -> dict[str, list[str]]:
    groups = {}
    for one in together:
        name, equals, users = one.partition("=")
        if not name or not equals or not users:
            raise click.BadParameter("Write NAME=USER,USER.", param_hint="--together")
        groups[name] = users.split(",")
    return groups


# -- what is shown -----------------------------------------------------------------------------------------------------


def _print(found: Mapping[int, Audit], form: str, *, reveal: bool) -> None:
    records = [
        to_dict(f"f{number}", finding, where, version, reveal=reveal)
        for number, (version, finding, where) in enumerate(
            ((version, *pair) for version, one in found.items() for pair in one.findings), 1
        )
    ]
    unread = [{"query": query, "reason": why} for one in found.values() for query, why in one.unread]
    left = [
        {"view": view, "measure": one.measure, "reason": one.reason} for a in found.values() for view, one in a.left
    ]
    entries = sum(one.entries for one in found.values())
    if form == "json":
        print_json({"queries": entries, "findings": records, "not_audited": unread, "left_out": left})
        return
    if form != "table":
        print_records(records, form, columns=COLUMNS)
        return
    shown = [
        {
            **record,
            "users": ", ".join(record["users"]),
            "queries": ", ".join(record["queries"]),
            "where": record["isolates"]["where"],
            "records": record["isolates"]["records"],
            "inferred": _said(record),
        }
        for record in records
    ]
    print_records(shown, form, columns=COLUMNS, empty="No group of fewer than k records can be worked out.")
    for record in records:
        click.echo(f"\n{record['id']}: {record['explanation']}")
    click.echo(f"\n{entries:,} queries; {len(unread):,} could not be audited; {len(left):,} tests were left out.")
    for one in unread[:10]:
        click.echo(f"  {one['query']}: {one['reason']}")


def _said(record: dict[str, Any]) -> str:
    return "; ".join(
        f"{one['column']} {HIDDEN if one.get('hidden') else _between(one['low'], one['high'])}"
        for one in record["inferred"]
    )


def to_dict(ident: str, finding: Finding, where: str, version: int, *, reveal: bool) -> dict[str, Any]:
    """A finding as the contract has it."""
    inferred = []
    for one in finding.inferred:
        told: dict[str, Any] = {"column": one.measure, "from": one.arithmetic if reveal else None}
        if reveal:
            told |= {"low": number(one.low), "high": number(one.high)}
        else:
            told |= {"low": None, "high": None, "hidden": True}
        inferred.append(told)
    record: dict[str, Any] = {
        "id": ident,
        "kind": finding.kind,
        "severity": finding.severity,
        "queries": list(finding.queries),
        "users": list(finding.users),
        "view": finding.view,
        "isolates": {"records": finding.records, "where": where},
        "combination": [
            {"measure": measure, "query": query, "times": str(times)} for measure, query, times in finding.coefficients
        ],
        "inferred": inferred,
        "explanation": explain(finding, where, reveal=reveal),
    }
    return record if not version else {**record, "version": version}


def explain(finding: Finding, where: str, *, reveal: bool) -> str:
    """What was done, in one or two sentences."""
    people = "1 record" if finding.records == 1 else f"{finding.records} records"
    by = " and ".join(finding.users)
    text = f"{', '.join(finding.queries)} of {by} isolate {people}: {where}."
    for one in finding.inferred:
        if one.low is None or one.high is None or not reveal:
            continue
        what = (
            "their number"
            if one.measure == PRESENCE
            else one.measure
            if finding.records == 1
            else f"the sum of {one.measure}"
        )
        text += f" {one.arithmetic} = {_between(number(one.low), number(one.high))}: {what}."
    return text


def number(value: Fraction | None) -> int | float | None:
    if value is None:
        return None
    return int(value) if value.denominator == 1 else float(value)


def _between(low: Any, high: Any) -> str:
    if low is None or high is None:
        return "not told"
    return f"{low}" if low == high else f"{low} .. {high}"
