"""The gate's own wording of a statement, with every operation in brackets.

A tree can look right although the text was not: the parser reads many dialects, drops a comma too many or a unary plus,
puts clauses into order, has a precedence of its own. So the tree that would be answered is written out again, fully
bracketed, and the database must read both texts alike; then the same text asks the same of the gate and of the raw
table, in every construct there is.
"""

from __future__ import annotations

from sqlglot import exp

from querygate.core.errors import Span, SyntaxRefused
from querygate.core.ports import Native
from querygate.sql.parse import let_go, written

_OPERATIONS = (exp.Binary, exp.Not, exp.Neg, exp.Between, exp.In, exp.Is)
_RENAMED = (exp.Log, exp.LogicalOr, exp.LogicalAnd, exp.Mode, exp.PercentileCont, exp.PercentileDisc)
_CHANGED = (*_OPERATIONS, *_RENAMED)
_UNBRACKETED = (exp.Dot, exp.Escape, exp.PropertyEQ, exp.Corr)


def own_wording(tree: exp.Expr, *, copy: bool = True) -> str:
    """The text of a tree in which nothing is left to precedence; without `copy` the tree gets the brackets too.

    >>> from sqlglot import parse_one
    >>> own_wording(parse_one("a OR NOT b AND c", dialect="duckdb"))
    'a OR ((NOT b) AND c)'
    """
    tree = tree.copy() if copy else tree  # to generate is to change: nodes get other parents
    for node in list(tree.walk(bfs=False))[::-1]:
        if not isinstance(node, _CHANGED):
            continue
        plain = _plain(node)
        if plain is not None:
            node.replace(plain)
            continue
        if isinstance(node, exp.Not) and node.parent is not None and _is_null_test(node.this.unnest()):
            node = _not_null(node)
        inside = node.parent is not None and not isinstance(node.parent, exp.Paren)
        if inside and isinstance(node, _OPERATIONS) and not isinstance(node, _UNBRACKETED):
            if isinstance(node.parent, exp.Escape) or _is_chained(node):
                continue
            bracket = exp.Paren()
            node.replace(bracket)
            bracket.set("this", node)
    text = written(tree)
    if copy:
        let_go(tree)
    return text


def plain_wording(tree: exp.Expr) -> str:
    """The text of a tree as a person would write it."""
    tree = tree.copy()
    for node in list(tree.walk(bfs=False))[::-1]:
        plain = _plain(node)
        if plain is not None:
            node.replace(plain)
    return written(tree)


def wording_over_x(node: exp.Expr) -> str:
    """The SQL of an expression over its only column, which is called x."""
    node = exp.Paren(this=node.copy())
    for found in list(node.find_all(exp.Column)):
        found.replace(exp.column("x"))
    return own_wording(node, copy=False)


def _is_null_test(node: exp.Expr) -> bool:
    return isinstance(node, exp.Is) and isinstance(node.expression, exp.Null)


def _not_null(node: exp.Not) -> exp.Expr:
    """NOT x IS NULL as x IS NOT NULL, as most people write it: texts that are alike word by word are compared fast."""
    test: exp.Expr = node.this.unnest()
    test.set("expression", exp.Not(this=exp.Null()))
    node.replace(test)
    return test


def _is_chained(node: exp.Expr) -> bool:
    """AND inside AND, OR inside OR: their order does not matter, and a chain of a thousand needs no brackets."""
    return isinstance(node, (exp.And, exp.Or)) and type(node) is type(node.parent)


def _plain(node: exp.Expr) -> exp.Expr | None:
    """What to write instead, for functions that the generator would turn into others."""
    if not isinstance(node, _RENAMED):
        return None
    if isinstance(node, exp.Log) and node.expression is not None and str(node.this) in ("2", "10"):
        # LOG2 and LOG10 are functions of their own, whose last digit may differ from LOG with a base
        return exp.Anonymous(this=f"LOG{node.this}", expressions=[node.expression])
    if isinstance(node, (exp.LogicalOr, exp.LogicalAnd)):  # without the cast that the generator puts in
        name = "BOOL_OR" if isinstance(node, exp.LogicalOr) else "BOOL_AND"
        return exp.Anonymous(this=name, expressions=[node.this])
    if isinstance(node, exp.Mode) and isinstance(node.parent, exp.WithinGroup):
        return exp.Anonymous(this="MODE", expressions=[])
    if isinstance(node, (exp.PercentileCont, exp.PercentileDisc)) and isinstance(node.parent, exp.WithinGroup):
        return exp.Anonymous(this=type(node).sql_name(), expressions=[node.this])
    return None


def check_wording(sql: str, own: str, native: Native) -> None:
    """Refuse a statement that the database does not read as it reads the gate's own wording of it."""
    reading = native.read(sql, own)
    if reading.alike:
        return
    if reading.position is not None:
        before = sql[: reading.position]
        span = Span(before.count("\n") + 1, reading.position - before.rfind("\n"))
        raise SyntaxRefused(
            "QG101", "The statement is not valid DuckDB SQL from this place on.", "Correct it there.", span=span
        )
    raise SyntaxRefused(
        "QG101",
        "The meaning of this statement is ambiguous: DuckDB would read it differently from the gate.",
        "Use plain SQL: ordinary operators, commas and parentheses, and the usual function names.",
    )
