"""The application behind waitress: until SIGTERM or SIGINT, then a clean stop."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from flask import Flask
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.server import BaseWSGIServer, create_server
from waitress.task import ErrorTask

from querygate.core.errors import ConfigError
from querygate.gate.incidents import make_fault
from querygate.site.extracts import Extracts
from querygate.site.job_desk import JobDesk
from querygate.site.open_gate import OpenSite
from querygate.web.app import HEADERS, create_app
from querygate.web.metrics import Metrics
from querygate.web.problems import MEDIA, malformed, too_large

READ_ANYWAY_BYTES = 8_000_000
"""Requests up to here are read to their end before they are refused: whoever is cut off hears no refusal."""

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


class Channel(HTTPChannel):  # type: ignore[misc]
    error_task_class = ProblemTask


def serve(
    opened: OpenSite,
    host: str,
    port: int,
    threads: int,
    extracts: Extracts | None = None,
    desk: JobDesk | None = None,
    ready: Callable[[str], None] = lambda address: None,
    metrics: Metrics | None = None,
) -> None:
    """Serve until told to stop. `ready` is called with the address once requests are taken; port 0 takes a free one."""
    server = _listen(create_app(opened, extracts, desk, metrics), opened, host, port, threads)
    if metrics is not None:
        metrics.queue = lambda: len(server.task_dispatcher.queue)
    workers = [thread for thread in threading.enumerate() if thread.name.startswith("waitress-")]
    try:
        with _stopping_on_signals():
            ready(_address(server))
            server.run()
    except KeyboardInterrupt:  # came before the server had begun
        pass
    finally:
        server.close()
        for worker in workers:
            # The server counts one as ended before it has let go of its database connections; if Python ends in that
            # moment, the process is aborted.
            worker.join(WORKER_S)


def _listen(app: Flask, opened: OpenSite, host: str, port: int, threads: int) -> Any:
    listeners: dict[int, Any] = {}
    try:
        server = create_server(
            app,
            map=listeners,
            host=host,
            port=port,
            threads=threads,
            ident=None,
            max_request_body_size=_most_bytes(opened),
            clear_untrusted_proxy_headers=True,
        )
    except (OSError, ValueError):
        wasyncore.close_all(listeners)
        raise ConfigError(
            "QG804",
            f"The server cannot listen on {host}, port {port}.",
            "Choose a free port with --port and an address of this machine with --host.",
        ) from None
    for listener in listeners.values():
        if isinstance(listener, BaseWSGIServer):
            listener.channel_class = Channel
    return server


def _most_bytes(opened: OpenSite) -> int:
    """What is read at all; the application then says what is too large for its route."""
    kilobytes: int = max(opened.site.settings["max_body_kb"], opened.site.settings["max_result_kb"])
    return max(READ_ANYWAY_BYTES, kilobytes * 1024 + 1)


def _address(server: Any) -> str:
    """Where the server listens; a host with several addresses is named by the first."""
    listening = getattr(server, "effective_listen", None) or [(server.effective_host, server.effective_port)]
    host, port = listening[0]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextmanager
def _stopping_on_signals() -> Iterator[None]:
    """SIGTERM stops as Ctrl-C does. Only the main thread of a process may listen to signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
