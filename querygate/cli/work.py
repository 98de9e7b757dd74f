"""The command of the custodian's worker: it pulls jobs and never listens."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click

from querygate.cli.command import Command
from querygate.cli.shared_options import site_option
from querygate.core.count_text import counted
from querygate.custody.worker.job_handlers import JobHandlers
from querygate.custody.worker.upkeep import Upkeep
from querygate.custody.worker.worker import Worker
from querygate.site.job_desk import JobDesk
from querygate.site.layout import open_site
from querygate.site.open_gate import open_gate
from querygate.site.presence import present

POLL_S = 0.01
"""How often the control database of this machine is looked at."""


@click.command(cls=Command, example="querygate work\nquerygate work --once")
@click.option("--once", is_flag=True, help="Do what is waiting now, then stop.")
@click.option("--parent", type=int, hidden=True, help="Stop when this process is no longer the parent.")
@site_option
def work(once: bool, parent: int | None, site: Path) -> None:
    """Do the work that needs the vault, until stopped.

    Pulls jobs that the gate has put (noisy answers, previews and builds of extracts, audits), works on them with the
    raw rows, and puts the results back. It opens no port. `querygate serve` starts one by itself, unless told not to.
    """
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    opened = open_gate(open_site(site))
    desk, settings = JobDesk(opened), opened.site.settings
    worker = Worker(
        desk,
        JobHandlers(opened).table(),
        threads=settings["worker_threads"],
        lease_s=settings["job_lease_s"],
        poll_s=POLL_S,
    )
    if once:
        click.echo(f"Did {counted(worker.work_off(), 'job', 'jobs')}.")
        return
    with present(opened.site.folder), stop_signal() as is_told, Upkeep(opened, desk):
        if parent is None:
            click.echo("Working; nothing listens here (stop with Ctrl-C).")
        ended = worker.run(lambda: is_told() or (parent is not None and os.getppid() != parent))
    if not ended:
        os._exit(0)  # what is still at it holds no lease any more


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
