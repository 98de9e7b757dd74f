"""What a PostgreSQL client sends, made ready for the gate: one statement at a time, with values for its parameters and
without the schema before the dataset. Each change is remembered, so that a place in the new text is found in the old.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from querygate.core.errors import NotPermitted, Refusal, Span, SyntaxRefused
from querygate.core.types import folded
from querygate.sql.parse import DIALECT, parse, tokens_of
from querygate.sql.postgres.text_parts import Kind, Part, parts_of

SCHEMA = "public"
"""The schema in which clients see datasets."""

_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)
MOST_PARAMETERS = 1000
LONGEST_TEXT = 50_000
"""A statement with its values, where a site does not allow more."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Characters from `start` to `end` of the old text that became others."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class EditedText:
    """A text after some edits, in their order."""

    text: str
    edits: tuple[Edit, ...] = ()

    def old_place(self, place: int) -> int:
        """Where a character of the new text stood in the old one; of a new one, where it came in."""
        shift = 0
        for edit in self.edits:
            begin = edit.start + shift
            if place < begin:
                break
            if place < begin + len(edit.text):
                return edit.start
            shift += len(edit.text) - (edit.end - edit.start)
        return place - shift

    def place_of(self, span: Span) -> int:
        """Where a span of the new text begins in the old one, counted from 0."""
        lines = self.text.split("\n")[: span.line - 1]
        return self.old_place(sum(len(line) + 1 for line in lines) + span.column - 1)


def edited(text: str, edits: Sequence[Edit]) -> EditedText:
    """
    >>> made = edited("SELECT $1 FROM t", [Edit(7, 9, "'abc'")])
    >>> made.text, made.old_place(13)
    ("SELECT 'abc' FROM t", 10)
    """
    ordered, parts, at = sorted(edits, key=lambda edit: edit.start), [], 0
    for edit in ordered:
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return EditedText("".join([*parts, text[at:]]), tuple(ordered))


def split_statements(text: str) -> list[tuple[int, str]]:
    """The statements of a text and where each begins.

    >>> split_statements("SELECT ';'; SELECT 2; -- end")
    [(0, "SELECT ';'"), (12, 'SELECT 2')]
    """
    found, begin, at, has_words = [], 0, 0, False
    for part in [*parts_of(text), Part(Kind.END, len(text), len(text))]:
        has_words = has_words or part.kind in (Kind.QUOTED, Kind.PARAMETER) or bool(text[at : part.start].strip())
        at = part.end
        if part.kind is Kind.END:
            statement = text[begin : part.start]
            if has_words:
                found.append((begin + len(statement) - len(statement.lstrip()), statement.strip()))
            begin, has_words = at, False
    return found


def check_length(length: int, longest: int) -> None:
    """Before anything of a text is read; QG102."""
    if length > longest:
        raise SyntaxRefused(
            "QG102",
            f"The statement has {length:,} characters with its values; the limit is {longest:,}.",
            "Shorten it. A long IN list can often be a BETWEEN.",
        )


def with_values(text: str, values: Sequence[str], datasets: Collection[str], longest: int = LONGEST_TEXT) -> EditedText:
    """With literals for `$1`, `$2` ..., and without `public.` before a dataset. A parameter that stands there often is
    written as often, so that the length is checked before.

    >>> with_values("SELECT COUNT(*) FROM public.t WHERE a IN ($1,$2)", ["1", "'$1'"], ["t"]).text
    "SELECT COUNT(*) FROM t WHERE a IN ( 1 , '$1' )"
    """
    parameters = _parameters(text)
    check_length(len(text) + sum(len(values[number - 1]) for number, _, _ in parameters), longest)
    edits = [
        Edit(start, _after_cast(text, end, values[number - 1]), f" {values[number - 1]} ")
        for number, start, end in parameters
    ]
    return edited(text, [*edits, *_schemas(_tokens(_named(text)), datasets)])


def _after_cast(text: str, at: int, literal: str) -> int:
    """Where a cast ends that says of a literal what it is already, as drivers write it: `DATE '2020-02-29'::date`."""
    cast = _CAST.match(text, at)
    kinds = next((kinds for begin, kinds in _LITERALS.items() if re.match(begin, literal)), ())
    return at if cast is None or cast[1].lower().strip('"') not in kinds else cast.end()


_WHOLE, _REAL = ("smallint", "int2", "integer", "int", "int4", "bigint", "int8"), ("real", "float", "float4", "float8")
_LITERALS: dict[str, tuple[str, ...]] = {
    "DATE '": ("date",),
    "TIMESTAMP '": ("timestamp", "timestamp without time zone", "timestamptz", "timestamp with time zone"),
    "'": ("text", "varchar", "character varying", "bpchar"),
    r"\(?-?\d+\)?$": _WHOLE,
    r"\(?-?[\d.]+\)?$": (*_REAL, "double precision", "numeric", "decimal"),
}
"""How literals begin, and the names of their types."""


def count_parameters(text: str) -> int:
    """The highest number of a parameter."""
    return max((number for number, _, _ in _parameters(text)), default=0)


def _parameters(text: str) -> list[tuple[int, int, int]]:
    """The number of each parameter, and where it stands."""
    numbered = (part for part in parts_of(text) if part.kind is Kind.PARAMETER)
    found = [(int(text[part.start + 1 : part.end]), part.start, part.end) for part in numbered]
    if any(number > MOST_PARAMETERS for number, _, _ in found):
        raise too_many_parameters()
    return [one for one in found if one[0]]


def too_many_parameters() -> NotPermitted:
    return NotPermitted("QG306", f"A statement has at most {MOST_PARAMETERS:,} parameters.", "Send fewer values.")


