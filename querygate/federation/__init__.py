"""One question over several gates: each answers for its own records, and the ranges are put together by whoever asks.

No store leaves its gate, and no gate knows of another: a member sees ordinary questions of an ordinary user.
"""

from querygate.federation.federation_file import FederationFile, MemberEntry, read_federation
from querygate.federation.pooled_answer import Member, PooledBody, ask_members
from querygate.federation.pooled_statement import PooledStatement, read_pooled_statement

__all__ = [
    "FederationFile",
    "Member",
    "MemberEntry",
    "PooledBody",
    "PooledStatement",
    "ask_members",
    "read_federation",
    "read_pooled_statement",
]
