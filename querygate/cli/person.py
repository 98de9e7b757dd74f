"""Commands about the people in the data: delete."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from querygate.cli.command import CommandGroup
from querygate.cli.frame import LOCAL, format_option, open_here, site_option
from querygate.cli.output import print_record, progress

if TYPE_CHECKING:
    from querygate.custody.publish.person_deletion import Deletion


@click.group(cls=CommandGroup)
def person() -> None:
    """The people in the data."""


@person.command("delete", example="querygate person delete --policy patients.toml --key 4711")
@click.option("--policy", required=True, type=click.Path(path_type=Path, dir_okay=False), help="Policy file (TOML).")
@click.option(
    "--key", required=True, metavar="KEY", help="Who: the value of the policy's `person`. - reads it from input."
)
@click.option(
    "--source", metavar="SOURCE", help="Publish this source.  [default: the rows of the version that is served]"
)
@click.option("--keep-versions", is_flag=True, help="Leave earlier versions that counted the person as they are.")
@format_option
@site_option
def delete(policy: Path, key: str, source: str | None, keep_versions: bool, form: str, site: Path) -> None:
    """Delete a person: out of what is served, and out of the vault of every version.

    A version without them is published, with classes kept together; earlier versions that counted them are retired.
    Rows of theirs in SOURCE are left out, but not deleted there: do that yourself, or the next publication brings them
    back. The log has the deletion without the key. A deletion that was cut off is finished by asking for it again.
    """
    from querygate.custody.policy import load_policy
    from querygate.custody.roots.delete_person import delete_from

    who = sys.stdin.readline().rstrip("\n") if key == "-" else key
    opened = open_here(site)
    rules = load_policy(policy)
    with progress() as tell:
        done = delete_from(
            opened,
            rules,
            who,
            user=LOCAL.name,
            source=source,
            keep_versions=keep_versions,
            beside=policy.parent,
            progress=tell,
        )
    print_record(asdict(done), form, lambda: explain_deletion(done))
    if opened.site.settings["store"]:
        click.echo("This site is served from PostgreSQL: bring the change there with `querygate store copy`.", err=True)


def explain_deletion(done: Deletion) -> str:
    """What was done, for a person."""
    lines = [f"Deleted from {done.dataset}: {done.rows:,} rows, of versions {_listed(done.held)}."]
    if done.version is not None:
        lines.append(f"Version {done.version} is served now.")
    if done.retired:
        lines.append(f"Retired: {_listed(done.retired)}.")
    return "\n".join(lines)


def _listed(versions: tuple[int, ...]) -> str:
    return ", ".join(map(str, versions))
