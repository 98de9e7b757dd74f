"""Commands about where published versions are kept: store."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from querygate.cli.shared.actor import acting
from querygate.cli.shared.command import CommandGroup
from querygate.cli.shared.output import print_records, progress
from querygate.cli.shared.shared_options import format_option, open_here, site_option


@click.group(cls=CommandGroup)
def store() -> None:
    """Manage where published versions are kept."""


@store.command("copy", example="querygate store copy --to postgresql://publisher@db.example.org/study")
@click.argument("dataset", nargs=-1)
@click.option(
    "--to",
    "location",
    required=True,
    metavar="LOCATION",
    help="postgresql://user@host:port/database, with #schema for a schema other than querygate; or spark:/FOLDER.",
)
@format_option
@site_option
def copy(dataset: tuple[str, ...], location: str, form: str, site: Path) -> None:
    """Copy published versions to a PostgreSQL server, or to a folder for Spark, that gates read from.

    Each DATASET (default: all) gets the versions that are missing there; then the version served here is served there
    too. Every version is read back and compared before anybody can see it. Keep the password in a password file or in
    PGPASSWORD.
    """
    from querygate.custody.use_cases.copy_store import copy_store

    opened = open_here(site)
    with progress() as tell:
        done = copy_store(opened, location, dataset, user=acting().name, progress=tell)
    print_records(
        [asdict(copied) for copied in done],
        form,
        columns=("dataset", "copied", "served"),
        empty="No dataset is published yet.",
    )
