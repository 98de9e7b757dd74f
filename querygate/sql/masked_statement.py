"""A statement without the values that stand in it, for readers who need its form and must not see anybody's data."""

from __future__ import annotations

from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import TokenType

from querygate.sql.parse import tokens_of

# What is written in quotes of whatever kind, and every number. A name in quotes may be a value that somebody quoted
# the wrong way, and a parameter may be anything.
_VALUES = frozenset(
    kind
    for kind in TokenType
    if kind.name.endswith("STRING") or kind in (TokenType.NUMBER, TokenType.IDENTIFIER, TokenType.PARAMETER)
)


def masked(sql: str) -> str:
    """The statement with a question mark for each value, and without comments; empty where it cannot be read.

    >>> masked("SELECT AVG(x) FROM t WHERE name = 'Smith' AND age > 51 -- my neighbour")
    'SELECT AVG ( x ) FROM t WHERE name = ? AND age > ?'
    >>> masked("SELECT 'open")
    ''
    """
    try:
        tokens = tokens_of(sql)
    except (TokenError, ValueError, RecursionError):
        return ""
    words, last = [], None
    for token in tokens:
        # 0x51 is read as 0 and x51: what follows a number without a space is part of it.
        is_rest = last is not None and last.token_type == TokenType.NUMBER and token.start == last.end + 1
        if not (is_rest and token.token_type == TokenType.VAR):
            words.append("?" if token.token_type in _VALUES else token.text)
        last = token
    return " ".join(words)
