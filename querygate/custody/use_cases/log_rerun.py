"""The custodian's root for "what if": puts the questions of a log to another version, or to a policy on trial."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from querygate.core.errors import NotPermitted
from querygate.core.ports import PublishedVersion
from querygate.core.progress import Progress, no_progress
from querygate.custody.evidence.rerun import MOST_QUESTIONS, Rerun, read_questions, rerun
from querygate.site.open_gate import OpenSite, now
from querygate_adapters.vault.cell_classes import open_version


@dataclass(frozen=True, slots=True)
class RerunLog:
    """The questions of a log and their outcomes; `left_out` counts older questions that were not asked. On a sample of
    the records, widths are not compared."""

    dataset: str
    days: int
    questions: tuple[Rerun, ...]
    left_out: int
    is_sample: bool


@contextmanager
def version_again(opened: OpenSite, dataset: str, version: int) -> Iterator[PublishedVersion]:
    """A version that can be read, served or not."""
    found = open_version(opened.site.store, dataset, version, memory_mb=opened.site.settings.limits.memory_mb)
    if found is None:
        raise NotPermitted("QG303", "There is no such version.", "Choose one from the list.")
    yield found


def rerun_log(
    opened: OpenSite,
    dataset: str,
    release: PublishedVersion,
    days: int,
    *,
    is_sample: bool = False,
    progress: Progress = no_progress,
) -> RerunLog:
    """The latest questions of the given number of days."""
    asked = read_questions(opened.log.queries(dataset=dataset, since=now() - timedelta(days=days)))
    chosen = asked[-MOST_QUESTIONS:]

    def tell(number: int) -> None:
        progress(f"asking {number + 1} of {len(chosen)}", number / len(chosen))

    found = rerun(chosen, release, opened.gate, widths=not is_sample, asked=tell)
    return RerunLog(dataset, days, tuple(found), len(asked) - len(chosen), is_sample)
