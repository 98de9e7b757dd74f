"""The command that brings published versions to a gate: sync."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from querygate.cli.shared.command import Command
from querygate.cli.shared.output import print_records, progress
from querygate.cli.shared.shared_options import LOCAL, format_option, open_here, site_option
from querygate.custody.use_cases.sync_versions import sync_versions


@click.command(cls=Command, example="querygate sync --to /mnt/gate/store")
@click.option(
    "--to",
    "target",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="The store of a gate, or a folder that is carried there.",
)
@format_option
@site_option
def sync(target: Path, form: str, site: Path) -> None:
    """Copy published versions to a folder, such as a gate's store.

    Every file is compared with the digest that was recorded when it was published, and the pointer to the served
    version follows last. Versions that were retired are removed there too. Nothing else of the site is copied.
    """
    with progress() as tell:
        done = sync_versions(open_here(site), target, user=LOCAL.name, progress=tell)
    print_records(
        [asdict(one) for one in done],
        form,
        columns=("dataset", "copied", "removed", "served"),
        empty="No dataset is published yet.",
    )
