"""The command of the custodian's worker: it pulls jobs and never listens."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click

from querygate.cli.shared.command import Command
from querygate.cli.shared.shared_options import folder_option
from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.core.jobs import JobKind
from querygate.custody.worker.job_handlers import JobHandlers
from querygate.custody.worker.log_copy import LogCopy
from querygate.custody.worker.remote_exchange import GateUnreachable, RemoteExchange
from querygate.custody.worker.worker import Exchange, Handler, Worker
from querygate.custody.worker.worker_tasks import Upkeep
from querygate.site.folder_lock import present
from querygate.site.job_exchange import JobExchange
from querygate.site.layout import open_site
from querygate.site.open_gate import OpenSite, open_gate, with_records

POLL_S = 0.01
"""How often the control database of this machine is looked at."""

QUICK_TIMES = 10
"""A question that somebody waits for has the time of a statement, and is a few of them; a machine may be slow."""

ELSEWHERE_POLL_S = 0.1
"""How often a gate on another machine is asked."""


@click.command(
    cls=Command,
    example="querygate work\nquerygate work --once\n"
    "querygate work --gate https://gate.example.org --key-file /etc/querygate/worker.key",
)
@click.option("--gate", metavar="URL", help="Pull jobs from a gate on another machine.  [default: this site's own]")
@click.option(
    "--key-file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="File with the key for that gate.",
)
@click.option(
    "--extracts", is_flag=True, help="Preview and build extracts for that gate too: it learns exact figures of records."
)
@click.option("--once", is_flag=True, help="Do what is waiting now, then stop.")
@click.option("--parent", type=int, hidden=True, help="Stop when this process is no longer the parent.")
@folder_option
def work(gate: str | None, key_file: Path | None, extracts: bool, once: bool, parent: int | None, site: Path) -> None:
    """Do the work that needs the vault, until stopped.

    The worker pulls jobs from the gate (noisy answers, previews and builds of extracts, audits), works on them with the
    raw rows, and returns the results. It opens no port. `querygate serve` starts a worker by itself, unless told not
    to.

    With --gate the jobs come over HTTPS from a gate on another machine, which never sees a raw row. Budgets are then
    spent from the ledger of this site, and extracts are made only with --extracts.
    """
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    if (gate is None) != (key_file is None):
        raise click.UsageError("--gate and --key-file go together.")
    opened = open_gate(open_site(site))
    own = JobExchange(opened)
    remote = None if gate is None else open_remote_worker(opened, gate, read_key(key_file), extracts)
    worker = open_worker(opened, own) if remote is None else remote
    if once:
        try:
            click.echo(f"Did {counted(worker.work_off(), 'job', 'jobs')}.")
        except GateUnreachable as error:
            raise ConfigError(
                "QG804", f"The gate cannot be reached: {error}.", "Check its address, its certificate and the key."
            ) from None
        return
    with present(opened.site.folder), stop_signal() as is_told, Upkeep(opened, own):
        if parent is None:
            click.echo("Working; nothing listens here (stop with Ctrl-C).")
        ended = worker.run(lambda: is_told() or (parent is not None and os.getppid() != parent))
    if not ended:
        os._exit(0 if is_told() else 1)  # what is still at it holds no lease any more


def open_worker(opened: OpenSite, exchange: JobExchange) -> Worker:
    """For the gate of this site, which shares its control database."""
    return _worker(opened, exchange, JobHandlers(opened).table(), POLL_S)


def open_remote_worker(opened: OpenSite, gate: str, key: str, extracts: bool) -> Worker:
    """For a gate on another machine: what it was asked is copied here, and what is spent is spent here."""
    exchange = RemoteExchange(gate, key)
    copy = LogCopy(opened.site.folder, exchange.log_after)
    handlers = JobHandlers(opened, with_records(opened, copy.path), copy.catch_up)
    return _worker(opened, exchange, handlers.table_elsewhere(extracts=extracts), ELSEWHERE_POLL_S)


def _worker(opened: OpenSite, exchange: Exchange, table: Mapping[JobKind, Handler], poll_s: float) -> Worker:
    settings = opened.site.settings
    threads, lease_s, long_s = settings["worker_threads"], settings["job_lease_s"], settings["job_minutes"] * 60.0
    quick_s = QUICK_TIMES * settings["query_timeout_s"]
    return Worker(exchange, table, threads=threads, lease_s=lease_s, poll_s=poll_s, quick_s=quick_s, long_s=long_s)


def read_key(path: Path | None) -> str:
    """The key in a file, which only its owner should be able to read: its first line."""
    return "" if path is None else path.read_text(encoding="utf-8").strip().partition("\n")[0].rstrip()


@contextmanager
def stop_signal() -> Iterator[Callable[[], bool]]:
    """Whether SIGTERM or Ctrl-C came: a worker first finishes, or gives back, what it holds."""
    told = threading.Event()

    def note(number: int, frame: FrameType | None) -> None:
        told.set()

    before = {number: signal.signal(number, note) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield told.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
