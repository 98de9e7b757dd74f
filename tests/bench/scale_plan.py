"""How far it scales, on paper: cells of up to 10^9 rows, and 10^4 researchers at several gates.

Cells: the people of the scale benchmark have known chances, so that how many of each combination of quasi-identifiers
there are follows for any number of rows. While combinations are rare, a class has as many records as are measured; once
one has enough for a class of its own, there is no finer class. The file `tests/bench/scale.py` measures the same up to
a hundred million rows.

Researchers: a simulation of people who ask, wait, read and think, and ask again. A gate works on as many questions at a
time as it has processors, for as long as questions are measured to take here; every question is put into the one log
twice, before and after. The log takes one writer at a time, for as long as an entry is measured to take, and for a few
round trips more where gates on several machines share it on a server; what is written is put on disk meanwhile, and who
asked waits for that too. The simulation is held against Erlang's formula where that is known to be right.

    SCALE_PLAN_THINK_S=60     seconds between an answer and the next question of the same person, on average
    SCALE_PLAN_SYNC_S=0.002   seconds until an entry of the log is on disk
    SCALE_PLAN_TRIPS_S=0.001  seconds of round trips for an entry of a log on a server
"""

from __future__ import annotations

import heapq
import math
import os
import random
import tempfile
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from querygate.core.types import Floats, Principal, Request
from querygate.custody.policy import load_policy
from querygate.custody.use_cases.publish_version import publish_to
from querygate.demo import HERE
from querygate.gate.answer import answer
from querygate.site.layout import init_site
from querygate.site.open_gate import open_gate
from tests.http_load import distinct_statements
from tests.report import row

Then: TypeAlias = Callable[[float], None]
"""What happens at a time."""

THINK_S = float(os.environ.get("SCALE_PLAN_THINK_S", "60"))
SYNC_S = float(os.environ.get("SCALE_PLAN_SYNC_S", "0.002"))
TRIPS_S = float(os.environ.get("SCALE_PLAN_TRIPS_S", "0.001"))
PROCESSORS = 2
QUESTIONS, ENTRIES = 200, 500
RESEARCHERS, GATES = (100, 1_000, 10_000), (1, 2, 4)
LASTS_S, WARM_S = 400.0, 100.0

PER_CLASS = 6.5
"""Records of a class as long as combinations are rare: measured with a million rows and k = 5."""

BINS = 8
ROWS = (1_000_000, 3_000_000, 10_000_000, 100_000_000, 1_000_000_000)


def run() -> list[dict[str, Any]]:
    return [*_cells(), *_researchers()]


# -- cells -----------------------------------------------------------------------------------------------------------


def _cells() -> list[dict[str, Any]]:
    """Classes and cells of so many people with 19.2 million possible combinations."""
    chances = np.outer(_product_of_two(1000), _product_of_two(6)).ravel() / (100 * 2 * 16)
    rows = []
    for number in ROWS:
        expected = number * chances  # records of a combination; each of these stands for 3,200 alike
        share = np.minimum(expected / PER_CLASS, 1.0)  # of a class that it has to itself
        members = np.maximum(expected, PER_CLASS)
        bins = BINS * (1 - (1 - 1 / BINS) ** members)
        name = f"scale plan: {number:,} rows"
        rows.append(row(f"{name}, classes", round(3200 * float(share.sum())), "", "computed"))
        rows.append(row(f"{name}, cells", round(3200 * float((share * bins).sum())), "", "computed"))
    return rows


def _product_of_two(steps: int) -> Floats:
    """The chances of floor(steps * u * v), u and v uniform: P(u v <= x) = x - x ln x."""
    ends = np.arange(1, steps + 1) / steps
    return np.diff(ends - ends * np.log(ends), prepend=0.0)


# -- researchers -----------------------------------------------------------------------------------------------------


def _researchers() -> list[dict[str, Any]]:
    took, entry_s = _measured_s()
    mean = sum(took) / len(took)
    rows = [row("scale plan: processor time of a question", 1000 * mean, "ms", f"{len(took)} distinct grouped means")]
    rows.append(row("scale plan: processor time of an entry of the log", 1000 * entry_s, "ms", f"{ENTRIES} entries"))
    rows.append(_beside_erlang(mean))
    for people in RESEARCHERS:
        for gates in GATES:
            trips_s = TRIPS_S if gates > 1 else 0.0
            pace = Pace(lambda chance: chance.choice(took), entry_s + trips_s, SYNC_S)
            found = Simulation(people, gates, pace).run()
            name = f"scale plan: {people:,} researchers, {gates} gates"
            busy = f"{found.busy:.0%} of gates and {found.log_busy:.0%} of the log busy"
            rows.append(row(f"{name}, answered", found.per_s, "per s", busy))
            rows.append(row(f"{name}, p50", 1000 * found.share(0.5), "ms"))
            rows.append(row(f"{name}, p99", 1000 * found.share(0.99), "ms"))
    return rows


