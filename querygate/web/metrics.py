"""Figures about a serving site, in Prometheus' text: how long steps take, what is refused, what waits, what is left.

Several processes may serve one port. Each writes what it counts into a folder that they share (prometheus_client's
files for several processes), and whoever is asked adds up all of them. What belongs to the site as a whole is read when
somebody asks. No figure has a name of a person or a text of theirs.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from flask import Response

from querygate.core.budget_ledger import Ledger
from querygate.core.errors import ConfigError
from querygate.core.step_times import listen
from querygate.core.types import Principal
from querygate.site.budget_evidence import mark_file, open_ledger
from querygate.site.layout import Site
from querygate.site.open_gate import OpenSite, now
from querygate.site.siem_export import lag

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
MEMORY = "/dev/shm"  # noqa: S108
TEXT = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Ends of the classes in which times are counted."""


class Metrics:
    """What this process counts, and all processes together."""

    def __init__(self, folder: Path | None) -> None:
        library = _library()
        self._folder, self._library = folder, library
        self._own = library.CollectorRegistry()
        self.requests = library.Counter(
            "querygate_requests", "Requests by route and status.", ("route", "status"), registry=self._own
        )
        self.seconds = library.Histogram(
            "querygate_request_seconds", "Time of a request.", ("route",), registry=self._own, buckets=SECONDS
        )
        self.steps = library.Histogram(
            "querygate_step_seconds", "Time of a step of an answer.", ("step",), registry=self._own, buckets=SECONDS
        )
        self.refusals = library.Counter("querygate_refusals", "Refusals by code.", ("code",), registry=self._own)
        live = {"registry": self._own, "multiprocess_mode": "livesum"}
        self.running = library.Gauge("querygate_requests_in_progress", "Requests being answered.", **live)
        self.queued = library.Gauge("querygate_requests_queued", "Requests that wait for a thread.", **live)
        self.queue: Callable[[], int] = lambda: 0
        of_step = cache(self.steps.labels)
        self.stop = listen(lambda step, seconds: of_step(step).observe(seconds))

    def text(self, opened: OpenSite) -> bytes:
        """All figures of all processes, and of the site."""
        registry = self._own
        if self._folder is not None:
            from prometheus_client.multiprocess import MultiProcessCollector

            registry = self._library.CollectorRegistry()
            MultiProcessCollector(registry, str(self._folder))  # type: ignore[no-untyped-call]
        site = self._library.CollectorRegistry()
        site.register(SiteFigures(opened))
        found: bytes = self._library.generate_latest(registry) + self._library.generate_latest(site)
        return found

    def ended(self, process: int) -> None:
        """A process has ended: what it was just doing counts no more."""
        if self._folder is not None:
            from prometheus_client.multiprocess import mark_process_dead

            mark_process_dead(process, str(self._folder))  # type: ignore[no-untyped-call]


