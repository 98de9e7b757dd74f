"""Single sign-on for a program (RFC 8628): the gate gives a code, somebody lets the program in at a browser, and it
gets a key for some hours."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import httpx

from querygate.client.requests_and_replies import API, Call, Conversation, Patience, Pause, fetch
from querygate.core.errors import NotPermitted

MOST_INTERVAL_S = 60.0
SLOWER_S = 5.0
"""By how much a program that asks too often waits longer (RFC 8628, 3.5)."""


@dataclass(frozen=True, slots=True)
class GivenKey:
    """A key, whose it is, and until when it opens."""

    key: str
    user: str
    expires: str


def authorise(scopes: Collection[str], tell: Callable[[str], None]) -> Conversation[GivenKey]:
    """Say where to go and which code to compare, and wait until somebody has decided."""
    once = Patience(())
    begun = yield from fetch(Call("POST", f"{API}/device", {"scopes": list(scopes)} if scopes else {}), once)
    tell(f"Open {begun['verification_uri']} and type the code {begun['user_code']}")
    tell(f"or open {begun['verification_uri_complete']} and compare it.")
    interval_s, left_s = float(begun["interval"]), float(begun["expires_in"])
    while left_s > 0:
        pause_s = min(max(interval_s, 0.0), MOST_INTERVAL_S)
        yield Pause(pause_s)
        left_s -= max(pause_s, 0.01)
        given = yield from fetch(Call("POST", f"{API}/device/token", {"device_code": begun["device_code"]}), once)
        if given["state"] == "approved":
            return GivenKey(given["key"], given["user"], given["expires"])
        interval_s += SLOWER_S if given["state"] == "slow_down" else 0.0
    raise NotPermitted("QG323", "The program was not authorised in time.", "Sign in again.")


def login(
    url: str,
    scopes: Collection[str] = (),
    tell: Callable[[str], None] = print,
    transport: httpx.BaseTransport | None = None,
) -> str:
    """A key of a gate through single sign-on, for `connect`. `tell` says to the person what to open."""
    from querygate.client.client import Client

    with Client(url, "", transport=transport) as gate:
        return gate.carry(authorise(scopes, tell)).key