def _measured_s() -> tuple[list[float], float]:
    """Processor seconds of distinct questions to the demo study, each new to the gate; and of an entry of the log."""
    with tempfile.TemporaryDirectory() as folder:
        opened = open_gate(init_site(Path(folder) / "site"))
        publish_to(opened, load_policy(HERE / "survey.toml"), str(HERE / "survey.csv"), user="bench")
        found = []
        for statement in islice(distinct_statements(0), QUESTIONS):
            began = time.process_time()
            answer(Request(Principal("bench", "researcher"), "survey", statement), opened.gate)
            found.append(time.process_time() - began)
        began = time.process_time()
        for _ in range(ENTRIES):
            opened.log.note("bench", user="bench")
        entry_s = (time.process_time() - began) / ENTRIES
        opened.log.database.close()
    return found[QUESTIONS // 10 :], entry_s  # the first ones load what all need


@dataclass
class Waits:
    """How long people waited, and how busy everything was."""

    lasted_s: float
    waits: list[float] = field(default_factory=list)
    busy: float = 0.0
    log_busy: float = 0.0

    @property
    def per_s(self) -> float:
        return len(self.waits) / self.lasted_s

    def share(self, part: float) -> float:
        return sorted(self.waits)[min(len(self.waits) - 1, int(part * len(self.waits)))]


class Station:
    """Servers with one queue: a gate with its processors, or the log with its one writer."""

    def __init__(self, servers: int) -> None:
        self.servers, self.working, self.worked_s = servers, 0, 0.0
        self.queue: deque[tuple[float, Then]] = deque()

    @property
    def load(self) -> int:
        return self.working + len(self.queue)


@dataclass(frozen=True)
class Pace:
    """How long everything takes: a question at a gate, an entry of the log, until it is on disk, and to think."""

    question_s: Callable[[random.Random], float]
    entry_s: float
    sync_s: float
    think_s: float = THINK_S


class Simulation:
    """People who ask, wait and think: through the log, a gate and the log again. A question goes to the gate that has
    fewest.
    """

    def __init__(self, people: int, gates: int, pace: Pace) -> None:
        self.pace, self.chance, self.found = pace, random.Random(1), Waits(LASTS_S - WARM_S)
        self.log, self.gates = Station(1), [Station(PROCESSORS) for _ in range(gates)]
        self.events: list[tuple[float, int, Then]] = []
        self.numbers = count()
        for _ in range(people):
            self.think(0.0)

    def run(self) -> Waits:
        while self.events and self.events[0][0] < LASTS_S:
            now, _, do = heapq.heappop(self.events)
            do(now)
        worked_s = sum(gate.worked_s for gate in self.gates)
        self.found.busy = worked_s / (self.found.lasted_s * len(self.gates) * PROCESSORS)
        self.found.log_busy = self.log.worked_s / self.found.lasted_s
        return self.found

    def at(self, time_s: float, do: Then) -> None:
        heapq.heappush(self.events, (time_s, next(self.numbers), do))

    def think(self, now: float) -> None:
        self.at(now + self.chance.expovariate(1 / self.pace.think_s), self.ask)

    def ask(self, now: float) -> None:
        def answered(end: float) -> None:
            if now > WARM_S:
                self.found.waits.append(end - now)
            self.think(end)

        def work(begin: float) -> None:
            gate = min(self.gates, key=lambda one: one.load)
            self.serve(gate, begin, self.pace.question_s(self.chance), lambda end: self.note(end, answered))

        self.note(now, work)

    def note(self, now: float, then: Then) -> None:
        self.serve(self.log, now, self.pace.entry_s, lambda written: self.at(written + self.pace.sync_s, then))

    def serve(self, station: Station, now: float, lasts_s: float, then: Then) -> None:
        if station.working >= station.servers:
            station.queue.append((lasts_s, then))
            return
        station.working += 1
        station.worked_s += lasts_s if now > WARM_S else 0.0

        def done(end: float) -> None:
            station.working -= 1
            if station.queue:
                self.serve(station, end, *station.queue.popleft())
            then(end)

        self.at(now + lasts_s, done)


def _beside_erlang(mean_s: float) -> dict[str, Any]:
    """Very many people who seldom ask are a Poisson stream: one gate, exponential times, three quarters busy."""
    rate, people = 0.75 * PROCESSORS / mean_s, 40_000
    pace = Pace(lambda chance: chance.expovariate(1 / mean_s), 0.0, 0.0, think_s=people / rate)
    found = Simulation(people, 1, pace).run()
    wait = sum(found.waits) / len(found.waits)
    ratio = wait / erlang_s(rate, mean_s, PROCESSORS)
    return row("scale plan: simulated waits", 1000 * wait, "ms", "Erlang's formula = 1", ratio=ratio,
               met=abs(ratio - 1) < 0.05)  # fmt: skip


def erlang_s(per_s: float, mean_s: float, servers: int) -> float:
    """Mean time from question to answer (M/M/c).

    >>> round(erlang_s(50.0, 0.01, 1), 4)
    0.02
    """
    offered = per_s * mean_s
    terms = [offered**n / math.factorial(n) for n in range(servers)]
    last = offered**servers / math.factorial(servers) * servers / (servers - offered)
    waits = last / (sum(terms) + last)
    return mean_s + waits / (servers / mean_s - per_s)
