from __future__ import annotations

import pytest

from querygate.web.connections import FairQueue


def test_each_sender_in_turn():
    queue = FairQueue(lambda task: task[0])
    for task in ("a1", "a2", "a3", "b1", "a4", "c1", "b2"):
        queue.append(task)
    assert len(queue) == 7
    assert [queue.popleft() for _ in range(4)] == ["a1", "b1", "c1", "a2"]
    queue.append("d1")
    assert [queue.popleft() for _ in range(len(queue))] == ["b2", "a3", "d1", "a4"]
    assert not queue
    with pytest.raises(IndexError):
        queue.popleft()


def test_one_who_floods_delays_others_by_one_task_each():
    queue = FairQueue(lambda task: task[0])
    for number in range(1000):
        queue.append(("flood", number))
    queue.append(("ann", 0))
    assert ("ann", 0) in [queue.popleft() for _ in range(2)]
