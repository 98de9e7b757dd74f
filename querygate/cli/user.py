"""Commands about people: user, key. What is changed is put on record; a key's secret is shown once and nowhere kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import click

from querygate.cli.command import CommandGroup
from querygate.cli.output import print_record, print_records
from querygate.cli.shared_options import LOCAL, F, format_option, open_here, site_option
from querygate.control import ROLES, User
from querygate.core.errors import ConfigError


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
@format_option
@site_option
def add_user(name: str, role: str, project: str | None, organisation: str | None, form: str, site: Path) -> None:
    """Create an account for NAME. They still need a key."""
    if name.lower() == LOCAL.name:
        raise ConfigError("QG806", "This name is reserved for the person at the console.", "Choose another name.")
    opened = open_here(site)
    added = opened.accounts.add_user(name, role, project or "", organisation or "")
    opened.log.note("user.add", user=LOCAL.name, body={"name": added.name, "role": added.role, **_groups(added)})
    print_record(
        asdict(added), form, lambda: f"Added {name} ({role}). Next: create a key with `querygate key new {name}`."
    )


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
    """Give the user NAME another role, project or organisation. A new role holds from the next request on."""
    if role is None and project is None and organisation is None:
        raise click.UsageError("Nothing to change: give --role, --project or --organisation.")
    opened = open_here(site)
    changed = opened.accounts.change_user(name, role=role, project=project, organisation=organisation)
    body = {"name": changed.name, "project": changed.project, "organisation": changed.organisation}
    body |= {"role": changed.role} if role else {}
    opened.log.note("user.change", user=LOCAL.name, body=body)
    print_record(asdict(changed), form, lambda: explain_user(changed))


def explain_user(user: User) -> str:
    """Their role, and whose answers theirs are put together with."""
    named = [f"{key} {value}" for key, value in _groups(user).items()]
    return f"{user.name}: {user.role}, {', '.join(named) or 'no project, no organisation'}."


def _groups(user: User) -> dict[str, str]:
    """The project and the organisation, as far as there are any."""
    return {key: value for key in ("project", "organisation") if (value := getattr(user, key))}


@user.command("remove", example="querygate user remove ann")
@click.argument("name")
@site_option
def remove_user(name: str, site: Path) -> None:
    """Remove the user NAME for good. None of their keys works any more.

    What they asked stays in the log and in audits under their name, which no other user can be given. To close an
    account for a while, use `querygate user disable`. The last custodian cannot be removed.
    """
    opened = open_here(site)
    removed = opened.accounts.remove_user(name)
    opened.log.note("user.remove", user=LOCAL.name, body={"name": removed.name})
    click.echo(f"Removed {removed.name}. What they asked stays on record.")


@user.command("disable", example="querygate user disable ann")
@click.argument("name")
@site_option
def disable_user(name: str, site: Path) -> None:
    """Close the account of NAME. None of its keys works any more. The last custodian's account stays open."""
    opened = open_here(site)
    opened.accounts.disable_user(name)
    opened.log.note("user.disable", user=LOCAL.name, body={"name": name})
    click.echo(f"Closed the account of {name}.")


@user.command("enable", example="querygate user enable ann")
@click.argument("name")
@site_option
def enable_user(name: str, site: Path) -> None:
    """Reopen the account of NAME, with the keys that were not revoked."""
    opened = open_here(site)
    opened.accounts.enable_user(name)
    opened.log.note("user.enable", user=LOCAL.name, body={"name": name})
    click.echo(f"Reopened the account of {name}.")


@click.group(cls=CommandGroup)
def key() -> None:
    """Manage the keys of users."""


@key.command("new", example="querygate key new ann")
@click.argument("name")
@format_option
@site_option
def new_key(name: str, form: str, site: Path) -> None:
    """Create a key for the user NAME. It is shown only once."""
    opened = open_here(site)
    issued = opened.accounts.new_key(name)
    opened.log.note("key.new", user=LOCAL.name, body={"id": issued.id, "name": issued.user})
    made = {"id": issued.id, "user": issued.user, "key": issued.secret}
    print_record(
        made, form, lambda: f"{issued.secret}\n\nKey {issued.id} of {issued.user}. It will not be shown again."
    )


@key.command("revoke", example="querygate key revoke k3f7q2ab")
@click.argument("key_id", metavar="ID")
@format_option
@site_option
def revoke_key(key_id: str, form: str, site: Path) -> None:
    """Revoke the key with this ID: the 8 characters after qg_. It stops working at once."""
    opened = open_here(site)
    revoked = opened.accounts.revoke_key(key_id)
    opened.log.note("key.revoke", user=LOCAL.name, body={"id": revoked.id, "name": revoked.user})
    print_record(asdict(revoked), form, lambda: f"Revoked key {revoked.id} of {revoked.user}.")


@key.command("list", example="querygate key list")
@format_option
@site_option
def list_keys(form: str, site: Path) -> None:
    """List all keys, without their secrets."""
    keys = [asdict(found) for found in open_here(site).accounts.list_keys()]
    print_records(keys, form, columns=("id", "user", "created", "revoked"), empty="There are no keys yet.")
