"""Connections spread evenly over the processes of a site: whoever accepts one hands it to the process with fewest.

All of them wait at the same socket, and whichever wakes up first takes what is there: of 32 connections that came at
once one of two processes took 25 and more, and those on them waited while the other process had nothing to do. An open
connection is handed on through a pair of sockets, which the parent makes before it forks; whoever takes the place of a
process that has died finds there what was handed to it.
"""

from __future__ import annotations

import mmap
import socket
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

from waitress import wasyncore
from waitress.server import BaseWSGIServer

ABSENT = 2**40
"""As many connections as a process would have to have for others to be handed none."""

Accepted: TypeAlias = "tuple[socket.socket, Any] | None"
"""A connection and where it comes from."""

_BYTES = 8


class ConnectionShares:
    """How many connections each of so many processes has, and the boxes through which they hand some on."""

    def __init__(self, processes: int) -> None:
        self.processes = processes
        # Each number has one writer: how many a process has, how many it took from its box, how many it sent to whom.
        self._numbers = memoryview(mmap.mmap(-1, processes * (processes + 2) * _BYTES)).cast("q")
        self._boxes = [socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM) for _ in range(processes)]
        for box in self._boxes:
            for end in box:
                end.setblocking(False)
        for place in range(processes):
            self.leave(place)

    def tell(self, place: int, connections: int) -> None:
        """How many a process has."""
        self._numbers[place] = connections

    def leave(self, place: int) -> None:
        """There is no process at this place, for a while."""
        self.tell(place, ABSENT)

    def with_fewest(self, place: int) -> int:
        """Which process is to have the next connection: the one at this place unless another has fewer."""
        held = [self._numbers[one] + self._on_the_way(one) for one in range(self.processes)]
        fewest = min(held)
        return place if held[place] <= fewest else held.index(fewest)

    def hand(self, place: int, to: int, connection: socket.socket, listener: int) -> bool:
        """Hand a connection on that came in at one of the listeners; False where the box is full."""
        try:
            socket.send_fds(self._boxes[to][0], [bytes([listener])], [connection.fileno()])
        except OSError:
            return False
        self._numbers[self._sent(place, to)] += 1
        return True

    def taken(self, place: int) -> Iterator[tuple[socket.socket, int]]:
        """What others have handed to a process, and at which listener it came in."""
        while True:
            try:
                told, files, _, _ = socket.recv_fds(self.box(place), 1, 1)
            except BlockingIOError:
                return
            if not told:  # the gate is closed
                return
            self._numbers[self.processes + place] += 1
            for file in files:
                yield socket.socket(fileno=file), told[0]

    def box(self, place: int) -> socket.socket:
        """Where a process finds what is handed to it."""
        return self._boxes[place][1]

    def close(self) -> None:
        for box in self._boxes:
            for end in box:
                end.close()

    def _on_the_way(self, place: int) -> int:
        sent = (self._numbers[self._sent(one, place)] for one in range(self.processes))
        return sum(sent) - self._numbers[self.processes + place]

    def _sent(self, place: int, to: int) -> int:
        return (2 + place) * self.processes + to


class HandedConnections(wasyncore.dispatcher):  # type: ignore[misc]
    """The box of one process in the loop that serves its connections, and its part in handing some on."""

    def __init__(
        self, shares: ConnectionShares, place: int, listeners: Sequence[BaseWSGIServer], loop: dict[int, Any]
    ) -> None:
        super().__init__(shares.box(place), map=loop)
        self._shares, self._place, self._listeners, self._loop = shares, place, listeners, loop
        for number, listener in enumerate(listeners):
            listener.accept = partial(self._accept, number, listener.accept)

    def readable(self) -> bool:
        """Asked before each wait of the loop, in which nothing changes here."""
        self._tell()
        return True

    def writable(self) -> bool:
        return False

    def handle_read(self) -> None:
        for connection, number in self._shares.taken(self._place):
            listener = self._listeners[number]
            try:
                listener.set_socket_options(connection)
                address = listener.fix_addr(connection.getpeername())
            except OSError:  # it has gone by itself
                connection.close()
                continue
            listener.channel_class(listener, connection, address, listener.adj, map=self._loop)
        self._tell()

    def _accept(self, number: int, accept: Callable[[], Accepted]) -> Accepted:
        """What came in at a listener; None where it went on to another process, or is gone."""
        found = accept()
        if found is None:
            return None
        self._tell()
        to = self._shares.with_fewest(self._place)
        if to == self._place or not self._shares.hand(self._place, to, found[0], number):
            return found
        found[0].close()
        return None

    def _tell(self) -> None:
        self._shares.tell(self._place, sum(len(listener.active_channels) for listener in self._listeners))
