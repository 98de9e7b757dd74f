"""Connections that cost more than they bring: half-sent requests, readers that do not read, and one sender of many.

Waitress reads requests without a thread for each, so a slow sender blocks nobody by being slow; but it counts against
the number of connections, and there the gate stopped accepting. So a request has to be complete in time, an answer has
to be read on, and where connections run out those that wait longest for a request go first. A queue before the threads
takes requests in turn: one of each sender, and not all of whoever sent most.
"""

from __future__ import annotations

import socket
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from waitress.channel import HTTPChannel
from waitress.server import BaseWSGIServer
from waitress.task import WSGITask

CROWDED = 0.75
"""The part of the connections from which on those that wait for a request are closed, the oldest first."""


AT_ONCE_BYTES = 65_536
"""Bodies up to here are sent together with their headers."""


class OneSendTask(WSGITask):  # type: ignore[misc]
    """A response that goes out in one piece where it is short: two would wake up whoever waits for it twice."""

    wrote_header: bool
    content_bytes_written: int

    def write(self, data: bytes) -> None:
        is_short = bool(data) and self.content_length == len(data) <= AT_ONCE_BYTES
        if self.wrote_header or not (is_short and self.complete and self.has_body):
            super().write(data)
            return
        header = self.build_response_header()
        self.wrote_header = True
        self.content_bytes_written = len(data)
        self.channel.write_soon(header + data)


class TimedChannel(HTTPChannel):  # type: ignore[misc]
    """A connection that knows since when a request is coming in, and since when an answer is going out."""

    task_class = OneSendTask
    began_s: float | None = None
    answered_s = 0.0

    def received(self, data: bytes) -> bool:
        taken: bool = super().received(data)
        if self.request is None:
            self.began_s = None
        elif self.began_s is None:
            self.began_s = time.time()
        return taken

    def write_soon(self, data: Any) -> int:
        """An answer that took long to compute is not one that nobody reads: the time for reading begins here."""
        if not self.total_outbufs_len:
            self.answered_s = time.time()
        return int(super().write_soon(data))

    @property
    def is_waiting(self) -> bool:
        """Nothing is served here, and nothing is on its way out."""
        return not self.requests and not self.total_outbufs_len

    def is_too_slow(self, now_s: float, read_s: float, idle_s: float) -> bool:
        """A request that does not end, an answer that nobody reads, or nothing at all for too long."""
        if self.began_s is not None and not self.requests and now_s - self.began_s > read_s:
            return True
        is_stuck = bool(self.total_outbufs_len) and now_s - max(self.last_activity, self.answered_s) > read_s
        return is_stuck or (self.is_waiting and now_s - self.last_activity > idle_s)


def keep_moving(listener: BaseWSGIServer, most: int, read_s: float, idle_s: float) -> None:
    """Have a listener close what is too slow, every second."""

    def maintain(now_s: float) -> None:
        channels = [one for one in listener.active_channels.values() if isinstance(one, TimedChannel)]
        slow = [one for one in channels if one.is_too_slow(now_s, read_s, idle_s)]
        crowd = len(channels) - len(slow) - int(most * CROWDED)
        if crowd > 0:
            waiting = sorted((one for one in channels if one.is_waiting and one not in slow), key=_waits_since)
            slow += waiting[:crowd]
        for channel in slow:
            close(channel)

    listener.maintenance = maintain


def close(channel: TimedChannel) -> None:
    """Close a connection: the loop that owns it sees that it was hung up, and tells a thread that waits for it."""
    channel.will_close = True
    with suppress(OSError):  # it has gone by itself
        channel.socket.shutdown(socket.SHUT_RDWR)


def _waits_since(channel: TimedChannel) -> float:
    return float(channel.began_s if channel.began_s is not None else channel.last_activity)


class FairQueue:
    """Tasks by sender, each sender in turn. It is used under the dispatcher's lock."""

    def __init__(self, lane_of: Callable[[Any], str]) -> None:
        self._lane_of = lane_of
        self._lanes: OrderedDict[str, deque[Any]] = OrderedDict()
        self._length = 0

    def append(self, task: Any) -> None:
        self._lanes.setdefault(self._lane_of(task), deque()).append(task)
        self._length += 1

    def popleft(self) -> Any:
        if not self._lanes:
            raise IndexError("nothing waits")
        lane, tasks = self._lanes.popitem(last=False)
        task = tasks.popleft()
        if tasks:
            self._lanes[lane] = tasks  # behind all others
        self._length -= 1
        return task

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Any]:
        return (task for tasks in self._lanes.values() for task in tasks)
