"""The command that serves. What needs raw rows is done by a worker, in a process of its own."""

from __future__ import annotations

import gc
import ipaddress
import os
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path

import click

from querygate.cli.shared.command import Command
from querygate.cli.shared.output import tell_problem
from querygate.cli.shared.shared_options import site_option
from querygate.cli.worker_child import WorkerChild
from querygate.core.errors import ConfigError
from querygate.gate.dataset_list import served_catalogs
from querygate.site.audit_rule import check_differencing
from querygate.site.budget_evidence import check_anchored
from querygate.site.extract_requests.extracts import Extracts
from querygate.site.folder_lock import not_writable, only_gate, present
from querygate.site.health import is_writable
from querygate.site.job_exchange import JobExchange
from querygate.site.layout import Site, open_site
from querygate.site.open_gate import OpenSite, open_gate
from querygate.site.open_jobs import with_jobs
from querygate.site.process_limits import DoorLimits
from querygate.site.serving_tasks import kept_up
from querygate.site.settings import Settings
from querygate.web import ConnectionShares, address_of, fill_stock, listen, run_processes
from querygate.web import serve as run_server
from querygate.web.json_lines import configure_output
from querygate.web.metrics import Metrics, measured, own_port
from querygate.wire import CancelMail, open_tls, open_wire

CUSTODY = ("querygate.custody", "querygate.methods", "querygate_adapters.vault", "querygate_adapters.sources")
"""Packages of the custodian's plane. A process that serves has loaded nothing of them."""

SWITCH_S = 0.01
"""How long a thread may compute before Python hands its lock to another that waits: twice as long as usual. Requests
take turns in computing anyway, and each change costs both threads time."""

MOST_PROCESSES = 4
"""Processes where nobody says how many: each has its own memory."""


@click.command(cls=Command, example="querygate serve --host 127.0.0.1 --port 8080 --store-only")
@click.option("--host", metavar="ADDRESS", help="Address to listen on.  [default: setting `host`]")
@click.option(
    "--port", type=click.IntRange(0, 65535), metavar="PORT", help="Port; 0 picks a free one.  [default: setting `port`]"
)
@click.option(
    "--pg-port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Port for PostgreSQL clients; 0 for none.  [default: setting `pg_port`]",
)
@click.option("--no-worker", is_flag=True, help="Start no worker: `querygate work` runs elsewhere.")
@click.option(
    "--store-only", is_flag=True, help="Serve from the store alone: nothing that needs the raw rows is offered."
)
@site_option
def serve(
    host: str | None, port: int | None, pg_port: int | None, no_worker: bool, store_only: bool, site: Path
) -> None:
    """Serve the site over HTTP until stopped, and with --pg-port to PostgreSQL clients too.

    Work that needs the raw rows (noisy answers, extracts, audits) is queued for a worker, which this command starts as
    a separate process. The processes that listen never open the vault.
    """
    found = open_site(site)
    settings = found.settings
    configure_output(as_json=settings["json_lines"])
    if store_only:
        check_store_only(found)
    check_wall()
    host = settings["host"] if host is None else host
    if not _is_loopback(host):
        click.echo("Without TLS, keys are sent unencrypted: put a TLS proxy in front of this address.", err=True)
    listening = listen(host, settings["port"] if port is None else port)
    wire = listen_for_wire(host, settings, pg_port)
    worker = nullcontext() if store_only or no_worker else WorkerChild(site)
    with present(found.folder), only_gate(found.folder, address_of(listening)), measured(found) as metrics, worker:
        number = count_processes(settings)
        doors = Doors(listening, wire, CancelMail(number), ConnectionShares(number), metrics, store_only)

        def work(ready: Callable[[], None], place: int) -> None:
            answer_requests(found, doors, place, ready)

        def tell() -> None:
            if wire:
                click.echo(f"PostgreSQL clients connect to port {wire[0].getsockname()[1]}.")
            click.echo(f"QueryGate is at {address_of(listening)} (stop with Ctrl-C).")

        fill_stock()
        gc.freeze()  # nothing of this is ever garbage, and to look for some again and again takes 60 ms each time
        try:
            if number == 1:
                work(tell, 0)
            else:
                run_processes(number, work, tell, doors.left_by)
        finally:
            gc.unfreeze()  # what is not collected at the end, DuckDB complains of
    click.echo("Stopped.")


