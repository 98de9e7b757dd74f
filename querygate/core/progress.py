"""What a long job says while it runs."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Told what is being done, and what share of the whole job is behind it, where that is known."""

    def __call__(self, step: str, share: float | None = None, /) -> None: ...


def no_progress(step: str, share: float | None = None, /) -> None:
    """The progress of a job that nobody watches."""
