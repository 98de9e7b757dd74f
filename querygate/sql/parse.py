"""Step 1: text to one syntax tree, or a refusal with line and column.

Size and nesting are checked on the text and its tokens, before the recursive parser sees them.
"""

from __future__ import annotations

import difflib
import logging
import re
from collections.abc import Sequence

from sqlglot import Dialect, exp
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from querygate.core.errors import Span, SyntaxRefused

DIALECT = "duckdb"
MAX_TOKENS = 5_000
MAX_JOINS = 10

_DIALECT = Dialect.get_or_raise(DIALECT)
_OPENING = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE})
_CLOSING = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END})
_PREFIXES = frozenset({TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE})

logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # it would quote statements in a warning


def parse(sql: str, *, max_chars: int = 20_000, max_nesting: int = 30) -> exp.Expr:
    """The tree of a single statement.

    >>> type(parse("SELECT COUNT(*) FROM patients")).__name__
    'Select'
    """
    if len(sql) > max_chars:
        raise SyntaxRefused(
            "QG102",
            f"The statement has {len(sql):,} characters; the limit is {max_chars:,}.",
            "Shorten it. A long IN list can often be a BETWEEN.",
        )
    if not _is_text(sql):
        raise SyntaxRefused("QG101", "The statement contains characters that are not text.", "Send it as UTF-8.")
    try:
        tokens = _DIALECT.tokenize(sql)
        check_size(tokens, max_nesting)
        trees = [tree for tree in _DIALECT.parser().parse(tokens, sql) if tree is not None]
    except TokenError:
        raise _not_closed() from None
    except ParseError as error:
        raise _misspelt(error, tokens) or _unreadable(error) from None
    except RecursionError:
        raise too_deep() from None
    except (TypeError, ValueError, AttributeError, LookupError, AssertionError):
        # texts that are no SQL can trip the parser itself
        raise SyntaxRefused("QG101", "The statement cannot be read.", "Use plain SQL.") from None
    if not trees:
        raise SyntaxRefused("QG101", "There is no statement.", "Send one SELECT with aggregates.")
    if len(trees) > 1:
        raise SyntaxRefused(
            "QG104",
            f"The text contains {len(trees)} statements.",
            "Send one statement at a time. Only SELECT is accepted.",
        )
    for node in trees[0].walk():
        if node._meta:
            node._meta = _Marks(node._meta)
    return trees[0]


def written(tree: exp.Expr) -> str:
    """The text of a tree, which is used up: its nodes get other parents."""
    return _DIALECT.generate(tree, copy=False)


def let_go(tree: exp.Expr) -> None:
    """Nobody needs the tree any more. As its nodes know their parents, its memory would be free only once Python has
    looked for such circles, which takes longer than this."""
    for node in tree.walk():
        node.parent = None


class _Marks(dict[str, object]):
    """What a node is marked with, such as its place in the text: values that nobody changes. To copy these one by one
    is most of what a copy of a tree costs."""

    def __deepcopy__(self, memo: object) -> _Marks:
        return _Marks(self)


def tokens_of(text: str) -> Sequence[Token]:
    """The words and signs of a text. Raises TokenError where a quote or a comment is not closed."""
    return _DIALECT.tokenize(text)


def checked_tokens(text: str, max_nesting: int = 30) -> list[Token]:
    """The words and signs of a text that is SQL in part; refused where it cannot be read."""
    if not _is_text(text):
        raise SyntaxRefused("QG101", "The text contains characters that are not text.", "Send it as UTF-8.")
    try:
        tokens = _DIALECT.tokenize(text)
    except TokenError:
        raise _not_closed() from None
    check_size(tokens, max_nesting)
    return tokens


def statements(text: str) -> list[str]:
    """The statements of a text, parted by semicolons; one inside quotes or a comment parts nothing.

    >>> statements("SELECT COUNT(*) FROM t WHERE x = ';';  SELECT 1;")
    ["SELECT COUNT(*) FROM t WHERE x = ';'", 'SELECT 1']
    """
    try:
        ends = [token.start for token in _DIALECT.tokenize(text) if token.token_type == TokenType.SEMICOLON]
    except TokenError:
        raise _not_closed() from None
    parts = [text[begin:end] for begin, end in zip([0, *(end + 1 for end in ends)], [*ends, len(text)], strict=True)]
    return [part.strip() for part in parts if part.strip()]


