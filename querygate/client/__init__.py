"""Ask a gate from a program: `connect` for a connection, `Answer` for what comes back, refusals as exceptions.

import querygate

gate = querygate.connect("https://gate.example.org", dataset="survey")
gate.query("SELECT sex, AVG(systolic) FROM survey GROUP BY sex")
"""

from querygate.client.answer import Answer, Group, Noisy, Range
from querygate.client.client import AsyncClient, Client, connect, connect_async
from querygate.client.device_login import login
from querygate.core.errors import (
    BudgetExhausted,
    ConfigError,
    DisclosureRefused,
    Fault,
    NotPermitted,
    QueryGateError,
    Refusal,
    Span,
    SyntaxRefused,
    UnsupportedSQL,
)

__all__ = [
    "Answer",
    "AsyncClient",
    "BudgetExhausted",
    "Client",
    "ConfigError",
    "DisclosureRefused",
    "Fault",
    "Group",
    "Noisy",
    "NotPermitted",
    "QueryGateError",
    "Range",
    "Refusal",
    "Span",
    "SyntaxRefused",
    "UnsupportedSQL",
    "connect",
    "connect_async",
    "login",
]
