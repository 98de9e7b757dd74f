"""One deadline for a whole request, checked wherever a step may take long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from querygate.core.errors import NotPermitted


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on a clock."""

    clock_s: Callable[[], float]
    at_s: float

    def check(self) -> None:
        """Stop a statement that has had its time; NotPermitted QG305."""
        if self.clock_s() > self.at_s:
            raise NotPermitted(
                "QG305",
                "The statement exceeded the limit of time or memory and was stopped.",
                "Ask for fewer groups or fewer columns at once.",
            )