def count_processes(settings: Settings) -> int:
    """How many processes serve."""
    return settings["processes"] or min(len(os.sched_getaffinity(0)), MOST_PROCESSES)


@dataclass(frozen=True, slots=True)
class Doors:
    """What the processes of a site share: their sockets for HTTP and for PostgreSQL clients, and what they count."""

    http: Sequence[socket.socket]
    wire: Sequence[socket.socket]
    mail: CancelMail
    shares: ConnectionShares
    metrics: Metrics
    store_only: bool

    def left_by(self, process: int, place: int) -> None:
        """A process has ended."""
        self.shares.leave(place)
        self.metrics.ended(process)


def answer_requests(site: Site, doors: Doors, place: int, ready: Callable[[], None]) -> None:
    """All that one process does. Neither SQLite nor DuckDB survives a fork, so each opens its own. The first does what
    one of them does for all, once requests are taken."""
    sys.setswitchinterval(SWITCH_S)
    opened, extracts, exchange = open_served(site, doors.store_only)
    counted, is_first = DoorLimits(opened), place == 0
    if is_first:
        check_files(opened)
        check_anchored(opened)
    check_served(opened, broken=tell_problem if is_first else lambda error: None)
    with ExitStack() as beside:

        def begin() -> None:
            if is_first:
                beside.enter_context(kept_up(opened))
                beside.enter_context(own_port(opened, doors.metrics))
            if doors.wire:
                beside.enter_context(open_wire(opened, doors.wire, exchange, counted, doors.mail, place))
            ready()

        run_server(
            opened, doors.http, site.settings["threads"], extracts, exchange, begin, doors.metrics, counted,
            (doors.shares, place),
        )  # fmt: skip


def listen_for_wire(host: str, settings: Settings, port: int | None) -> list[socket.socket]:
    """Sockets for PostgreSQL clients; none where the port is 0. What is wrong with a certificate is told here."""
    wanted = settings["pg_port"] if port is None else port
    if not wanted:
        return []
    open_tls(settings["pg_certificate"], settings["pg_certificate_key"])
    return listen(settings["pg_host"] or host, wanted)


def open_served(site: Site, store_only: bool) -> tuple[OpenSite, Extracts | None, JobExchange | None]:
    opened = open_gate(site)
    if store_only:
        return opened, None, None
    joined = with_jobs(opened)
    return joined.opened, joined.extracts, joined.exchange


def check_files(opened: OpenSite) -> None:
    """What is asked can be put on record, and the store be read; QG804 now, and not for each question."""
    if not is_writable(opened.site):
        raise not_writable()
    store = opened.site.store
    if not opened.site.settings["store"] and store.exists() and not os.access(store, os.R_OK | os.X_OK):
        raise ConfigError("QG804", "The folder store/ cannot be read.", "Check who owns it, and its permissions.")


def check_served(opened: OpenSite, broken: Callable[[ConfigError], None] = tell_problem) -> None:
    """Every version that is served says something about differencing that this site can keep. One that cannot be
    opened is named, and does not keep the others from being served.
    """
    for catalog in served_catalogs(opened.store, broken=broken):
        check_differencing(catalog.on_differencing, opened.site.settings)


def loaded_custody() -> list[str]:
    """Modules in this process that could open a vault or read raw data."""
    return sorted(name for name in sys.modules if any(f"{name}.".startswith(f"{package}.") for package in CUSTODY))


def check_wall() -> None:
    """Nothing that can open a vault may be loaded; ConfigError QG804 otherwise."""
    loaded = loaded_custody()
    if loaded:
        raise ConfigError(
            "QG804",
            f"Code that can open a vault is loaded: {', '.join(loaded)}.",
            "Run `querygate serve` as a separate process.",
        )


def check_store_only(site: Site) -> None:
    """May it be served without a worker? What the folder has beside the store is told."""
    if site.settings["inline_audit"]:
        raise ConfigError(
            "QG805",
            "The setting inline_audit needs a worker beside the vault, and --store-only excludes one.",
            "Set inline_audit = false, or serve without --store-only.",
        )
    check_wall()
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
