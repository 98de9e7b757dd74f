"""Progress messages of a long job."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Receives what is being done, and the finished share of the job if known."""

    def __call__(self, step: str, share: float | None = None, /) -> None: ...


def no_progress(step: str, share: float | None = None, /) -> None:
    """Progress that nobody watches."""
