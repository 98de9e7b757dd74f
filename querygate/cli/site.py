"""Commands about a whole site: init, demo, serve."""

from __future__ import annotations

import ipaddress
import logging
import sys
from pathlib import Path

import click

from querygate.cli.frame import Command, open_here, site_option
from querygate.core.approval import ExtractBuilder
from querygate.core.errors import ConfigError
from querygate.custody.roots.asking import Asking
from querygate.site.audit_rule import check_differencing
from querygate.site.extracts import CHANNELS, Extracts
from querygate.site.layout import Site, init_site
from querygate.site.open_gate import OpenSite

VAULT_CODE = frozenset(
    {
        "querygate.custody.publish.publish",
        "querygate.custody.roots.publish_version",
        "querygate_adapters.vault.staging_tables",
        "querygate_adapters.sources.open_source",
        "querygate_adapters.sources.files",
        "querygate_adapters.sources.postgres_table",
        "querygate_adapters.vault.version_writer",
        "querygate_adapters.vault.person_history",
        "querygate_adapters.vault.person_removal",
        "querygate_adapters.vault.raw_records",
        "querygate_adapters.vault.exact_counts",
    }
)
"""Modules that can open a vault or read raw data. A process that serves from the store alone has none of them."""


@click.command(cls=Command, example="querygate init site")
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
@site_option
def init(folder: Path | None, site: Path) -> None:
    """Make an empty site in FOLDER (by default, the folder of --site)."""
    made = init_site(folder or site)
    click.echo(f"Made a site in {made.folder}.")
    click.echo("Next: write a policy, then `querygate publish --policy policy.toml --source table.csv`.")


@click.command(cls=Command, example="querygate demo --serve")
@click.option("--serve", "serving", is_flag=True, help="Leave the server up.")
@site_option
def demo(serving: bool, site: Path) -> None:
    """Make a site with the demo study, users, and a few answered queries."""
    from querygate import demo as study

    study.run(site, serving)


@click.command(cls=Command, example="querygate serve --host 127.0.0.1 --port 8080 --store-only")
@click.option("--host", metavar="ADDRESS", help="Address to listen on.  [default: setting `host`]")
@click.option(
    "--port", type=click.IntRange(0, 65535), metavar="PORT", help="Port; 0 takes a free one.  [default: setting `port`]"
)
@click.option("--store-only", is_flag=True, help="Refuse to start if code that can open a vault is loaded.")
@site_option
def serve(host: str | None, port: int | None, store_only: bool, site: Path) -> None:
    """Serve the site over HTTP until stopped."""
    from querygate import web

    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # that a request waited a moment is no news
    opened = open_here(site)
    settings = opened.site.settings
    if store_only:
        check_store_only(opened.site)
    check_served(opened)
    host = settings["host"] if host is None else host
    if not _is_loopback(host):
        click.echo("Keys travel in the clear without TLS: put a proxy with TLS before this address.", err=True)
    web.serve(
        opened,
        host,
        settings["port"] if port is None else port,
        settings["threads"],
        None if store_only else Asking(opened),
        None if store_only else open_extracts(opened),
        ready=lambda address: click.echo(f"QueryGate is at {address} (stop with Ctrl-C)."),
    )
    click.echo("Stopped.")


def open_extracts(opened: OpenSite) -> Extracts:
    """Extracts with all that a process which may open the vault can do; the builder is loaded when it is needed."""

    def builder() -> ExtractBuilder:
        from querygate.custody.roots.extract_builder import SiteExtractBuilder

        return SiteExtractBuilder(opened)

    if not any(opened.site.settings[setting] for setting in CHANNELS.values()):
        return Extracts(opened, builder, via="http")
    from querygate.custody.roots.request_notifications import InBackground

    return Extracts(opened, builder, via="http", notify=InBackground(opened))


def check_served(opened: OpenSite) -> None:
    """Every version that is served says something about differencing that this site can keep."""
    for dataset in opened.store.datasets():
        check_differencing(opened.store.current(dataset).catalog.on_differencing, opened.site.settings)


def check_store_only(site: Site) -> None:
    """Nothing that can open a vault may be loaded; ConfigError QG804 otherwise."""
    if site.settings["inline_audit"]:
        raise ConfigError(
            "QG805",
            "The setting inline_audit lets the serving process read the vault, and --store-only forbids it.",
            "Set inline_audit = false, or serve without --store-only.",
        )
    loaded = sorted(VAULT_CODE & set(sys.modules))
    if loaded:
        raise ConfigError(
            "QG804",
            f"Code that can open a vault is loaded: {', '.join(loaded)}.",
            "Run `querygate serve --store-only` as a process of its own.",
        )
    click.echo("No vault is used: no code that can open one is loaded.")
    if site.vault.is_dir() and any(site.vault.iterdir()):
        click.echo(
            "A vault lies in this site's folder. On a machine that faces the internet, keep only querygate.toml, "
            "control.db and store/.",
            err=True,
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
