"""The worker that `querygate serve` starts beside itself: a process of its own, so that the one that listens has
nothing that could open a vault.

It is started again when it ends, after a pause that grows while it keeps ending at once. It ends with its parent,
however that ends: it looks for it (`--parent`).
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import TracebackType

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 5.0
STEADY_S = 60.0
"""A worker that lived so long had no trouble of its own."""

STOP_S = 30.0

logger = logging.getLogger("querygate")


class WorkerChild:
    """A worker for as long as the block takes. Begin it after every fork: it has a thread."""

    def __init__(self, site: Path) -> None:
        self._command = [sys.executable, "-m", "querygate", "--site", str(site), "work", "--parent", str(os.getpid())]
        self._over = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._watch, name="querygate-worker", daemon=True)

    def __enter__(self) -> WorkerChild:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        process = self._process
        if process is not None:
            process.terminate()
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()  # its leases run out
        self._thread.join(STOP_S)

    def _watch(self) -> None:
        pause_s = FIRST_PAUSE_S
        while not self._over.is_set():
            began_s = time.monotonic()
            # A group of its own: Ctrl-C reaches the parent, which then stops it.
            self._process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, process_group=0)  # noqa: S603
            if self._over.is_set():
                self._process.terminate()
            code = self._process.wait()
            if self._over.is_set():
                return
            pause_s = FIRST_PAUSE_S if time.monotonic() - began_s > STEADY_S else min(pause_s * 2, LONGEST_PAUSE_S)
            logger.warning("the worker ended (%s); it is started again in %.1f s", code, pause_s)
            self._over.wait(pause_s)
