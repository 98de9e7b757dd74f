"""Pieces of work in forked processes: all of them come back, whoever dies, and nothing is left behind."""

from __future__ import annotations

import gc
import os
import signal

import numpy as np
import pytest

from querygate.methods.anonymise import mondrian
from querygate.methods.anonymise.parallel import alone, side_by_side
from tests.unit.methods.anonymise.tables import random_table


def children() -> list[str]:
    with open(f"/proc/self/task/{os.getpid()}/children") as listed:
        return listed.read().split()


@pytest.fixture(autouse=True)
def nobody_is_left(monkeypatch):
    """Two processors, and at the end no process that was not there before: other tests may have servers running."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1})
    before = children()
    yield
    assert children() == before


def test_every_piece_comes_back():
    ours = os.getpid()
    found = list(side_by_side(lambda piece: (piece, np.arange(piece), os.getpid()), 50))
    assert sorted(piece for piece, _, _ in found) == list(range(50))
    assert all(figures.size == piece for piece, figures, _ in found)
    assert ours not in {worker for _, _, worker in found}


def test_whoever_works_alone_forks_nobody():
    with alone():
        assert set(side_by_side(lambda piece: os.getpid(), 50)) == {os.getpid()}
    assert os.getpid() not in set(side_by_side(lambda piece: os.getpid(), 50))


@pytest.mark.parametrize("end", [lambda: os._exit(3), lambda: os.kill(os.getpid(), signal.SIGKILL)])
def test_what_the_dead_left_is_done_here(end):
    ours = os.getpid()

    def work(piece: int) -> int:
        if os.getpid() != ours and piece % 5 == 2:
            end()
        return piece

    assert sorted(side_by_side(work, 20)) == list(range(20))


@pytest.mark.parametrize("allowed", [0, 1])
def test_it_is_done_here_where_no_more_processes_are_allowed(monkeypatch, allowed):
    fork, forked = os.fork, []

    def refused() -> int:
        if len(forked) == allowed:
            raise BlockingIOError("resource temporarily unavailable")
        forked.append(1)
        return fork()

    monkeypatch.setattr(os, "fork", refused)
    assert sorted(side_by_side(lambda piece: piece, 20)) == list(range(20))


def test_a_fault_is_a_fault():
    def work(piece: int) -> float:
        return 1 / (piece - 3)

    with pytest.raises(ZeroDivisionError):
        list(side_by_side(work, 6))


def test_stopping_early_leaves_nobody():
    results = side_by_side(lambda piece: piece, 40)
    assert next(results) in range(40)
    results.close()


def test_files_are_not_held(tmp_path):
    """A lock on an inherited file would outlive its holder."""
    with (tmp_path / "lock").open("w") as held:

        def is_open(piece: int) -> bool:
            try:
                os.fstat(held.fileno())
            except OSError:
                return False
            return True

        assert list(side_by_side(is_open, 4)) == [False] * 4
        assert is_open(0)


@pytest.mark.parametrize("seed", range(3))
def test_classes_do_not_depend_on_it(monkeypatch, seed):
    table = random_table(seed, rows=5_000)
    alone = mondrian(table, 3)
    for name, few in (("MANY", 20), ("GROUP", 30), ("SMALL", 10), ("LARGE", 50)):
        monkeypatch.setitem(mondrian.__globals__, name, few)
    assert np.array_equal(mondrian(table, 3), alone)


def test_a_child_never_collects_what_belongs_to_the_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even in the steps that Python takes after a fork, where closing another's connection ends the process."""
    collected, fork = [], os.fork

    def seen() -> int:
        collected.append(gc.isenabled())
        return fork()

    monkeypatch.setattr(os, "fork", seen)
    assert sorted(side_by_side(lambda piece: piece, 3)) == [0, 1, 2]
    assert collected == [False, False]
    assert gc.isenabled()
