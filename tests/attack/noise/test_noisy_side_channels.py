"""What an answer shows beside its noise: how long it took, and whether it came. Neither tells anything of a row.

The target is the only person of 93. The statement costs nothing for anybody else; for the target it is dear if the
secret is true. At any epsilon, however small, time or a refusal would be the secret itself.
"""

from __future__ import annotations

import gc
import re
import shutil
import sys
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from querygate.core.errors import Fault, QueryGateError, Refusal
from querygate.core.limits.deadline import within
from querygate.core.types import QueryOptions
from querygate.custody.noise.noisy_answer import count
from querygate.custody.worker.job_handlers import JobHandlers
from querygate.custody.worker.worker import Worker
from querygate.gate.answer import ask
from querygate.gate.dry_run import check
from querygate.gate.query_state import Gate
from querygate.site.job_exchange import JobExchange
from querygate.site.layout import open_site
from querygate.site.noise_by_job import NoiseByJob
from querygate.site.open_gate import open_gate
from querygate_adapters.store.duckdb_lockdown import connect
from querygate_adapters.vault import noise_rows
from tests.attack.dear_statements import HIGH, LOW, TARGET, Neighbour, dear, make_site
from tests.work import HANG_S

DEAR = dear("abcdefgh")
STATEMENTS = (
    DEAR,
    "SELECT ward, COUNT(*), AVG(sbp) FROM people WHERE age = 93 AND married GROUP BY ward",
    "SELECT SUM(CASE WHEN age = 93 THEN EXP(sbp / 100.0) ELSE 0 END) FROM people WHERE married OR sbp > age + 60",
    "SELECT MEDIAN(sbp), COUNT(DISTINCT sbp) FROM people WHERE age = 93",
)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Neighbour, Neighbour]:
    folder = tmp_path_factory.mktemp("channels")
    return make_site(folder, {TARGET: LOW}), make_site(folder, {TARGET: HIGH})


def seconds(site: Neighbour, sql: str) -> float:
    """The processor's time for counting the rows, at best of three."""
    taken = []
    for _ in range(3):
        state = site.priced(sql)
        began = time.process_time()
        count(state, site.way)
        taken.append(time.process_time() - began)
    return min(taken)


def test_a_secret_costs_no_time(pair: tuple[Neighbour, Neighbour]) -> None:
    """Evaluated on the row, it took a hundred times as long; a factor of five leaves room for a busy machine."""
    low, high = (seconds(site, DEAR) for site in pair)
    assert high < 5 * low + 0.05


def test_a_secret_stops_no_statement(pair: tuple[Neighbour, Neighbour]) -> None:
    """With little time it was a refusal that told the secret, whatever the epsilon. Time is the processor's here."""
    limit, outcomes = 5 * seconds(pair[0], DEAR) + 0.05, []
    for site in pair:
        state = site.priced(DEAR)
        try:
            with within(time.process_time, limit):
                count(state, site.way)
            outcomes.append("counted")
        except Refusal as refusal:
            outcomes.append(refusal.code)
    assert outcomes == ["counted", "counted"]


def test_how_many_there_are_fails_no_quantile(tmp_path: Path) -> None:
    """A share with many decimals failed from one number of rows on: a fault told it exactly."""
    outcomes = []
    for rows in (461, 462):
        site = make_site(tmp_path, {TARGET: LOW}, rows)
        try:
            ask(site.request("SELECT QUANTILE_CONT(sbp, 0.1234567890123457) FROM people"), site.opened.gate)
            outcomes.append("answered")
        except Fault:
            outcomes.append("failed")
    assert outcomes == ["answered", "answered"]


# -- why: the same is done for every row ---------------------------------------------------------------------------


def work(site: Neighbour, sql: str) -> Counter[str]:
    """Every call that counting makes, of Python's functions and of those below it."""
    state, calls = site.priced(sql), Counter[str]()
    count(state, site.way)

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "c_call":
            calls[str(getattr(argument, "__name__", argument))] += 1
        elif event == "call":
            calls[frame.f_code.co_qualname] += 1

    gc.disable()  # its callbacks, of whoever wants to be told, are no work of ours
    sys.setprofile(note)
    try:
        count(state, site.way)
    finally:
        sys.setprofile(None)
        gc.enable()
    return calls


@pytest.mark.parametrize("sql", STATEMENTS, ids=range(len(STATEMENTS)))
def test_the_same_is_done_whatever_the_rows_hold(sql: str, pair: tuple[Neighbour, Neighbour]) -> None:
    low, high = (work(site, sql) for site in pair)
    assert sum(low.values()) > 20
    assert low == high


