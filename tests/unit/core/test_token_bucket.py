from __future__ import annotations

from querygate.core.limits import token_bucket as module
from querygate.core.limits.token_bucket import Throttle


def test_so_many_a_minute_for_each_and_no_more():
    throttle = Throttle(per_minute=6)
    taken = [throttle.wait_s("ann", now_s=at * 0.1) for at in range(600)]
    assert taken.count(0.0) == 6 + 5  # a full bucket, and one token for every ten seconds of the minute
    assert throttle.wait_s("bob", now_s=60.0) == 0.0
    assert 0 < throttle.wait_s("ann", now_s=60.0) <= 10


def test_looking_takes_nothing_and_a_clock_that_goes_back_gives_nothing():
    throttle = Throttle(per_minute=60, at_once=1)
    assert [throttle.left_s("ann", 5.0) for _ in range(3)] == [0.0, 0.0, 0.0]
    assert throttle.wait_s("ann", 5.0) == 0.0
    assert throttle.wait_s("ann", 1.0) > 0
    assert throttle.left_s("ann", 6.5) == 0.0


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(module, "REMEMBERED", 10)
    throttle = Throttle(per_minute=1)
    for number in range(1000):
        throttle.wait_s(str(number), 0.0)
    assert len(throttle._levels) == 10
