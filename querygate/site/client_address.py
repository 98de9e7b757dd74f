"""Where a request comes from: the other end of the connection, or, behind a proxy that the site trusts, what it says.

`X-Forwarded-For` is read from right to left: each proxy adds the address that it saw, so what stands left of the first
address that is no proxy of ours was written by the client, and may be anything.

>>> trusted = read_proxies("127.0.0.1, 10.0.0.0/8")
>>> client_address("127.0.0.1", "1.1.1.1, 2.2.2.2, 10.1.2.3", trusted)
'2.2.2.2'
>>> client_address("3.3.3.3", "1.1.1.1", trusted)
'3.3.3.3'
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

from querygate.core.errors import ConfigError

Proxies: TypeAlias = "Sequence[IPv6Network]"
"""Networks of proxies; those of IPv4 as IPv6 has them."""

_LONGEST = 64
_V4_BITS = 96


def read_proxies(text: str) -> Proxies:
    """The setting `trusted_proxies`: addresses and networks, separated by commas."""
    found = []
    for word in filter(None, (part.strip() for part in text.split(","))):
        try:
            network = ip_network(word, strict=False)
        except ValueError:
            raise ConfigError(
                "QG805",
                "trusted_proxies is not accepted.",
                "Accepted: addresses and networks, for example 127.0.0.1, 10.0.0.0/8.",
            ) from None
        address = _as_v6(network.network_address)
        prefix = network.prefixlen + (_V4_BITS if network.version == 4 else 0)
        found.append(IPv6Network((address, prefix)))
    return tuple(found)


def client_address(peer: str, forwarded: str, trusted: Proxies) -> str:
    """The address of whoever is responsible for a request. What cannot be read counts as the peer."""
    seen = peer
    for hop in [*reversed(forwarded.split(","))] if trusted else []:
        if not _is_trusted(seen, trusted):
            break
        address = _read(hop)
        if address is None:
            break
        seen = str(address)
    return seen


def lane_of(address: str) -> str:
    """What is counted together: an address, or the network of 64 bits that one customer has in IPv6."""
    found = _read(address)
    if found is None or found.version == 4:
        return address[:_LONGEST]
    return str(IPv6Network((found, 64), strict=False))


def _is_trusted(address: str, trusted: Proxies) -> bool:
    found = _read(address)
    return found is not None and any(_as_v6(found) in network for network in trusted)


def _read(text: str) -> IPv4Address | IPv6Address | None:
    """An address, without a port or brackets; one of IPv4 that is written as IPv6 is itself."""
    text = text.strip()[:_LONGEST]
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        found = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return mapped or found


def _as_v6(address: IPv4Address | IPv6Address) -> IPv6Address:
    return address if isinstance(address, IPv6Address) else IPv6Address(f"::ffff:{address}")
