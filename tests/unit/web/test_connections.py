from __future__ import annotations

import socket
import time
from contextlib import closing

import pytest
from waitress.server import create_server

from querygate.web.connections import FairQueue, TimedChannel


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


def test_an_answer_that_took_long_is_given_time_to_be_read() -> None:
    """Nothing went over the connection while it was computed; that is nobody's fault who reads it."""
    server = create_server(lambda environ, start: [], host="127.0.0.1", port=0)
    server.channel_class = TimedChannel
    with closing(server), closing(socket.create_connection(("127.0.0.1", server.effective_port))):
        server.handle_accept()
        (channel,) = server.active_channels.values()
        channel.write_soon(bytes(12_000_000))  # more than fits on the way, and nobody reads
        channel.last_activity = time.time() - 60
        assert not channel.is_too_slow(time.time(), read_s=10, idle_s=30)
        assert channel.is_too_slow(time.time() + 11, read_s=10, idle_s=30)
        channel.handle_close()


@pytest.mark.parametrize(("body", "pieces"), [(b"short", 1), (b"", 1), (bytes(200_000), 2)])
def test_a_short_answer_is_sent_in_one_piece(body: bytes, pieces: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def app(environ, start):
        start("200 OK", [("Content-Length", str(len(body)))])
        return [body]

    sent: list[bytes] = []
    write_soon = TimedChannel.write_soon
    monkeypatch.setattr(TimedChannel, "write_soon", lambda self, data: sent.append(data) or write_soon(self, data))
    server = create_server(app, host="127.0.0.1", port=0)
    server.channel_class = TimedChannel
    with closing(server), closing(socket.create_connection(("127.0.0.1", server.effective_port))):
        server.handle_accept()
        (channel,) = server.active_channels.values()
        request = channel.parser_class(channel.adj)
        request.received(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        channel.requests = [request]
        channel.service()
        channel.handle_close()
    assert len([data for data in sent if data]) == pieces
    assert b"".join(sent).endswith(body)
    assert b"".join(sent).startswith(b"HTTP/1.1 200 OK")
