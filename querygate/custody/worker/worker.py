"""The loop of a worker: take a job, keep its lease while working on it, put the result back.

Questions that somebody waits for and long work have separate lanes, so that a build keeps nobody waiting. A job whose
lease was lost goes on until its next step and is then dropped: the exchange accepts results only from the holder. A job
that never reaches its next step (a silent server, a looping library) would block its lane for ever, so the worker
exits, and its supervisor starts another.
"""

from __future__ import annotations

import logging
import math
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from querygate.core.errors import NotPermitted
from querygate.core.jobs import LONG, QUICK, Job, JobKind, JobOutcome
from querygate.core.progress import Progress
from querygate.gate.incidents import make_problem
from querygate.site.job_exchange import cancelled

logger = logging.getLogger("querygate")

TROUBLE_S = 1.0
"""The pause before an unreachable exchange is tried again."""

LONG_AT_ONCE = 1

HANGS = 2
"""After this many times its time limit, a job counts as hanging."""


class Exchange(Protocol):
    """Where jobs are pulled from: the control database of this machine, or a gate elsewhere."""

    def lease(self, worker: str, kinds: Sequence[JobKind]) -> Job | None: ...

    def renew(
        self, worker: str, job_id: str, progress: str | None = None, fraction: float | None = None
    ) -> Job | None: ...

    def give_back(self, worker: str, job_id: str) -> None: ...

    def finish(self, worker: str, job_id: str, outcome: JobOutcome) -> bool: ...


Handler = Callable[[Job, Progress], Mapping[str, Any]]


class GivenBack(Exception):
    """The worker stops, or has lost the job: another worker will do it."""


@dataclass
class _Task:
    """A job in progress. Its thread learns here that it should stop, and reports its progress."""

    job: Job
    until_s: float = math.inf
    hangs_s: float = math.inf
    thread: threading.Thread | None = None
    told: tuple[str | None, float | None] = (None, None)
    is_cancelled: bool = False
    is_given_back: bool = False

    def progress(self, step: str, share: float | None = None, /) -> None:
        self.told = step, share
        if self.is_cancelled:
            raise cancelled()
        if self.is_given_back:
            raise GivenBack
        if time.monotonic() > self.until_s:
            raise NotPermitted(
                "QG305",
                "The job took longer than this site allows and was stopped.",
                "Ask for less at once, or have the setting `job_minutes` raised.",
            )


@dataclass
class _Lane:
    kinds: tuple[JobKind, ...]
    width: int
    tasks: dict[str, _Task] = field(default_factory=dict)


class Worker:
    """One worker. `run` works until it is told to stop; `handlers` say what is done for each kind."""

    def __init__(
        self,
        exchange: Exchange,
        handlers: Mapping[JobKind, Handler],
        *,
        threads: int,
        lease_s: float,
        poll_s: float,
        quick_s: float = math.inf,
        long_s: float = math.inf,
    ) -> None:
        self.name = f"{socket.gethostname()[:40]}-{os.getpid()}-{secrets.token_hex(4)}"
        self._exchange, self._handlers, self._poll_s, self._renew_s = exchange, handlers, poll_s, min(lease_s / 4, 5.0)
        quick, long = (tuple(kind for kind in kinds if kind in handlers) for kinds in (QUICK, LONG))
        self._lanes = (_Lane(quick, threads), _Lane(long, LONG_AT_ONCE))
        self._quick_s, self._long_s = quick_s, long_s
        self._wake, self._lock = threading.Event(), threading.Lock()

    def run(self, is_over: Callable[[], bool], *, grace_s: float = 20.0) -> bool:
        """Work until `is_over`, or until a job hangs; then finish what is quick and give back the rest. False if
        something did not stop."""
        renewed_s = time.monotonic()
        while not is_over() and not self._hung():
            try:
                if time.monotonic() - renewed_s >= self._renew_s:
                    renewed_s = time.monotonic()
                    self._renew()
                if not self._take_up():
                    self._wake.wait(self._poll_s)
                    self._wake.clear()
            except Exception as error:  # the exchange is unreachable, or its disk is full: keep the jobs we have
                logger.warning("the exchange cannot be reached: %s", type(error).__name__)
                time.sleep(TROUBLE_S)
        return self._stop(grace_s)

    def work_off(self) -> int:
        """Do the waiting jobs, one after the other; returns how many there were."""
        done = 0
        for lane in self._lanes:
            while (job := self._exchange.lease(self.name, lane.kinds)) is not None:
                self._work(self._task(job), lane)
                done += 1
        return done

    def _take_up(self) -> bool:
        """Begin one job for each lane that has room; returns whether there was any."""
        found = False
        for lane in self._lanes:
            if len(lane.tasks) < lane.width and (job := self._exchange.lease(self.name, lane.kinds)) is not None:
                found = True
                task = self._task(job)
                task.thread = threading.Thread(target=self._work, args=(task, lane), name=job.id, daemon=True)
                with self._lock:
                    lane.tasks[job.id] = task
                task.thread.start()
        return found

    def _task(self, job: Job) -> _Task:
        """Questions that somebody waits for are stopped by limits of their own."""
        now_s, limit_s = time.monotonic(), self._long_s if job.kind in LONG else self._quick_s
        return _Task(job, now_s + limit_s if job.kind in LONG else math.inf, now_s + HANGS * limit_s)

    def _work(self, task: _Task, lane: _Lane) -> None:
        job = task.job
        try:
            try:
                outcome = JobOutcome(result=self._handlers[job.kind](job, task.progress))
            except GivenBack:
                self._exchange.give_back(self.name, job.id)
                return
            except Exception as error:
                outcome = JobOutcome(problem=make_problem(error))
            if not self._exchange.finish(self.name, job.id, outcome):
                logger.warning("job %s was taken over by another worker", job.id)
        except Exception as error:  # its lease expires, and another worker does it again
            logger.error("job %s could not be put back: %s", job.id, type(error).__name__)
        finally:
            with self._lock:
                lane.tasks.pop(job.id, None)
            self._wake.set()

    def _renew(self) -> None:
        for task in self._tasks():
            step, share = task.told
            held = self._exchange.renew(self.name, task.job.id, step, share)
            task.is_cancelled = held is not None and held.is_cancelling
            task.is_given_back = held is None

    def _stop(self, grace_s: float) -> bool:
        until_s = time.monotonic() + grace_s
        for task in self._tasks():
            task.is_given_back = task.job.kind in LONG
        hung = self._hung()
        for task in self._tasks():
            if task.thread is not None and task not in hung:
                task.thread.join(max(0.0, until_s - time.monotonic()))
        left = self._tasks()
        for task in left:
            if task.job.kind in LONG and task not in hung:  # threads still running hold nothing, and put nothing back
                self._exchange.give_back(self.name, task.job.id)
        for task in hung:  # its lease expires, and counts: a job that hangs three workers is given up
            logger.error("job %s (%s) hangs; this worker ends", task.job.id, task.job.kind)
        return not left

    def _hung(self) -> list[_Task]:
        return [task for task in self._tasks() if time.monotonic() > task.hangs_s]

    def _tasks(self) -> list[_Task]:
        with self._lock:
            return [task for lane in self._lanes for task in lane.tasks.values()]
