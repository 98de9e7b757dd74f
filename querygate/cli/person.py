"""Commands about the people in the data: delete."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import click

from querygate.cli.shared.actor import acting
from querygate.cli.shared.command import CommandGroup
from querygate.cli.shared.output import print_record, progress
from querygate.cli.shared.shared_options import format_option, open_here, site_option
from querygate.core.count_text import counted
from querygate.custody.policy import load_policy
from querygate.custody.publish.person_deletion import Deletion
from querygate.custody.use_cases.delete_person import delete_from


@click.group(cls=CommandGroup)
def person() -> None:
    """Manage the people in the data."""


@person.command("delete", example="querygate person delete --policy patients.toml --key 4711")
@click.option("--policy", required=True, type=click.Path(path_type=Path, dir_okay=False), help="Policy file (TOML).")
@click.option(
    "--key",
    required=True,
    metavar="KEY",
    help="The person: a value of the policy's `person` column. - reads it from standard input.",
)
@click.option("--source", metavar="SOURCE", help="Publish this source.  [default: the rows of the served version]")
@click.option("--keep-versions", is_flag=True, help="Keep earlier versions that counted the person.")
@format_option
@site_option
def delete(policy: Path, key: str, source: str | None, keep_versions: bool, form: str, site: Path) -> None:
    """Delete a person from what is served and from the vault of every version.

    This publishes a version without the person, keeping classes together, and retires earlier versions that counted
    them. Their rows in SOURCE are ignored but not deleted: delete them there yourself, or the next publication brings
    them back. The log records the deletion without the key. If a deletion is interrupted, run it again to finish it.
    """
    who = sys.stdin.readline().rstrip("\n") if key == "-" else key
    opened = open_here(site)
    rules = load_policy(policy)
    with progress() as tell:
        done = delete_from(
            opened,
            rules,
            who,
            user=acting().name,
            source=source,
            keep_versions=keep_versions,
            beside=policy.parent,
            progress=tell,
        )
    print_record(asdict(done), form, lambda: explain_deletion(done))
    if opened.site.settings["store"]:
        click.echo(
            "This site is served from PostgreSQL: run `querygate store copy` to apply the change there.", err=True
        )


def explain_deletion(done: Deletion) -> str:
    """What was done, for a person."""
    versions = f"version{'s' * (len(done.held) != 1)} {_listed(done.held)}"
    lines = [f"Deleted from {done.dataset}: {counted(done.rows, 'row')}, in {versions}."]
    if done.version is not None:
        lines.append(f"Version {done.version} is served now.")
    if done.retired:
        lines.append(f"Retired: {_listed(done.retired)}.")
    return "\n".join(lines)


def _listed(versions: tuple[int, ...]) -> str:
    return ", ".join(map(str, versions))
