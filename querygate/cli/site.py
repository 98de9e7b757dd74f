"""Commands that make a site: init, demo."""

from __future__ import annotations

from pathlib import Path

import click

from querygate import demo as study
from querygate.cli.shared.command import Command
from querygate.cli.shared.shared_options import site_option
from querygate.site.layout import init_site


@click.command(cls=Command, example="querygate init site")
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
@site_option
def init(folder: Path | None, site: Path) -> None:
    """Create an empty site in FOLDER (default: the folder of --site)."""
    made = init_site(folder or site)
    is_named = made.folder.name not in ("", "..")
    click.echo(f"Created a site in {made.folder if is_named else made.folder.resolve()}.")
    click.echo("Next: write a policy, then `querygate publish --policy policy.toml --source table.csv`.")


@click.command(cls=Command, example="querygate demo --serve")
@click.option("--serve", "serving", is_flag=True, help="Keep the server running.")
@site_option
def demo(serving: bool, site: Path) -> None:
    """Create a site with the demo study, users, and a few answered queries."""
    study.run(site, serving)
