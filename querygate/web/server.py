"""The application behind waitress: until SIGTERM or SIGINT, then a clean stop."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Sequence

from waitress.server import BaseWSGIServer, create_server
from waitress.task import ErrorTask

from querygate.core.errors import ConfigError
from querygate.gate.incidents import make_fault
from querygate.site.extract_requests.extracts import Extracts
from querygate.site.job_exchange import JobExchange
from querygate.site.open_gate import OpenSite
from querygate.site.process_limits import DoorLimits
from querygate.web.app import HEADERS, create_app
from querygate.web.connection_shares import ConnectionShares, HandedConnections
from querygate.web.connections import FairQueue, TimedChannel, keep_moving
from querygate.web.metrics import Metrics
from querygate.web.port_holders import explain_holders
from querygate.web.problems import MEDIA, malformed, too_large
from querygate.web.processes import stopping_on_signals
from querygate.web.traces import traced

READ_ANYWAY_BYTES = 8_000_000
"""Requests up to here are read to their end before they are refused: whoever is cut off hears no refusal."""

BACKLOG = 1024
"""Connections that wait until somebody accepts them."""

WORKER_S = 5.0
"""How long a worker may take to end when the server has been told to stop."""

_TOO_LARGE = 413
_FAULT = 500


class ProblemTask(ErrorTask):  # type: ignore[misc]
    """What the server refuses before the application sees it, in the same shape as every other refusal."""

    def execute(self) -> None:
        refused = self.request.error
        error = too_large() if refused.code == _TOO_LARGE else malformed("The request is not valid HTTP.")
        found = make_fault(RuntimeError(refused.reason)) if refused.code == _FAULT else error
        body = json.dumps({**found.to_dict(), "status": refused.code}).encode()
        self.status = f"{refused.code} {refused.reason}"
        self.response_headers.extend([("Content-Type", MEDIA), ("Cache-Control", "no-store"), *HEADERS.items()])
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


class Channel(TimedChannel):
    error_task_class = ProblemTask


def listen(host: str, port: int) -> list[socket.socket]:
    """Sockets for all addresses of a host; port 0 takes a free one. Raises ConfigError QG804."""
    listening: list[socket.socket] = []
    wanted = (socket.AF_UNSPEC, socket.SOCK_STREAM, socket.IPPROTO_TCP, socket.AI_PASSIVE)
    try:
        for family, _, _, _, address in socket.getaddrinfo(None if host == "*" else host, port, *wanted):
            listening.append(socket.socket(family, socket.SOCK_STREAM))
            if family == socket.AF_INET6:
                listening[-1].setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listening[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening[-1].bind(address)
            listening[-1].listen(BACKLOG)
    except (OSError, UnicodeError):
        for one in listening:
            one.close()
        raise ConfigError(
            "QG804",
            f"The server cannot listen on {host}, port {port}.{explain_holders(port)}",
            "Choose a free port with --port and an address of this machine with --host.",
        ) from None
    return listening


def address_of(listening: Sequence[socket.socket]) -> str:
    """Where the server listens; a host with several addresses is named by the first."""
    host, port = listening[0].getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(
    opened: OpenSite,
    listening: Sequence[socket.socket],
    threads: int,
    extracts: Extracts | None = None,
    exchange: JobExchange | None = None,
    ready: Callable[[], None] = lambda: None,
    metrics: Metrics | None = None,
    counted: DoorLimits | None = None,
    shared: tuple[ConnectionShares, int] | None = None,
) -> None:
    """Serve until told to stop. `ready` is called once requests are taken. `shared` says between whom connections are
    shared, and which of them this process is."""
    listeners: dict[int, object] = {}
    settings = opened.site.settings
    counted = counted or DoorLimits(opened)
    app = create_app(opened, extracts, exchange, metrics, counted)
    sign_in, _ = app.extensions["querygate"]
    server = create_server(
        app,
        map=listeners,
        sockets=list(listening),
        threads=threads,
        ident=None,
        max_request_body_size=_most_bytes(opened),
        # Where a proxy is trusted, client_address.py reads what it says; where none is, nobody says anything.
        clear_untrusted_proxy_headers=not settings["trusted_proxies"],
        connection_limit=settings["max_connections"],
        channel_timeout=settings["idle_s"],
        cleanup_interval=1,
        asyncore_use_poll=True,  # select() knows no more than 1,024 files
    )
    taking: list[BaseWSGIServer] = []
    for listener in listeners.values():
        if isinstance(listener, BaseWSGIServer):
            listener.channel_class = Channel
            keep_moving(listener, settings["max_connections"], settings["request_read_s"], settings["idle_s"])
            taking.append(listener)
    if shared is not None:
        HandedConnections(*shared, taking, listeners)
    server.task_dispatcher.queue = FairQueue(sign_in.lane_of_channel)
    if metrics is not None:
        metrics.queue = lambda: len(server.task_dispatcher.queue)
    workers = [thread for thread in threading.enumerate() if thread.name.startswith("waitress-")]
    try:
        with stopping_on_signals(), traced(app, settings):
            ready()
            server.run()
    except KeyboardInterrupt:  # came before the server had begun
        pass
    finally:
        server.close()
        for worker in workers:
            # The server counts one as ended before it has let go of its database connections; if Python ends in that
            # moment, the process is aborted.
            worker.join(WORKER_S)
        counted.write()


def _most_bytes(opened: OpenSite) -> int:
    """What is read at all; the application then says what is too large for its route."""
    settings = opened.site.settings
    kilobytes: int = max(settings["max_body_kb"], settings["max_result_kb"], settings["upload_mb"] * 1000 + 100)
    return max(READ_ANYWAY_BYTES, kilobytes * 1024 + 1)
