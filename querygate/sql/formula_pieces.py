"""The text of a model's formula, taken apart at its signs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from querygate.core.errors import Refusal, Span, UnsupportedSQL
from querygate.core.model_question import STRATIFIED, ModelQuestion
from querygate.sql.parse import DIALECT, checked_tokens, parse
from querygate.sql.suggestions.quoted_names import NamedText

_OPENING = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE})
_CLOSING = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END})

_EXAMPLES: Mapping[str, str] = {
    "linear": "sbp ~ sex + bands(age)",
    "logistic": "diabetes ~ sex + bands(age)",
    "poisson": "falls ~ sex + bands(age)",
    "mantel-haenszel": "diabetes ~ smoker | bands(age)",
    "standardised": "diabetes ~ region | sex + bands(age)",
}


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a formula: its tokens, in the text they are of."""

    text: NamedText
    tokens: tuple[Token, ...]

    @property
    def words(self) -> str:
        """As they were written."""
        return self.text.between(self.tokens[0].start, self.tokens[-1].end)

    @property
    def sql(self) -> str:
        return self.text.sql[self.tokens[0].start : self.tokens[-1].end + 1]


def whole(text: NamedText) -> Piece:
    return Piece(text, tuple(checked_tokens(text.sql)))


def sides_of(question: ModelQuestion, formula: NamedText) -> tuple[Piece, list[Piece], list[Piece]]:
    """The outcome, the terms and the strata."""
    sides = split(whole(formula), TokenType.TILDE)
    if len(sides) != 2:
        raise refused("a formula needs exactly one ~, with the outcome before it.", question.formula)
    behind = split(sides[1], TokenType.PIPE)
    wanted = 2 if question.family in STRATIFIED else 1
    if len(behind) != wanted:
        what = "strata after a |" if wanted == 2 else "no | here"
        raise refused(f"a formula of this family has {what}.", question.formula, family=question.family)
    terms = split(behind[0], TokenType.PLUS)
    strata = split(behind[1], TokenType.PLUS) if wanted == 2 else []
    if wanted == 2 and len(terms) != 1:
        raise refused("a formula of this family compares the levels of one factor.", question.formula)
    return sides[0], terms, strata


def split(piece: Piece, sign: TokenType) -> list[Piece]:
    """At a sign that is in no brackets."""
    depth, parts, begun = 0, [], 0
    for at, token in enumerate(piece.tokens):
        depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
        if depth == 0 and token.token_type == sign:
            parts.append(piece.tokens[begun:at])
            begun = at + 1
    parts.append(piece.tokens[begun:])
    if not all(parts):
        at_fault = piece if piece.tokens else None
        raise refused("something is missing next to a + or : sign.", piece.text.written, at_fault)
    return [Piece(piece.text, part) for part in parts]


def read_expression(piece: Piece, formula: str) -> exp.Expr:
    """One expression of SQL, and nothing else."""
    if not piece.tokens:
        raise refused("something is missing.", formula)
    tree = parsed(piece)
    found = tree.expressions[0] if isinstance(tree, exp.Select) and len(tree.expressions) == 1 else None
    more = [name for name, value in tree.args.items() if value and name not in ("expressions", "kind")]
    if not isinstance(found, exp.Paren) or more:
        raise refused("this is not one column or expression.", formula, piece)
    inside: exp.Expr = found.this
    return inside


def parsed(piece: Piece) -> exp.Expr:
    """A refusal says where in the text that was written."""
    before = "SELECT ("
    try:
        return parse(f"{before}{piece.sql})")
    except Refusal as refusal:
        span = refusal.span
        if span is not None:
            lines = piece.sql.split("\n")[: span.line - 1]
            at = sum(len(line) + 1 for line in lines) + span.column - 1 - (len(before) if span.line == 1 else 0)
            start = piece.tokens[0].start + min(max(at, 0), len(piece.sql) - 1)
            end = min(start + span.length - 1, piece.tokens[-1].end)
            refusal.span = span_in(piece.text.written, piece.text.places[start], len(piece.text.between(start, end)))
        raise


def span_in(written: str, at: int, length: int = 1) -> Span:
    return Span(written.count("\n", 0, at) + 1, at - (written.rfind("\n", 0, at) + 1) + 1, length)


def worded(tree: exp.Expr) -> str:
    return tree.sql(DIALECT, comments=False)


def refused(
    detail: str, formula: str, at: Piece | None = None, *, remedy: str = "", family: str = "logistic"
) -> UnsupportedSQL:
    start = None if at is None else at.text.places[at.tokens[0].start]
    span = None if start is None else span_in(formula, start)
    place = "" if start is None else f", character {start + 1}"
    remedy = remedy or f"Write it as in: {_EXAMPLES[family]}."
    return UnsupportedSQL("QG218", f"formula{place}: {detail}", remedy, span=span)
