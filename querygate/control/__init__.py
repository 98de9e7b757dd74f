"""What the gate remembers about its own use: users, keys and the log, in one SQLite file and its archives."""

from querygate.control.accounts import Accounts, User
from querygate.control.budgets.sqlite_budgets import SqliteBudgets
from querygate.control.database import Database
from querygate.control.grants import Actor, Grant, Grantee, Grants
from querygate.control.ids import new_query_id, stamp, stamp_now
from querygate.control.jobs import Jobs
from querygate.control.log.archive_rotation import discard, rotate
from querygate.control.log.archives import Segment
from querygate.control.log.entry_chain import GENESIS, ChainBroken, VerifiedChain
from querygate.control.log.entry_links import verify_lines
from querygate.control.log.log import Log
from querygate.control.log.signature import NotSigned, SignedStatement, load_key, load_public_key, make_key
from querygate.control.log.signed_export import export_signed
from querygate.control.sqlite_extract_requests import Notices, SqliteRequests

__all__ = [
    "Database",
    "Accounts",
    "User",
    "Grants",
    "Grant",
    "Grantee",
    "Actor",
    "SqliteBudgets",
    "SqliteRequests",
    "Notices",
    "Log",
    "Jobs",
    "VerifiedChain",
    "ChainBroken",
    "GENESIS",
    "verify_lines",
    "SignedStatement",
    "NotSigned",
    "make_key",
    "load_key",
    "load_public_key",
    "Segment",
    "rotate",
    "discard",
    "export_signed",
    "new_query_id",
    "stamp",
    "stamp_now",
]
