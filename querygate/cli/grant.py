"""Commands about grants: who may ask which dataset. What is changed is put on record."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from querygate.cli.shared.actor import actor
from querygate.cli.shared.command import CommandGroup
from querygate.cli.shared.output import print_record, print_records
from querygate.cli.shared.shared_options import format_option, open_here, site_option
from querygate.control import Grant, Grantee
from querygate.control.grants import EVERY_DATASET, read_until, shown_until
from querygate.core.errors import QueryGateError
from querygate.core.rights import MODES
from querygate.site.open_gate import OpenSite

COLUMNS = ("id", "whose", "name", "dataset", "modes", "until", "by", "created")


@click.group(cls=CommandGroup)
def grant() -> None:
    """Manage grants: who may ask which dataset."""


@grant.command(
    "add",
    example="querygate grant add --user ann --dataset survey --until 2026-12-31\n"
    "querygate grant add --project 'Hypertension 2026' --dataset survey --mode interval",
)
@click.option("--user", metavar="NAME", help="Grant it to this user.")
@click.option("--project", metavar="NAME", help="Grant it to everybody in this project.")
@click.option("--organisation", metavar="NAME", help="Grant it to everybody in this organisation.")
@click.option("--everyone", is_flag=True, help="Grant it to every user, including those added later.")
@click.option("--dataset", required=True, metavar="NAME", help="Dataset that they may query; * for all.")
@click.option(
    "--mode",
    "modes",
    multiple=True,
    type=click.Choice(MODES),
    help="A kind of answer: ranges, noisy numbers, extracts. Repeat it for several.  [default: all]",
)
@click.option("--until", metavar="DATE", help="Last day of the grant, in UTC.  [default: no end]")
@format_option
@site_option
def add_grant(
    user: str | None,
    project: str | None,
    organisation: str | None,
    everyone: bool,
    dataset: str,
    modes: tuple[str, ...],
    until: str | None,
    form: str,
    site: Path,
) -> None:
    """Let a user, a project, an organisation or everyone query a dataset."""
    grantee = _grantee(user, project, organisation, everyone)
    opened = open_here(site)
    check_served(opened, dataset)
    given = opened.grants.add(grantee, dataset, modes, read_until(until) if until else None, by=actor())
    print_record(
        asdict(given), form, lambda: f"{explain_grant(given)} Revoke it with `querygate grant revoke {given.id}`."
    )


@grant.command("list", example="querygate grant list")
@click.option("--revoked", is_flag=True, help="List revoked grants too.")
@format_option
@site_option
def list_grants(revoked: bool, form: str, site: Path) -> None:
    """List who may query what. `by` says who gave the grant: `upgrade` marks what users kept after an upgrade."""
    found = [asdict(one) for one in open_here(site).grants.list_grants(revoked=revoked)]
    if form in ("table", "csv"):
        found = [{**one, "modes": ",".join(one["modes"])} for one in found]
    if form == "table":
        found = [{**one, "until": one["until"] and shown_until(one["until"])} for one in found]
    columns = (*COLUMNS, *(["revoked"] * revoked))
    print_records(found, form, columns=columns, empty="Nothing is granted yet: only custodians can query.")


@grant.command("revoke", example="querygate grant revoke g_01KJKB3Q00Z5V7N0M1C2X3Y4W5")
@click.argument("grant_id", metavar="ID")
@format_option
@site_option
def revoke_grant(grant_id: str, form: str, site: Path) -> None:
    """Revoke the grant with this ID, from the next request on. Requests for extracts that were released stay released:
    see `querygate export revoke`."""
    revoked = open_here(site).grants.revoke(grant_id, by=actor())
    print_record(asdict(revoked), form, lambda: f"Revoked {revoked.id}.")


def check_served(opened: OpenSite, dataset: str) -> None:
    """A name that is not served is likely a mistake; it is granted all the same, for it may be published later."""
    if dataset == EVERY_DATASET:
        return
    try:
        opened.store.current(dataset)
    except QueryGateError:
        click.echo("No dataset with this name is being served at the moment.", err=True)


def explain_grant(given: Grant) -> str:
    """A grant for a person."""
    who = "Everyone" if given.whose == "everyone" else f"The {given.whose} {given.name}"
    what = "every dataset" if given.is_for_everything else given.dataset
    until = f" until {shown_until(given.until)}" if given.until else ""
    return f"{who} may query {what}{until} ({', '.join(given.modes)})."


def _grantee(user: str | None, project: str | None, organisation: str | None, everyone: bool) -> Grantee:
    named = [
        Grantee("user", user) if user is not None else None,
        Grantee("project", project) if project is not None else None,
        Grantee("organisation", organisation) if organisation is not None else None,
        Grantee("everyone") if everyone else None,
    ]
    found = [one for one in named if one is not None]
    if len(found) != 1:
        raise click.UsageError("Use one of --user, --project, --organisation and --everyone.")
    return found[0]
