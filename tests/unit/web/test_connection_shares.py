from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest
from waitress import wasyncore
from waitress.server import create_server

from querygate.web.connection_shares import ConnectionShares, HandedConnections


@pytest.fixture
def shares() -> Iterator[ConnectionShares]:
    with closing(ConnectionShares(3)) as made:
        yield made


def test_the_next_connection_is_for_whoever_has_fewest(shares: ConnectionShares):
    for place, connections in enumerate((4, 2, 3)):
        shares.tell(place, connections)
    assert [shares.with_fewest(place) for place in range(3)] == [1, 1, 1]
    shares.tell(1, 3)
    assert [shares.with_fewest(place) for place in range(3)] == [1, 1, 2]  # who has no more keeps it


def test_nobody_is_handed_a_connection_where_no_process_is(shares: ConnectionShares):
    shares.tell(2, 100)
    assert shares.with_fewest(2) == 2
    shares.tell(0, 0)
    assert shares.with_fewest(2) == 0
    shares.leave(0)
    assert shares.with_fewest(2) == 2


def test_what_is_on_the_way_counts(shares: ConnectionShares):
    for place in range(3):
        shares.tell(place, 0)
    with ExitStack() as stack:
        ends = [stack.enter_context(end) for _ in range(3) for end in socket.socketpair()]
        assert all(shares.hand(0, 1, end, 7) for end in ends[:2])
        shares.hand(2, 1, ends[2], 7)
        shares.tell(0, 2)
        assert shares.with_fewest(0) == 2
        shares.tell(2, 4)
        assert shares.with_fewest(0) == 0  # three are on their way to the one between
        taken = [stack.enter_context(connection) for connection, listener in shares.taken(1) if listener == 7]
        assert len(taken) == 3
        assert shares.with_fewest(0) == 1  # it has them now, and says how many it has
        ends[1].sendall(b"through")
        assert ends[0].recv(7) == b"through"
        ends[1].close()
        ends[0].sendall(b"handed")
        assert taken[1].recv(6) == b"handed"  # the same connection, whoever closes it elsewhere


def test_a_full_box_takes_no_more(shares: ConnectionShares):
    one, other = socket.socketpair()
    with closing(one), closing(other):
        handed = 0
        while shares.hand(0, 1, one, 0):
            handed += 1
        taken = [connection for connection, _ in shares.taken(1)]
        assert len(taken) == handed > 32
        for connection in taken:
            connection.close()


def test_two_servers_at_one_socket_have_as_many_connections_each(shares: ConnectionShares):
    with ExitStack() as stack:
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=64))
        servers, boxes = [], []
        for place in range(2):
            loop: dict[int, object] = {}
            server = create_server(lambda environ, start: [], sockets=[listening.dup()], map=loop, threads=1)
            stack.callback(wasyncore.close_all, loop)
            servers.append(server)
            boxes.append(HandedConnections(shares, place, [server], loop))
        for box in boxes:
            assert box.readable()
        clients = [stack.enter_context(socket.create_connection(listening.getsockname())) for _ in range(11)]
        for _ in clients:
            servers[0].handle_accept()  # the other one sleeps
        assert len(servers[0].active_channels) == 6
        boxes[1].handle_read()
        assert len(servers[1].active_channels) == 5
        ports = {channel.addr[1] for server in servers for channel in server.active_channels.values()}
        assert ports == {client.getsockname()[1] for client in clients}
        for channel in list(servers[0].active_channels.values())[:2]:
            channel.handle_close()
        assert boxes[0].readable()
        clients.append(stack.enter_context(socket.create_connection(listening.getsockname())))
        servers[1].handle_accept()
        assert len(servers[1].active_channels) == 5  # the first one has fewer again
        boxes[0].handle_read()
        assert len(servers[0].active_channels) == 5
