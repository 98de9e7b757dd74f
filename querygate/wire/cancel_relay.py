"""Requests to cancel, passed on between the processes of a site: one comes in a connection of its own, to whichever
process takes it, and is for a session that may be another's.

Each process has a box, made before they were forked; whoever takes the place of one that has died has its box. The
number that a client is told for its session says which box is meant.
"""

from __future__ import annotations

import socket
import struct
from contextlib import suppress
from dataclasses import dataclass

SESSIONS = 1 << 24
"""Numbers of sessions in one process; what is above them is the place of the process."""

_PACKED = struct.Struct("!II")


@dataclass(frozen=True, slots=True)
class Cancel:
    """A request to stop the statement of another connection, which knows its number and its secret."""

    number: int
    secret: int


class CancelMail:
    """The boxes of so many processes; of one that is alone, none is ever written to."""

    def __init__(self, processes: int = 1) -> None:
        self._boxes = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(processes)]
        for box in self._boxes:
            for end in box:
                end.setblocking(False)

    def number(self, place: int, session: int) -> int:
        """What a session of a process is called.

        >>> CancelMail(3).number(2, 5)
        33554437
        """
        return place * SESSIONS + session % SESSIONS

    def is_for(self, place: int, cancel: Cancel) -> bool:
        return cancel.number // SESSIONS == place

    def send(self, cancel: Cancel) -> None:
        """Nobody is told whether it arrives: a full box, or a process that there is not, is as a session long over."""
        place = cancel.number // SESSIONS
        if place < len(self._boxes):
            with suppress(OSError):
                self._boxes[place][0].send(_PACKED.pack(cancel.number, cancel.secret))

    def box(self, place: int) -> socket.socket:
        """Where a process reads what is for it."""
        return self._boxes[place][1]

    def close(self) -> None:
        for box in self._boxes:
            for end in box:
                end.close()

    def read(self, place: int) -> Cancel | None:
        """The next request for a process; None where there is none."""
        try:
            return Cancel(*_PACKED.unpack(self.box(place).recv(_PACKED.size)))
        except BlockingIOError:
            return None
