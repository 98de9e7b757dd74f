"""Step 2: only what the gate can bound passes, and nothing is dropped silently.

The grammar is an allow-list of node kinds and, for each, of the parts it may have. A part that is present and not
listed (OFFSET, HAVING, DISTINCT, a hint ...) is a refusal, so a construct this version has never heard of cannot
slip through with its meaning changed.
"""

from __future__ import annotations

from sqlglot import exp

from querygate.core.errors import Refusal, Span, UnsupportedSQL
from querygate.sql.parse import span_of

AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}
COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)

_BINARY = frozenset({"this", "expression"})
_UNARY = frozenset({"this"})
GRAMMAR: dict[type[exp.Expr], frozenset[str]] = {
    exp.Select: frozenset({"expressions", "from_", "where", "group", "order", "limit"}),
    exp.From: _UNARY,
    exp.Table: frozenset({"this", "alias"}),
    exp.TableAlias: _UNARY,
    exp.Identifier: frozenset({"this", "quoted"}),
    exp.Column: frozenset({"this", "table"}),
    exp.Alias: frozenset({"this", "alias"}),
    exp.Star: frozenset(),
    exp.Count: frozenset({"this", "big_int"}),
    exp.Sum: _UNARY,
    exp.Avg: _UNARY,
    exp.Min: _UNARY,
    exp.Max: _UNARY,
    exp.Where: _UNARY,
    exp.Group: frozenset({"expressions"}),
    exp.Order: frozenset({"expressions"}),
    exp.Ordered: frozenset({"this", "desc", "nulls_first"}),
    exp.Limit: frozenset({"expression"}),
    exp.And: _BINARY,
    exp.Or: _BINARY,
    exp.Not: _UNARY,
    exp.Paren: _UNARY,
    **dict.fromkeys(COMPARISONS, _BINARY),
    exp.Between: frozenset({"this", "low", "high"}),
    exp.In: frozenset({"this", "expressions"}),
    exp.Is: _BINARY,
    exp.Null: frozenset(),
    exp.Boolean: _UNARY,
    exp.Literal: frozenset({"this", "is_string"}),
    exp.Neg: _UNARY,
    exp.Cast: frozenset({"this", "to"}),
    exp.DataType: frozenset({"this", "nested"}),
}

_CLAUSES = {
    "joins": "JOIN",
    "with_": "WITH",
    "having": "HAVING",
    "distinct": "DISTINCT",
    "offset": "OFFSET",
    "windows": "WINDOW",
    "qualify": "QUALIFY",
    "sample": "SAMPLE",
    "laterals": "LATERAL",
    "symmetric": "SYMMETRIC",
    "limit_options": "LIMIT in percent or WITH TIES",
    "expressions": "LIMIT BY",
}


def allow(tree: exp.Expr) -> exp.Select:
    """The tree as a SELECT inside the grammar."""
    if isinstance(tree, exp.SetOperation):
        raise UnsupportedSQL(
            "QG206", "UNION, INTERSECT and EXCEPT are not available.", "Send each SELECT by itself.", span=span_of(tree)
        )
    if not isinstance(tree, exp.Select):
        raise UnsupportedSQL(
            "QG202",
            "Only SELECT with aggregates is accepted; the gate changes nothing and shows no settings.",
            "Ask for COUNT, SUM, AVG, MIN or MAX.",
            span=span_of(tree),
        )
    if tree.args.get("from_") is None:
        raise UnsupportedSQL("QG205", "There is no FROM.", "Name the dataset in FROM.", span=span_of(tree))
    _check_sources(tree)
    stack: list[exp.Expr] = [tree]
    while stack:
        node = stack.pop()
        listed = GRAMMAR.get(type(node))
        if listed is None:
            raise _outside(node)
        for name, value in node.args.items():
            if not value and not (name == "all" and value is False):  # all=False is GROUP BY DISTINCT
                continue
            if name not in listed:
                raise _part(node, name)
            stack.extend(part for part in (value if isinstance(value, list) else [value]) if isinstance(part, exp.Expr))
    return tree


