"""The command that serves. It joins both planes, unless the store alone is to be served."""

from __future__ import annotations

import ipaddress
import logging
import sys
from pathlib import Path

import click

from querygate.cli.command import Command, load
from querygate.cli.output import tell_problem
from querygate.cli.shared_options import open_here, site_option
from querygate.core.errors import ConfigError
from querygate.gate.describe import served_catalogs
from querygate.site.audit_rule import check_differencing
from querygate.site.evidence import check_anchored
from querygate.site.layout import Site
from querygate.site.open_gate import OpenSite
from querygate.site.upkeep import kept_up
from querygate.web import serve as run_server

CUSTODY = ("querygate.custody", "querygate.methods", "querygate_adapters.vault", "querygate_adapters.sources")
"""Packages of the custodian's plane. A process that serves from the store alone has loaded nothing of them."""


@click.command(cls=Command, example="querygate serve --host 127.0.0.1 --port 8080 --store-only")
@click.option("--host", metavar="ADDRESS", help="Address to listen on.  [default: setting `host`]")
@click.option(
    "--port", type=click.IntRange(0, 65535), metavar="PORT", help="Port; 0 picks a free one.  [default: setting `port`]"
)
@click.option("--store-only", is_flag=True, help="Refuse to start if code that can open a vault is loaded.")
@site_option
def serve(host: str | None, port: int | None, store_only: bool, site: Path) -> None:
    """Serve the site over HTTP until stopped."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # that a request waited a moment is no news
    opened = open_here(site)
    check_anchored(opened)
    settings = opened.site.settings
    extracts = None
    if store_only:
        check_store_only(opened.site)
    else:
        opened = load("querygate.custody.jobs.open_custody:with_vault")(opened)
        extracts = load("querygate.custody.jobs.open_custody:open_extracts")(opened)
    check_served(opened)
    host = settings["host"] if host is None else host
    if not _is_loopback(host):
        click.echo("Without TLS, keys are sent unencrypted: put a TLS proxy in front of this address.", err=True)
    with kept_up(opened):
        run_server(
            opened,
            host,
            settings["port"] if port is None else port,
            settings["threads"],
            extracts,
            ready=lambda address: click.echo(f"QueryGate is at {address} (stop with Ctrl-C)."),
        )
    click.echo("Stopped.")


def check_served(opened: OpenSite) -> None:
    """Every version that is served says something about differencing that this site can keep. One that cannot be
    opened is named, and does not keep the others from being served.
    """
    for catalog in served_catalogs(opened.store, broken=tell_problem):
        check_differencing(catalog.on_differencing, opened.site.settings)


def loaded_custody() -> list[str]:
    """Modules in this process that could open a vault or read raw data."""
    return sorted(name for name in sys.modules if any(f"{name}.".startswith(f"{package}.") for package in CUSTODY))


def check_store_only(site: Site) -> None:
    """Nothing that can open a vault may be loaded; ConfigError QG804 otherwise."""
    if site.settings["inline_audit"]:
        raise ConfigError(
            "QG805",
            "The setting inline_audit lets the serving process read the vault, but --store-only forbids it.",
            "Set inline_audit = false, or serve without --store-only.",
        )
    loaded = loaded_custody()
    if loaded:
        raise ConfigError(
            "QG804",
            f"Code that can open a vault is loaded: {', '.join(loaded)}.",
            "Run `querygate serve --store-only` as a separate process.",
        )
    click.echo("No code that can open a vault is loaded.")
    if site.vault.is_dir() and any(site.vault.iterdir()):
        click.echo(
            "This site's folder contains a vault. On a machine that faces the internet, keep only querygate.toml, "
            "control.db and store/.",
            err=True,
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
