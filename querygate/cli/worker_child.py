"""The worker that `querygate serve` starts beside itself: a process of its own, so that the one that listens has
nothing that could open a vault.

It is started again when it ends, after a pause that grows while it keeps ending at once. It ends with its parent,
however that ends: it looks for it (`--parent`).
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from contextlib import suppress
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
        self._pid: int | None = None
        self._thread = threading.Thread(target=self._watch, name="querygate-worker", daemon=True)

    def __enter__(self) -> WorkerChild:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._signal(signal.SIGTERM)
        self._thread.join(STOP_S)
        self._signal(signal.SIGKILL)  # its leases run out
        self._thread.join(STOP_S)

    def _signal(self, number: int) -> None:
        if self._pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, number)

    def _watch(self) -> None:
        pause_s = FIRST_PAUSE_S
        while not self._over.is_set():
            began_s = time.monotonic()
            self._pid = pid = _begin(self._command)
            if self._over.is_set():
                self._signal(signal.SIGTERM)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            self._pid = None
            if self._over.is_set():
                return
            pause_s = FIRST_PAUSE_S if time.monotonic() - began_s > STEADY_S else min(pause_s * 2, LONGEST_PAUSE_S)
            logger.warning("the worker ended (%s); it is started again in %.1f s", code, pause_s)
            self._over.wait(pause_s)


def _begin(command: list[str]) -> int:
    """Not by `subprocess`, which waits until a pipe is closed: a gate that is forked meanwhile would keep it open for
    good. In a group of its own: Ctrl-C reaches the parent, which then stops it."""
    nothing = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
    return os.posix_spawn(command[0], command, os.environ, file_actions=[nothing], setpgroup=0)
