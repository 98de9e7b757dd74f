"""What a worker does besides its jobs: it sends waiting notices about extract requests, and removes old jobs and
uploads."""

from __future__ import annotations

import logging
import threading
import time
from types import TracebackType

from querygate.custody.use_cases.request_notifications import send_waiting
from querygate.site.job_exchange import JobExchange
from querygate.site.open_gate import OpenSite
from querygate.site.publication_sources import REMOVED, is_upload

SEND_S, TROUBLE_S, SWEEP_S = 2.0, 60.0, 3600.0

logger = logging.getLogger("querygate")


def sweep_uploads(opened: OpenSite) -> int:
    """Remove tables that were uploaded and not published for as long as jobs are kept, on record; how many there were.
    Other files stay."""
    oldest_s = time.time() - opened.site.settings["job_days"] * 86_400
    folder, removed = opened.site.dropped, 0
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if is_upload(path.name) and path.lstat().st_mtime < oldest_s:
            path.unlink()
            opened.log.note(REMOVED, user=None, body={"id": path.name})
            removed += 1
    return removed


class Upkeep:
    """A thread beside the worker's, for the duration of the block."""

    def __init__(self, opened: OpenSite, exchange: JobExchange) -> None:
        self._opened, self._exchange = opened, exchange
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="upkeep", daemon=True)

    def __enter__(self) -> Upkeep:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._thread.join(SEND_S)

    def _run(self) -> None:
        swept_s = -SWEEP_S
        while not self._over.is_set():
            pause_s = SEND_S
            try:
                for channel, waiting, why in send_waiting(self._opened):
                    pause_s = TROUBLE_S
                    logger.warning("%s: %s. Still to be sent: %s.", channel, why, waiting)
                if time.monotonic() - swept_s >= SWEEP_S:
                    swept_s = time.monotonic()
                    self._exchange.sweep()
                    sweep_uploads(self._opened)
            except Exception as error:
                pause_s = TROUBLE_S
                logger.warning("upkeep failed: %s", type(error).__name__)
            self._over.wait(pause_s)
