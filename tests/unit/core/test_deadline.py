from __future__ import annotations

import pytest

from querygate.core.errors import NotPermitted
from querygate.core.limits.deadline import check_deadline, seconds_left, within


class Clock:
    def __init__(self) -> None:
        self.at_s = 100.0

    def __call__(self) -> float:
        return self.at_s


def test_outside_a_request_there_is_no_deadline() -> None:
    check_deadline()
    assert seconds_left(7.0) == 7.0


def test_all_that_is_inside_uses_up_the_same_time() -> None:
    clock = Clock()
    with within(clock, 10.0):
        clock.at_s += 6.0
        assert seconds_left(2.0) == 2.0
        with within(clock, 10.0):  # a statement of many
            assert seconds_left(7.0) == 4.0
            clock.at_s += 5.0
            with pytest.raises(NotPermitted, match="time or memory limit"):
                check_deadline()
        with pytest.raises(NotPermitted):
            seconds_left(2.0)
    check_deadline()


def test_a_refusal_ends_it_too() -> None:
    clock = Clock()
    with pytest.raises(ValueError), within(clock, 1.0):
        raise ValueError
    clock.at_s += 5.0
    check_deadline()


def test_a_part_may_have_less_time_than_the_whole() -> None:
    clock = Clock()
    with within(clock, 10.0):
        with within(clock, 3.0):
            clock.at_s += 4.0
            with pytest.raises(NotPermitted):
                check_deadline()
        check_deadline()
        assert seconds_left(9.0) == 6.0
