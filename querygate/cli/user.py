"""Commands about people: user, key. What is changed is put on record; a key's secret is shown once and nowhere kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import click

from querygate.cli.shared.actor import actor
from querygate.cli.shared.command import CommandGroup
from querygate.cli.shared.output import print_record, print_records
from querygate.cli.shared.shared_options import F, format_option, open_here, site_option
from querygate.control import User
from querygate.control.keys.keys import MOST_OVERLAP_HOURS, OVERLAP_HOURS, NewKey
from querygate.control.sign_on.identities import Identities
from querygate.core.rights import ROLES, SCOPES
from querygate.site.account_changes import RESERVED, AccountChanges, groups_of


@click.group(cls=CommandGroup)
def user() -> None:
    """Manage user accounts."""


def group_options(help_of_none: str) -> Callable[[F], F]:
    """--project and --organisation."""

    def add(command: F) -> F:
        for name, whose in (("organisation", "Organisation"), ("project", "Project")):
            said = f"{whose} whose answers are audited together.{help_of_none}"
            command = click.option(f"--{name}", metavar="NAME", help=said)(command)
        return command

    return add


@user.command(
    "add", example="querygate user add ann --role researcher --project 'Hypertension 2026' --organisation 'Uni A'"
)
@click.argument("name")
@click.option("--role", required=True, type=click.Choice(ROLES), help="Role of the user.")
@group_options("  [default: none]")
@click.option("--grant", "datasets", multiple=True, metavar="DATASET", help="Let them ask this dataset. Repeatable.")
@format_option
@site_option
def add_user(
    name: str,
    role: str,
    project: str | None,
    organisation: str | None,
    datasets: tuple[str, ...],
    form: str,
    site: Path,
) -> None:
    """Create an account for NAME. They still need a key, and a grant for what they may query: see `querygate grant`.

    If you use an admin's key, accounts of reviewers, custodians and auditors are closed until a custodian opens them.
    """
    added = _changes(site).add_user(name, role, project or "", organisation or "", datasets, by=actor())
    key = f"a key with `querygate key new {name}`."
    closed = f"The account stays closed until a custodian opens it with `querygate user enable {name}`, and makes {key}"
    then = closed if added.disabled else f"Next: create {key}"
    print_record(asdict(added), form, lambda: f"Added {name} ({role}). {then}")


@user.command("list", example="querygate user list")
@click.option("--removed", is_flag=True, help="List removed users too.")
@format_option
@site_option
def list_users(removed: bool, form: str, site: Path) -> None:
    """List all accounts."""
    users = [asdict(found) for found in open_here(site).accounts.list_users()]
    if not removed:
        users = [{key: user[key] for key in user if key != "removed"} for user in users if user["removed"] is None]
    columns = ("name", "role", "project", "organisation", "created", "disabled", *(["removed"] * removed))
    print_records(users, form, columns=columns, empty="There are no users yet.")


@user.command("change", example="querygate user change ann --project 'Hypertension 2026'")
@click.argument("name")
@click.option("--role", type=click.Choice(ROLES), help="Role of the user from now on.")
@group_options(" An empty name removes it.")
@format_option
@site_option
def change_user(
    name: str, role: str | None, project: str | None, organisation: str | None, form: str, site: Path
) -> None:
    """Give the user NAME another role, project or organisation. A new role takes effect with the next request.

    Somebody who becomes a reviewer, custodian or auditor needs a new key: their keys, sessions and link to single
    sign-on end. An admin's key cannot change the role of one.
    """
    if role is None and project is None and organisation is None:
        raise click.UsageError("Nothing to change: give --role, --project or --organisation.")
    changed = _changes(site).change_user(name, role=role, project=project, organisation=organisation, by=actor())
    print_record(asdict(changed), form, lambda: explain_user(changed))


def explain_user(user: User) -> str:
    """Their role, and whose answers theirs are put together with."""
    named = [f"{key} {value}" for key, value in groups_of(user).items()]
    closed = f" Closed until a custodian opens it with `querygate user enable {user.name}`." if user.disabled else ""
    return f"{user.name}: {user.role}, {', '.join(named) or 'no project, no organisation'}.{closed}"


def _changes(site: Path) -> AccountChanges:
    return AccountChanges(open_here(site))


@user.command("remove", example="querygate user remove ann")
@click.argument("name")
@site_option
def remove_user(name: str, site: Path) -> None:
    """Remove the user NAME permanently. Their keys stop working.

    Their queries stay in the log and in audits under their name, which cannot be used again. To close an account for a
    while, use `querygate user disable`. The last custodian cannot be removed.
    """
    removed = _changes(site).remove_user(name, by=actor())
    click.echo(f"Removed {removed.name}. Their queries stay in the log.")


@user.command("disable", example="querygate user disable ann")
@click.argument("name")
@site_option
def disable_user(name: str, site: Path) -> None:
    """Close the account of NAME. Its keys stop working. The last custodian's account cannot be closed."""
    closed = _changes(site).disable_user(name, by=actor())
    click.echo(f"Closed the account of {closed.name}.")


