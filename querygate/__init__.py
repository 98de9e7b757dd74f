"""QueryGate: ordinary SQL in, guaranteed ranges out. `connect` asks a gate from a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from querygate.client import AsyncClient as AsyncClient
    from querygate.client import Client as Client
    from querygate.client import connect as connect
    from querygate.client import connect_async as connect_async
    from querygate.client import login as login

__all__ = ["AsyncClient", "Client", "connect", "connect_async", "login"]


def __getattr__(name: str) -> Any:
    """The client is imported when it is first used: nothing else needs it."""
    if name not in __all__:
        raise AttributeError(f"module 'querygate' has no attribute {name!r}")
    from querygate import client

    return getattr(client, name)
