"""Turns of computing: one at a time, first come first served, given up by whoever waits or takes long."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from querygate.core.limits.turn import Turn, pass_turn, turn_given_up
from tests.work import HANG_S


def started(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def until_waiting(turn: Turn, number: int) -> None:
    pause = threading.Event()
    while turn.waiting < number:
        pause.wait(0.001)


def test_they_come_in_the_order_in_which_they_waited() -> None:
    turn, said = Turn(lambda: 0.0), []

    def work(number: int) -> None:
        with turn.taken():
            said.append(number)

    threads = []
    with turn.taken():
        for number in range(5):
            threads.append(started(lambda number=number: work(number)))  # type: ignore[misc]
            until_waiting(turn, number + 1)
        assert said == []
    for thread in threads:
        thread.join(HANG_S)

    assert said == [0, 1, 2, 3, 4]


def test_only_one_computes() -> None:
    turn, inside, most = Turn(lambda: 0.0), [0], [0]

    def work() -> None:
        for _ in range(50):
            with turn.taken():
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                inside[0] -= 1
                with turn_given_up():
                    pass
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                inside[0] -= 1

    threads = [started(work) for _ in range(6)]
    for thread in threads:
        thread.join(HANG_S)

    assert most == [1]
    assert turn.waiting == 0


def test_whoever_waits_lets_others_compute() -> None:
    turn, done = Turn(lambda: 0.0), threading.Event()

    def work() -> None:
        with turn.taken():
            done.set()

    with turn.taken(), turn_given_up():
        started(work)
        assert done.wait(HANG_S)


def test_whoever_computes_for_long_lets_others_go_first() -> None:
    now = [0.0]
    turn, said = Turn(lambda: now[0], slice_s=1.0), []

    def work() -> None:
        with turn.taken():
            said.append("short")

    with turn.taken():
        other = started(work)
        until_waiting(turn, 1)
        pass_turn()
        said.append("long, begun")
        now[0] = 2.0
        pass_turn()
        said.append("long, ended")
    other.join(HANG_S)

    assert said == ["long, begun", "short", "long, ended"]


def test_whoever_has_it_goes_on() -> None:
    turn = Turn(lambda: 0.0)
    with turn.taken(), turn.taken():
        assert turn.waiting == 0


def test_it_is_free_again_after_an_error() -> None:
    turn = Turn(lambda: 0.0)
    with pytest.raises(ZeroDivisionError), turn.taken(), turn_given_up():
        raise ZeroDivisionError
    with turn.taken():
        pass


def test_without_a_turn_nothing_happens() -> None:
    pass_turn()
    with turn_given_up():
        pass
