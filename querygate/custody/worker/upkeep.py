"""What a worker does beside its jobs: it sends what waits about extract requests, and forgets old jobs."""

from __future__ import annotations

import logging
import threading
import time
from types import TracebackType

from querygate.custody.jobs.request_notifications import send_waiting
from querygate.site.job_exchange import JobExchange
from querygate.site.open_gate import OpenSite

SEND_S, TROUBLE_S, SWEEP_S = 2.0, 60.0, 3600.0

logger = logging.getLogger("querygate")


class Upkeep:
    """A thread beside the worker's, for as long as the block takes."""

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
            except Exception as error:
                pause_s = TROUBLE_S
                logger.warning("upkeep failed: %s", type(error).__name__)
            self._over.wait(pause_s)
