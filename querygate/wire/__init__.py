"""The PostgreSQL front door: psql, R, JDBC, pandas and whatever else speaks PostgreSQL's protocol ask the same gate.

Protocol version 3 on asyncio, with answers computed in threads. Nothing in this package, nor anything it imports, can
open a vault.
"""

from querygate.wire.cancel_relay import CancelMail
from querygate.wire.server import open_tls, open_wire

__all__ = ["CancelMail", "open_tls", "open_wire"]