_MARK = "\ue000"
"""Stands for the dollar sign of a parameter: a letter to the parser, and in no text that a person writes."""


def _named(text: str) -> str:
    """With names for parameters, as long as they were: the parser takes `$1,$` for the beginning of a text."""
    pieces, at = [], 0
    for _, start, _ in _parameters(text):
        pieces += [text[at:start], _MARK]
        at = start + 1
    return "".join([*pieces, text[at:]])


def _parsed(text: str) -> exp.Expr | None:
    """The tree of a statement, with columns for parameters; None where it cannot be read."""
    try:
        return parse(_named(text))
    except Refusal:
        return None


def _tokens(text: str) -> Sequence[Token]:
    """The words and signs of a text; none where it cannot be read, which the gate will say."""
    try:
        return tokens_of(text)
    except SqlglotError:
        return ()


def _schemas(tokens: Sequence[Token], datasets: Collection[str]) -> list[Edit]:
    """`public.` before the name of a dataset, and `querygate.public.`."""
    names = {folded(name) for name in datasets}
    found = []
    for i, (schema, dot, table) in enumerate(zip(tokens, tokens[1:], tokens[2:], strict=False)):
        is_schema = schema.token_type in _NAMES and folded(schema.text) == SCHEMA and dot.token_type == TokenType.DOT
        if is_schema and folded(table.text) in names:
            start = schema.start
            if i >= 2 and tokens[i - 1].token_type == TokenType.DOT and tokens[i - 2].token_type in _NAMES:
                start = tokens[i - 2].start
            found.append(Edit(start, dot.end + 1, ""))
    return found


# -- what it is about -------------------------------------------------------------------------------------------------


def dataset_of(text: str, datasets: Collection[str]) -> str | None:
    """The dataset that a statement is about: the first table that is one, or else the first table that it names; None
    where it names none that can be found."""
    known = {folded(name): name for name in datasets}
    tree = _parsed(text)
    if tree is None:  # it will be refused; the gate says why, for the dataset that it seems to be about
        words = [known.get(folded(token.text)) for token in _tokens(_named(text)) if token.token_type in _NAMES]
        return next(filter(None, words), None)
    named = [table.name for table in tree.find_all(exp.Table) if table.name]
    inner = {folded(cte.alias) for cte in tree.find_all(exp.CTE)}
    outer = [name for name in named if folded(name) not in inner] or named
    return next((known[folded(name)] for name in outer if folded(name) in known), outer[0] if outer else None)


def parameter_columns(text: str, columns: Mapping[str, str]) -> dict[int, str]:
    """By parameter, the type of the column that it is compared with, as far as the statement shows it.

    >>> parameter_columns("SELECT COUNT(*) FROM t WHERE age > $1 LIMIT $2", {"age": "integer"})
    {1: 'integer', 2: 'integer'}
    """
    tree, found = _parsed(text), {}
    for node in tree.find_all(exp.Column) if tree is not None else ():
        kind = _compared_with(node, columns) if node.name.startswith(_MARK) else None
        if kind:
            found[int(node.name[1:])] = kind
    return dict(sorted(found.items()))


def _compared_with(node: exp.Expr, columns: Mapping[str, str]) -> str | None:
    around = node.parent
    if isinstance(around, (exp.Limit, exp.Offset)):
        return "integer"
    while isinstance(around, (exp.Paren, exp.Neg)):
        around = around.parent
    if not isinstance(around, (exp.Predicate, exp.Between, exp.In)):
        return None
    names = [column.name for column in around.find_all(exp.Column)]
    return next((columns[folded(name)] for name in names if folded(name) in columns), None)


def parameter_casts(text: str) -> dict[int, str]:
    """By parameter, the type that it is cast to, as it is written.

    >>> parameter_casts("SELECT $1::oid[], $2 ::pg_catalog.int4, '$3::text'")
    {1: 'oid[]', 2: 'int4'}
    """
    casts = ((number, _CAST.match(text, end)) for number, _, end in _parameters(text))
    return {number: cast[1].lower().replace(" ", "") for number, cast in casts if cast}


_CAST = re.compile(
    r"\s*::\s*(?:pg_catalog\.)?\"?"
    r"(double precision|character varying|timestamp with(?:out)? time zone|\w+\"?(?:\s*\[\])?)"
    r"(?:\s*\(\s*\d+\s*(?:,\s*\d+\s*)?\))?",
    re.IGNORECASE,
)


def is_column_probe(text: str) -> bool:
    """Does it ask for columns alone, as tools do before they ask for rows? `LIMIT 0` gives no row of anything, and
    neither does a condition that is false for every row, without aggregates, which would give one.

    >>> is_column_probe("SELECT * FROM t WHERE 0 = 1"), is_column_probe("SELECT COUNT(*) FROM t WHERE 0 = 1")
    (True, False)
    """
    tree = _parsed(text)
    if not isinstance(tree, exp.Select):
        return False
    limit = tree.args.get("limit")
    if isinstance(limit, exp.Limit) and limit.expression.sql(DIALECT) == "0":
        return True
    where = tree.args.get("where")
    counted = any(isinstance(node, (exp.AggFunc, exp.Anonymous, exp.Group)) for node in tree.walk())
    return where is not None and not counted and _is_false(where.this)


def _is_false(node: exp.Expr) -> bool:
    node = node.unnest()
    if isinstance(node, exp.EQ) and all(isinstance(side, exp.Literal) for side in (node.this, node.expression)):
        return {node.this.sql(), node.expression.sql()} == {"0", "1"}
    return isinstance(node, exp.Boolean) and not node.this
