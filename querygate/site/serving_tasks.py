"""What a site does by itself, at intervals, while it serves: mark how far the log has come, send entries to a SIEM,
move old entries into archives and let old archives go.

One process of a site does it at a time. What fails is told in the server's own output and tried again at the next turn.
"""

from __future__ import annotations

import fcntl
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from querygate.control import Segment, discard, load_key, rotate
from querygate.control.log.entry_chain import ChainBroken
from querygate.control.log.head_mark import set_mark
from querygate.control.notifications.webhooks import NotSent
from querygate.core.errors import QueryGateError
from querygate.site.budget_evidence import check_anchored, check_mark_there, mark_file
from querygate.site.log_anchors import anchor
from querygate.site.open_gate import OpenSite
from querygate.site.siem_export import ship

logger = logging.getLogger("querygate")

SHIP_S, RETAIN_S = 10.0, 3600.0
BY_ITSELF = "upkeep"
"""Who rotated and discarded, as the log says."""


@dataclass(frozen=True, slots=True)
class Task:
    """Something to do every so many seconds."""

    name: str
    every_s: float
    run: Callable[[OpenSite], object]


def anchor_log(opened: OpenSite) -> None:
    _, failures = anchor(opened)
    for failure in failures:
        logger.warning("The log's mark was not sent: %s.", failure)


def ship_log(opened: OpenSite) -> int:
    """Send what has not arrived yet."""
    return ship(opened.log, opened.site.settings["siem"], literals=opened.site.settings["siem_literals"])


def retain(opened: OpenSite, *, user: str = BY_ITSELF) -> tuple[list[Segment], list[Segment]]:
    """Keep to the settings: returns the archives that were made, and those that were discarded."""
    rotate_days, discard_days = opened.site.settings["log_rotate_days"], opened.site.settings["log_discard_days"]
    made, gone = [], []
    if rotate_days:
        made = archive_log(opened, rotate_days, user=user)
    if discard_days:
        gone = discard_archives(opened, discard_days, user=user)
    return made, gone


def archive_log(opened: OpenSite, keep_days: int, *, user: str) -> list[Segment]:
    """Archive what is older. What the key signs is the log that was marked; ConfigError QG807 where it is not."""
    with _marked(opened):
        key, shared = load_key(opened.site.folder), bool(opened.site.settings["budgets"])
        return rotate(opened.log, key, timedelta(days=keep_days), user=user, shared=shared)


def discard_archives(opened: OpenSite, keep_days: int, *, user: str) -> list[Segment]:
    """Remove archives that are older. ConfigError QG807 where the log is not the one that was marked."""
    with _marked(opened):
        shared = bool(opened.site.settings["budgets"])
        return discard(opened.log, timedelta(days=keep_days), user=user, shared=shared)


@contextmanager
def _marked(opened: OpenSite) -> Iterator[None]:
    """Held against the mark before, and marked after: what archives said was spent is said again behind them."""
    check_anchored(opened)
    check_mark_there(opened)
    yield
    set_mark(opened.log, mark_file(opened.site))


def tasks_of(opened: OpenSite) -> list[Task]:
    """What the settings want done."""
    settings = opened.site.settings
    tasks = [Task("anchor", settings["anchor_minutes"] * 60.0, anchor_log)] if settings["anchor_minutes"] else []
    tasks += [Task("siem", SHIP_S, ship_log)] if settings["siem"] else []
    tasks += [Task("retain", RETAIN_S, retain)] if settings["log_rotate_days"] or settings["log_discard_days"] else []
    return tasks


class Upkeep(threading.Thread):
    """Does the tasks of a site until it is stopped, and a last time each then."""

    def __init__(self, opened: OpenSite) -> None:
        super().__init__(name="querygate-upkeep", daemon=True)
        self._opened = opened
        self._tasks = tasks_of(opened)
        self._stopping = threading.Event()

    def run(self) -> None:
        due = {task.name: 0.0 for task in self._tasks}
        while self._tasks:
            for task in self._tasks:
                if time.monotonic() >= due[task.name]:
                    self._do(task)
                    due[task.name] = time.monotonic() + task.every_s
            if self._stopping.wait(max(0.0, min(due.values()) - time.monotonic())):
                break
        for task in self._tasks:
            self._do(task)

    def stop(self, patience_s: float = 5.0) -> None:
        self._stopping.set()
        self.join(patience_s)

    def _do(self, task: Task) -> None:
        handle = os.open(self._opened.site.folder / "upkeep.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            task.run(self._opened)
        except BlockingIOError:
            pass  # another process of this site is at it
        except (QueryGateError, ChainBroken, NotSent) as problem:
            logger.warning("upkeep (%s): %s", task.name, problem)
        except Exception as error:
            logger.error("upkeep (%s) failed: %s", task.name, type(error).__name__)
        finally:
            os.close(handle)


@contextmanager
def kept_up(opened: OpenSite) -> Iterator[None]:
    """While this lasts, the site is kept up."""
    upkeep = Upkeep(opened)
    upkeep.start()
    try:
        yield
    finally:
        upkeep.stop()
