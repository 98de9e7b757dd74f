"""An application behind waitress, in a thread of the test's process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from waitress import wasyncore
from waitress.server import create_server

from tests.work import HANG_S


@contextmanager
def waitress(app: Any, threads: int) -> Iterator[str]:
    """Its address. In the end its connections are closed too: a browser would keep them, and the server with them."""
    server = create_server(app, host="127.0.0.1", port=0, threads=threads)
    running = threading.Thread(target=server.run, daemon=True)
    running.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        server.trigger.pull_trigger(lambda: wasyncore.close_all(server._map))
        running.join(HANG_S)
        server.task_dispatcher.shutdown()
        assert not running.is_alive()