def test_the_vault_is_asked_for_whole_columns_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No word of a statement reaches the raw rows."""
    asked: list[str] = []

    class Listening:
        def __init__(self, database: Any) -> None:
            self._database = database

        def __getattr__(self, name: str) -> Any:
            found = getattr(self._database, name)
            if name not in ("sql", "execute"):
                return found

            def passed_on(text: str) -> Any:
                asked.append(text)
                return found(text)

            return passed_on

        def __enter__(self) -> Listening:
            return self

        def __exit__(self, *_: object) -> None:
            self._database.close()

    monkeypatch.setattr(noise_rows, "connect", lambda *args, **more: Listening(connect(*args, **more)))
    site = make_site(tmp_path, {TARGET: LOW})
    for sql in STATEMENTS:
        count(site.priced(sql), site.way)
    assert len(asked) == 5  # how many rows, and each of four columns once
    assert all(re.fullmatch(r"SELECT (count\(\*\)|\"\w+\" AS x) FROM rows", text) for text in asked)


# -- what leaves: when, and at what price --------------------------------------------------------------------------


class Clock:
    """A clock that goes on a little whenever it is looked at, and while somebody waits."""

    def __init__(self) -> None:
        self.now, self.waits = 100.0, list[float]()

    def __call__(self) -> float:
        self.now += 0.0007
        return self.now

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def ticking(site: Neighbour, clock: Clock, *, vault: Path | None = None) -> Gate:
    noise = replace(site.way.noise, tick_s=0.25, wait=clock.wait)
    if vault is not None:
        noise = replace(noise, rows=noise_rows.VaultColumns(vault, memory_mb=64))
    return replace(site.opened.gate, noise=noise, clock_s=clock)


def test_answers_and_refusals_leave_at_ticks(tmp_path: Path) -> None:
    site, clock = make_site(tmp_path, {TARGET: LOW}), Clock()
    began = clock.now
    body = ask(site.request("SELECT COUNT(*) FROM people"), ticking(site, clock))
    assert "elapsed_ms" not in body
    assert len(clock.waits) == 1
    assert (clock.now - began) % 0.25 < 0.002  # the first looks at the clock were the start
    for gate, sql in (
        (ticking(site, clock, vault=tmp_path / "gone"), "SELECT COUNT(*) FROM people WHERE age > 30"),
        (ticking(site, clock), "SELECT MAX(sbp) FROM people"),
    ):
        began = clock.now
        with pytest.raises(Refusal):
            ask(site.request(sql), gate)
        assert (clock.now - began) % 0.25 < 0.002
    assert len(clock.waits) == 3


def test_what_a_worker_does_leaves_at_ticks_too(tmp_path: Path) -> None:
    """As behind HTTP: the gate puts a job, a real worker does it in its own time, and the gate's clock has a say alone.
    The same holds for what is refused: by the statement, by the budget, and by a vault that cannot be read."""
    site, clock, over = make_site(tmp_path, {TARGET: HIGH}), Clock(), threading.Event()
    opened = open_gate(open_site(site.opened.site.folder))
    worker = Worker(JobExchange(opened), JobHandlers(opened).table(), threads=1, lease_s=HANG_S, poll_s=0.01)
    thread = threading.Thread(target=worker.run, args=(over.is_set,))
    thread.start()
    noise = NoiseByJob(opened, JobExchange(opened), clock.wait)
    noise._tick_s = 0.25
    gate, told = replace(opened.gate, noise=noise, clock_s=clock), []
    try:
        for sql, epsilon in (
            (DEAR, 1.0),
            ("SELECT MAX(sbp) FROM people", 1.0),
            ("SELECT COUNT(*) FROM people WHERE age > 30", 100.0),
            ("SELECT COUNT(*) FROM people WHERE age > 31", 1.0),
        ):
            if sql.endswith("31"):
                shutil.rmtree(opened.site.vault / "people")
            began = clock.now
            try:
                ask(replace(site.request(sql), options=QueryOptions("laplace", epsilon=epsilon)), gate)
                told.append("answered")
            except QueryGateError as error:
                told.append(error.code)
            assert (clock.now - began) % 0.25 < 0.01, sql
    finally:
        over.set()
        thread.join()
    assert told[0] == "answered"
    assert "answered" not in told[1:]
    assert len(clock.waits) == 4


def test_what_is_nearly_free_is_refused_before_anything_is_spent(tmp_path: Path) -> None:
    site = make_site(tmp_path, {TARGET: LOW})
    request = site.request("SELECT COUNT(*) FROM people WHERE age = 93")
    cheap = replace(request, options=QueryOptions("laplace", epsilon=1e-9))
    for front_door in (ask, check):
        with pytest.raises(Refusal) as refused:
            front_door(cheap, site.opened.gate)
        assert (refused.value.code, refused.value.detail) == (
            "QG306",
            "epsilon must be at least 0.001 and at most 100.",
        )
    told = check(request, site.opened.gate)
    assert told["cost"]["epsilon_least"] == 0.001
    assert told["budget"]["user"] == 100.0
