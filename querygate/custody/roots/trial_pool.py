"""Versions on trial in several processes, one for each processor.

The records are handed over as they are in memory. Processes are started anew and not forked: each opens databases of
its own. Where none can be started, or one dies, the work is done here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa

from querygate.custody.roots.trial_version import published_on_trial
from querygate.custody.workload.policy_cost import Answered, OnTrial, Trial
from querygate.methods.anonymise.parallel import work_alone
from querygate_adapters.sources.sampled_source import SampledSource

MOST_PROCESSES = 8
SMALL = 500
"""With fewer records a process takes longer to start than all of the work."""


class HandedOver:
    """Records as a source: the columns that were read, of those that there are."""

    def __init__(self, columns: tuple[str, ...], table: pa.Table) -> None:
        self._columns, self._table = columns, table

    def columns(self) -> tuple[str, ...]:
        return self._columns

    def batches(self, columns: Sequence[str]) -> pa.RecordBatchReader:
        return self._table.select(list(columns)).to_reader()

    def reading(self) -> AbstractContextManager[None]:
        return nullcontext()


_on_trial: OnTrial  # of a process that does the work


def _begin(columns: tuple[str, ...], table: pa.Table, folder: Path) -> None:
    global _on_trial
    work_alone()
    _on_trial = partial(published_on_trial, source=HandedOver(columns, table), base_dir=folder)


def _answered(trial: Trial) -> Answered:
    return trial.answered(_on_trial)


def _ready() -> None:
    """For a process that is to be there before there is work."""


class TrialPool:
    """Answers trials about the records of a source, as long as it is open. `columns` are those that any of them reads,
    beside what was read before.
    """

    def __init__(self, source: SampledSource, columns: Sequence[str], folder: Path) -> None:
        self._source, self._columns, self._folder = source, columns, folder
        self._executor: ProcessPoolExecutor | None = None

    def start(self) -> None:
        """Have processes ready; they take a second to start."""
        number = min(MOST_PROCESSES, len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1)
        if self._source.used < SMALL or number < 2 or self._executor is not None:
            return
        given = self._source.columns(), self._source.table(self._columns), self._folder
        self._executor = ProcessPoolExecutor(number, get_context("spawn"), _begin, given)
        for _ in range(number):
            self._executor.submit(_ready)

    def __call__(self, trials: Sequence[Trial]) -> Iterator[tuple[int, Answered]]:
        on_trial = partial(published_on_trial, source=self._source, base_dir=self._folder)
        left = dict(enumerate(trials))
        for place, answer in self._from_others(trials):
            del left[place]
            yield place, answer
        for place, trial in left.items():
            yield place, trial.answered(on_trial)

    def _from_others(self, trials: Sequence[Trial]) -> Iterator[tuple[int, Answered]]:
        self.start()
        if self._executor is None:
            return
        try:
            places: dict[Future[Answered], int] = {
                self._executor.submit(_answered, trial): place for place, trial in enumerate(trials)
            }
            for done in as_completed(places):
                yield places[done], done.result()
        except BrokenProcessPool:
            return

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