def check_size(tokens: list[Token], max_nesting: int) -> None:
    """Refuse what would make a recursive parser deep: brackets, and runs of NOT or minus."""
    if len(tokens) > MAX_TOKENS:
        raise SyntaxRefused(
            "QG102", f"The statement has {len(tokens):,} words; the limit is {MAX_TOKENS:,}.", "Shorten it."
        )
    kinds = [token.token_type for token in tokens]
    if kinds.count(TokenType.JOIN) > MAX_JOINS:  # each without ON doubles the work
        raise SyntaxRefused("QG102", f"The statement has more than {MAX_JOINS} joins.", "Join fewer tables.")
    if kinds.count(TokenType.L_BRACKET) > max_nesting:
        raise too_deep(max_nesting)  # x[1][1] is a tower although it closes each bracket
    depth = run = 0
    for kind in kinds:
        depth += (kind in _OPENING) - (kind in _CLOSING)
        run = run + 1 if kind in _PREFIXES else 0
        if depth > max_nesting or run > max_nesting:
            raise too_deep(max_nesting)


def span_of(node: exp.Expr) -> Span | None:
    """Where a node stands in the text: itself, or the first of its parts, as they are read, that knows."""
    known = [part.meta for part in ([node] if "line" in node.meta else node.walk()) if "line" in part.meta]
    if not known:
        return None
    meta = min(known, key=lambda meta: meta["start"])
    length = meta["end"] - meta["start"] + 1
    return Span(meta["line"], max(1, meta["col"] - length + 1), length)


def at_function(sql: str, span: Span) -> Span:
    """The name of the function that is called, where the parser knows only the place of its first argument."""
    lines = sql.split("\n")
    if not 1 <= span.line <= len(lines):
        return span
    line, start = lines[span.line - 1], span.column - 1
    called = _CALLED.search(line[:start])
    if called is None or line[start + span.length :].lstrip().startswith("("):
        return span
    return Span(span.line, called.start(1) + 1, len(called[1]))


_CALLED = re.compile(r"(\w+)\s*\([\s(]*(?:DISTINCT\s+)?$", re.IGNORECASE)


def _not_closed() -> SyntaxRefused:
    return SyntaxRefused("QG101", "A quote, comment or name is not closed.", "Close it and send the statement again.")


def _misspelt(error: ParseError, tokens: Sequence[Token]) -> SyntaxRefused | None:
    """A word just before the place where reading stopped that is nearly a keyword: it was taken for a name."""
    first = error.errors[0] if error.errors else {}
    at = (first.get("line") or 0, first.get("col") or 0)
    before = [token for token in tokens if (token.line, token.col) <= at][-_LOOKED_BACK:]
    for token in reversed(before):
        word = token.text.upper()
        near = difflib.get_close_matches(word, _KEYWORDS, n=1, cutoff=0.74)
        if token.token_type == TokenType.VAR and near and word not in _KEYWORDS:
            span = Span(token.line, max(1, token.col - len(token.text) + 1), len(token.text))
            return SyntaxRefused(
                "QG101", "The statement cannot be read: a keyword seems to be misspelt.", f"Write {near[0]}.", span=span
            )
    return None


_LOOKED_BACK = 4
_KEYWORDS = ("SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "UNION", "BETWEEN", "AND", "BY")


def _unreadable(error: ParseError) -> SyntaxRefused:
    first = error.errors[0] if error.errors else {}
    word = str(first.get("highlight") or "")
    span = Span(first["line"], max(1, first["col"] - len(word) + 1), max(1, len(word))) if first.get("line") else None
    what = _in_words(str(first.get("description") or ""))
    return SyntaxRefused(
        "QG101", f"The statement cannot be read: {what}.", "Correct the SQL at the marked place.", span=span
    )


def _in_words(description: str) -> str:
    """What the parser means, without the words of its trade.

    >>> _in_words("Invalid expression / Unexpected token"), _in_words("Expecting )")
    ('this does not belong here, or a comma before it is missing', '")" is missing here')
    """
    if "Unexpected token" in description:
        return "this does not belong here, or a comma before it is missing"
    expected = re.fullmatch(r"Expect(?:ing|ed) (\S{1,9})", description.rstrip("."))
    if expected:
        return f'"{expected[1]}" is missing here'
    return "something is missing here" if description else "it is not SQL"


def too_deep(max_nesting: int | None = None) -> SyntaxRefused:
    limit = f"more than {max_nesting} levels deep" if max_nesting else "too deeply"
    return SyntaxRefused(
        "QG103",
        f"Parentheses or NOTs are nested {limit}.",
        "Flatten the condition. Chains of AND or OR need no parentheses.",
    )


def _is_text(sql: str) -> bool:
    """No NUL, which ends a text for some readers, and no half of a surrogate pair, which no encoding can carry."""
    try:
        return b"\0" not in sql.encode()
    except UnicodeEncodeError:
        return False