class SiteFigures:
    """What is known of the site when somebody asks."""

    def __init__(self, opened: OpenSite) -> None:
        self._opened = opened

    def collect(self) -> Iterator[Metric]:
        from prometheus_client.metrics_core import GaugeMetricFamily as Gauge

        opened, log = self._opened, self._opened.log
        entries = log.head().entries
        yield Gauge("querygate_log_entries", "Entries of the log.", entries)
        sizes = Gauge("querygate_bytes", "Bytes on disk, by what is kept.", labels=["what"])
        for what, path in (
            ("control", opened.site.control),
            ("store", opened.site.store),
            ("logs", log.archives.folder),
        ):
            sizes.add_metric([what], _size(path))
        yield sizes
        yield self._audit_lag(Gauge("querygate_audit_lag_entries", "Answers not audited yet.", labels=["dataset"]))
        if opened.site.settings["siem"]:
            waiting = lag(log, opened.site.settings["siem"])
            yield Gauge("querygate_siem_lag_entries", "Entries that have not arrived yet.", waiting)
        marked = mark_file(opened.site)
        if marked.exists():
            age = now().timestamp() - marked.stat().st_mtime
            yield Gauge("querygate_mark_age_seconds", "Since the log was last marked.", max(age, 0.0))
        jobs = Gauge("querygate_jobs", "Jobs for the custodian's side, by state.", labels=["state"])
        for state, number in log.database.rows("SELECT state, count(*) FROM job GROUP BY state"):
            jobs.add_metric([state], number)
        yield jobs
        yield from self._budgets(open_ledger(opened), Gauge)

    def _audit_lag(self, gauge: Metric) -> Metric:
        rows = self._opened.log.database.rows(
            """SELECT watch.dataset, (SELECT count(*) FROM log WHERE seq > watch.seq AND log.dataset = watch.dataset
                                      AND kind = 'query.outcome') FROM watch"""
        )
        for dataset, behind in rows:
            gauge.add_metric([dataset], behind)  # type: ignore[attr-defined]
        return gauge

    def _budgets(self, ledger: Ledger, gauge: type) -> Iterator[Metric]:
        """Of datasets from which something was spent: sums of epsilon, as the ledger has them, and the limit."""
        spent = gauge("querygate_budget_spent_epsilon", "Epsilon spent, by dataset.", labels=["dataset"])
        limit = gauge("querygate_budget_limit_epsilon", "Epsilon that may be spent, by dataset.", labels=["dataset"])
        for dataset in self._opened.store.datasets():
            for one in ledger.spent(dataset):
                if one.scope.kind == "dataset":
                    spent.add_metric([dataset], one.epsilon)
                    limit.add_metric([dataset], one.scope.epsilon)
        yield from (spent, limit)


class Figures:
    """The view: figures for a custodian's key."""

    def __init__(self, opened: OpenSite, metrics: Metrics | None) -> None:
        self._opened, self._metrics = opened, metrics

    def metrics(self, principal: Principal) -> Response:
        if self._metrics is None:
            raise ConfigError("QG804", "This process does not measure itself.", "Use `querygate serve`.")
        return Response(self._metrics.text(self._opened), content_type=TEXT)


@contextmanager
def measured(site: Site) -> Iterator[Metrics]:
    """Figures of this process and of those that it forks, while this lasts; on a port of their own where the settings
    name one. It comes before the library is loaded: that decides then whether processes share what they count."""
    folder = shared_folder(site)
    before = os.environ.get(FOLDER)
    os.environ[FOLDER] = str(folder)
    metrics = Metrics(folder)
    try:
        yield metrics
    finally:
        metrics.stop()
        os.environ.pop(FOLDER) if before is None else os.environ.update({FOLDER: before})
        shutil.rmtree(folder, ignore_errors=True)


def shared_folder(site: Site) -> Path:
    """In memory, where that can be: processes map these files, and who writes to a mapped page for which the disk has
    no room is killed (SIGBUS). Where nothing else can be written, in the site's folder."""
    for place in (MEMORY, None):
        try:
            return Path(tempfile.mkdtemp(prefix="querygate-metrics-", dir=place))
        except OSError:
            continue
    return Path(tempfile.mkdtemp(prefix=".metrics-", dir=site.folder))


@contextmanager
def own_port(opened: OpenSite, metrics: Metrics) -> Iterator[None]:
    """Serve figures on a port of their own, where the settings name one."""
    host, port = opened.site.settings["metrics_host"], opened.site.settings["metrics_port"]
    if not port:
        yield
        return

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = metrics.text(opened) if self.path == "/metrics" else b""
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", TEXT)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Nothing is printed."""

    try:
        server = ThreadingHTTPServer((host, port), Handler)
    except OSError:
        raise ConfigError(
            "QG804", f"Figures cannot be served on {host}, port {port}.", "Choose another `metrics_port`."
        ) from None
    thread = threading.Thread(target=server.serve_forever, name="querygate-metrics", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _library() -> ModuleType:
    import prometheus_client

    return prometheus_client


def _size(path: Path) -> int:
    """Bytes of a file and what its engine keeps beside it, or of all files below a folder."""
    files = path.parent.glob(f"{path.name}*") if path.is_file() else path.rglob("*")
    total = 0
    for file in files:
        try:
            total += file.stat().st_size if file.is_file() else 0
        except OSError:  # it is gone again
            continue
    return total
