"""What the gate remembers about its own use: users, keys and the log, in one SQLite file."""

from querygate.control.accounts import ROLES, Accounts, Key, KeyIssued, User
from querygate.control.chain import GENESIS, ChainBroken, Verified, verify_lines
from querygate.control.database import Database
from querygate.control.ids import Clock, Entropy, new_query_id, stamp
from querygate.control.log import Log

__all__ = [
    "Database",
    "Accounts",
    "User",
    "Key",
    "KeyIssued",
    "ROLES",
    "Log",
    "Verified",
    "ChainBroken",
    "GENESIS",
    "verify_lines",
    "Clock",
    "Entropy",
    "new_query_id",
    "stamp",
]
