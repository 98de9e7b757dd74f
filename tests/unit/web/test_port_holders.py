"""Who holds a port."""

from __future__ import annotations

import os
import socket

import pytest

from querygate.core.errors import ConfigError
from querygate.web.port_holders import explain_holders, find_holders
from querygate.web.server import listen


@pytest.mark.parametrize(("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_whoever_holds_a_port_is_named(family: socket.AddressFamily, address: str) -> None:
    with socket.socket(family) as held:
        held.bind((address, 0))
        held.listen()
        port = held.getsockname()[1]
        assert [pid for pid, _ in find_holders(port)] == [os.getpid()]
        with pytest.raises(ConfigError) as refused:
            listen(address, port)
    assert f"The port is held by process {os.getpid()} (" in refused.value.detail
    assert explain_holders(port) == ""  # nobody listens any more


def test_a_machine_that_does_not_tell_is_no_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setattr("querygate.web.port_holders.PROC", tmp_path)
    assert explain_holders(80) == ""
