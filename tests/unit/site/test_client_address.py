"""Where a request comes from, whatever is written into its headers."""

from __future__ import annotations

import pytest

from querygate.core.errors import ConfigError
from querygate.site.client_address import client_address, lane_of, read_proxies
from tests.each import each

PROXIES = read_proxies("127.0.0.1, 10.0.0.0/8,2001:db8::/32 , ")


@each(
    "peer, forwarded, found",
    [
        ("9.9.9.9", "", "9.9.9.9"),
        ("9.9.9.9", "1.1.1.1", "9.9.9.9"),  # not a proxy of ours: what it says counts for nothing
        ("127.0.0.1", "", "127.0.0.1"),
        ("127.0.0.1", "1.1.1.1", "1.1.1.1"),
        ("127.0.0.1", "6.6.6.6, 1.1.1.1", "1.1.1.1"),  # the left one was written by the client
        ("127.0.0.1", "6.6.6.6, 1.1.1.1, 10.9.9.9", "1.1.1.1"),
        ("127.0.0.1", "10.0.0.7", "10.0.0.7"),
        ("127.0.0.1", "nonsense", "127.0.0.1"),
        ("127.0.0.1", "1.1.1.1, nonsense", "127.0.0.1"),
        ("127.0.0.1", "1.1.1.1, nonsense, 10.1.1.1", "10.1.1.1"),
        ("127.0.0.1", "1.1.1.1:8080", "1.1.1.1"),
        ("127.0.0.1", "[2001:db9::1]:443", "2001:db9::1"),
        ("::ffff:127.0.0.1", "::ffff:1.1.1.1", "1.1.1.1"),
        ("2001:db8::5", "fe80::1%eth0", "fe80::1"),
        ("127.0.0.1", "1" * 10_000, "127.0.0.1"),
        ("127.0.0.1", "\u0661.1.1.1", "127.0.0.1"),
        ("", "1.1.1.1", ""),
    ],
)
def test_who_is_responsible(peer, forwarded, found):
    assert client_address(peer, forwarded, PROXIES) == found
    assert client_address(peer, forwarded, ()) == peer


def test_networks_of_customers_are_counted_together():
    assert lane_of("2001:db8:1:2:3::4") == lane_of("2001:db8:1:2:ffff::1") != lane_of("2001:db8:1:3::1")
    assert lane_of("1.2.3.4") == lane_of("::ffff:1.2.3.4".removeprefix("::ffff:")) == "1.2.3.4"
    assert len(lane_of("x" * 1000)) == 64


@each("text", ["localhost", "1.2.3.4/99", "1.2.3"])
def test_what_is_no_proxy(text):
    with pytest.raises(ConfigError) as refused:
        read_proxies(text)
    assert refused.value.code == "QG805"