def _check_sources(tree: exp.Select) -> None:
    """Say what is wrong with FROM before anything inside it is looked at."""
    source = tree.args["from_"].this
    if not isinstance(source, exp.Table) or not isinstance(source.this, exp.Identifier):
        raise UnsupportedSQL(
            "QG205",
            "FROM takes the name of a dataset: no subquery, no function, no file.",
            "Write FROM and the dataset's name.",
            span=span_of(source),
        )
    if tree.args.get("joins"):
        raise UnsupportedSQL(
            "QG205",
            "JOIN is not available: FROM takes one dataset.",
            "Ask each dataset by itself.",
            span=span_of(tree.args["joins"][0]),
        )


def _part(node: exp.Expr, name: str) -> Refusal:
    """A known kind of node with a part that is not listed."""
    value = node.args[name]
    first = value[0] if isinstance(value, list) else value
    span = span_of(first) if isinstance(first, exp.Expr) else span_of(node)
    if isinstance(node, exp.Table):
        return UnsupportedSQL(
            "QG205", "FROM takes the dataset's name alone.", "Leave out schema, sample and other additions.", span=span
        )
    if isinstance(node, exp.Group):
        return _grouping(span)
    if isinstance(node, (exp.Select, exp.Limit, exp.Between)):
        clause = _CLAUSES.get(name, name.rstrip("_").replace("_", " ").upper())
        return UnsupportedSQL("QG206", f"{clause} is not available.", f"Leave out {clause}.", span=span)
    if isinstance(node, tuple(AGGREGATES)):
        return UnsupportedSQL(
            "QG207", "An aggregate takes one column (or * in COUNT).", "Write for example AVG(column).", span=span
        )
    if isinstance(node, exp.In):
        return UnsupportedSQL("QG208", "IN takes a list of values.", "Write IN (value, value, ...).", span=span)
    return UnsupportedSQL("QG207", "This part of the expression is not available.", "Leave it out.", span=span)


def _grouping(span: Span | None) -> Refusal:
    return UnsupportedSQL(
        "QG206",
        "GROUP BY takes a list of columns (no ALL, DISTINCT, ROLLUP, CUBE or GROUPING SETS).",
        "List the columns.",
        span=span,
    )


def _outside(node: exp.Expr) -> Refusal:
    """A kind of node that is not in the grammar."""
    span = span_of(node)
    if isinstance(node, exp.Distinct):
        return UnsupportedSQL("QG206", "DISTINCT is not available.", "Leave out DISTINCT.", span=span)
    if isinstance(node, (exp.Subquery, exp.Select, exp.Exists)):
        return UnsupportedSQL("QG206", "Subqueries are not available.", "Ask for one aggregate SELECT.", span=span)
    if isinstance(node, (exp.Rollup, exp.Cube, exp.GroupingSets)):
        return _grouping(span)
    if isinstance(node, (exp.Filter, exp.Window, exp.WithinGroup)):
        return UnsupportedSQL(
            "QG206", "FILTER, OVER and WITHIN GROUP are not available.", "Put the condition into WHERE.", span=span
        )
    if isinstance(node, (exp.Placeholder, exp.Parameter)):
        return UnsupportedSQL("QG207", "Parameters are not available.", "Write the value itself.", span=span)
    if isinstance(node, exp.Predicate):
        return UnsupportedSQL(
            "QG208",
            "This condition is not available.",
            "Use = <> < <= > >=, BETWEEN, IN, IS NULL, AND, OR and NOT with a column and values.",
            span=span,
        )
    if isinstance(node, exp.Func):
        return UnsupportedSQL(
            "QG204",
            "This function is not available.",
            "Available are COUNT, SUM, AVG, MIN and MAX of a column.",
            span=span,
        )
    return UnsupportedSQL(
        "QG207",
        "This expression is not available.",
        "Use columns and values as they are, without arithmetic.",
        span=span,
    )