@user.command("enable", example="querygate user enable ann")
@click.argument("name")
@site_option
def enable_user(name: str, site: Path) -> None:
    """Reopen the account of NAME, with the keys that were not revoked. An admin's key does not open accounts of
    reviewers, custodians and auditors."""
    opened = _changes(site).enable_user(name, by=actor())
    click.echo(f"Reopened the account of {opened.name}.")


@user.command("link", example="querygate user link ann --issuer https://login.example.org --subject 248289761001")
@click.argument("name")
@click.option("--issuer", required=True, metavar="URL", help="The provider, as the file of single sign-on names it.")
@click.option("--subject", required=True, metavar="TEXT", help="Who they are there: `sub` of the ID token.")
@format_option
@site_option
def link_user(name: str, issuer: str, subject: str, form: str, site: Path) -> None:
    """Link the existing account of NAME to somebody's single sign-on.

    The log has issuer and subject of people who signed in but were not let in (`querygate log list --kind
    login.refused`). The account keeps its role; groups can add grants.
    """
    _changes(site).check_credential(name, actor())
    linked = _identities(site).link(name, issuer, subject, by=actor())
    print_record(asdict(linked), form, lambda: f"Linked {linked.user}.")


@user.command("unlink", example="querygate user unlink ann")
@click.argument("name")
@site_option
def unlink_user(name: str, site: Path) -> None:
    """Unlink the account of NAME from single sign-on. Sessions, keys and grants that came from there end; the role
    stays until you change it."""
    click.echo(f"Unlinked {_identities(site).unlink(name, by=actor())}.")


@user.command("links", example="querygate user links")
@format_option
@site_option
def list_links(form: str, site: Path) -> None:
    """List who signs in through single sign-on, and when they last did."""
    found = [asdict(one) for one in _identities(site).list_identities()]
    print_records(found, form, columns=("user", "issuer", "subject", "created", "seen"), empty="Nobody is linked yet.")


def _identities(site: Path) -> Identities:
    opened = open_here(site)
    return Identities(opened.log, opened.grants, RESERVED)


KEY_COLUMNS = ("id", "user", "created", "expires", "used", "scopes", "revoked")


@click.group(cls=CommandGroup)
def key() -> None:
    """Manage the keys of users."""


expires_option = click.option(
    "--expires", metavar="DATE", help="Last day on which it works, in UTC.  [default: no end]"
)


@key.command("new", example="querygate key new ann\nquerygate key new carl --scope worker --expires 2027-06-30")
@click.argument("name")
@expires_option
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(list(SCOPES)),
    help="What the key may do, within the rights of the role. Repeat it for several.  [default: all of the role]",
)
@format_option
@site_option
def new_key(name: str, expires: str | None, scopes: tuple[str, ...], form: str, site: Path) -> None:
    """Create a key for the user NAME. It is shown only once. Custodians make keys for reviewers, custodians and
    auditors; admins make the others."""
    print_key(_changes(site).new_key(name, expires, scopes, by=actor()), form)


def print_key(issued: NewKey, form: str) -> None:
    made = {"id": issued.id, "user": issued.user, "key": issued.secret}
    print_record(
        made, form, lambda: f"{issued.secret}\n\nKey {issued.id} of {issued.user}. It will not be shown again."
    )


@key.command("rotate", example="querygate key rotate k3f7q2ab --overlap 48")
@click.argument("key_id", metavar="ID")
@click.option(
    "--overlap",
    type=click.FloatRange(0, MOST_OVERLAP_HOURS),
    default=OVERLAP_HOURS,
    show_default=True,
    metavar="HOURS",
    help="How long the old key keeps working.",
)
@expires_option
@format_option
@site_option
def rotate_key(key_id: str, overlap: float, expires: str | None, form: str, site: Path) -> None:
    """Replace the key with this ID by a new one for the same user and scopes. The old one keeps working for a while."""
    print_key(_changes(site).rotate_key(key_id, overlap, expires, by=actor()), form)


@key.command("revoke", example="querygate key revoke k3f7q2ab")
@click.argument("key_id", metavar="ID")
@format_option
@site_option
def revoke_key(key_id: str, form: str, site: Path) -> None:
    """Revoke the key with this ID: the 8 characters after qg_. It stops working at once, and so do the keys that
    replaced it."""
    revoked = _changes(site).revoke_key(key_id, by=actor())
    print_record(asdict(revoked), form, lambda: f"Revoked key {revoked.id} of {revoked.user}.")


@key.command("list", example="querygate key list")
@format_option
@site_option
def list_keys(form: str, site: Path) -> None:
    """List all keys, without their secrets. `used` is the minute in which a key was last used."""
    keys = [asdict(found) for found in open_here(site).accounts.keys.all()]
    if form in ("table", "csv"):
        keys = [{**found, "scopes": ",".join(found["scopes"] or ())} for found in keys]
    print_records(keys, form, columns=KEY_COLUMNS, empty="There are no keys yet.")
