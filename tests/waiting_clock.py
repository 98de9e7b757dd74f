"""A gate that waits for workers by a clock of its own, so that it gives up by waiting alone and not because the machine
is busy."""

from __future__ import annotations

from dataclasses import replace

from querygate.site.open_gate import OpenSite
from querygate.site.open_jobs import GateWithJobs, with_jobs


class WaitingClock:
    """It goes on only while somebody waits by it."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s

    def wait(self, seconds: float) -> None:
        self.now_s += seconds


def hasty_jobs(opened: OpenSite, wait_s: float, clock: WaitingClock) -> GateWithJobs:
    """The site with jobs, at a gate that waits so long for a worker before it calls an answer a job."""
    gate = replace(opened.gate, clock_s=clock, limits=replace(opened.gate.limits, timeout_s=wait_s))
    joined = with_jobs(replace(opened, gate=gate))
    joined.exchange._pause = clock.wait
    return joined
