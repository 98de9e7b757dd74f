"""The column that tells persons apart is in no answer: persons can be counted, and nothing else.

One row is one person, which publishing has checked: the column has a value in every row and none twice. So
`COUNT(DISTINCT mrn)` and `COUNT(mrn)` are `COUNT(*)`, and `COUNT(DISTINCT CASE WHEN age > 40 THEN mrn END)` counts the
records over 40, whatever the keys are. Where people have several rows, ranges cannot count them: an unknown column that
is counted says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from querygate.core.errors import Refusal, UnsupportedSQL
from querygate.core.types import Catalog, folded
from querygate.sql.aggregates import listed
from querygate.sql.parse import span_of

CLAUSES = ("expressions", "where", "group", "having", "qualify", "order")
"""Of a composed query; FROM still has the subqueries that were put in."""


def count_rows(tree: exp.Select, person: str) -> None:
    """Write every count of persons as one of rows. Whatever else is asked of the column is refused."""
    parts = [part for clause in CLAUSES for part in listed(tree.args.get(clause))]
    for count in [count for part in parts for count in part.find_all(exp.Count)]:
        asked = count.this
        value = asked.expressions[0] if isinstance(asked, exp.Distinct) and len(asked.expressions) == 1 else asked
        if isinstance(value, exp.Expr) and not count.expressions and _is_person_or_null(value, person):
            for node in list(_persons(value, person)):
                one = exp.Literal.number(1)
                value = one if node is value else value
                node.replace(one)
            count.set("this", value)
    left = next((node for part in parts for node in _persons(part, person)), None)
    if left is not None:
        raise UnsupportedSQL(
            "QG209",
            f"{left.name} identifies people: it can only be counted.",
            f"Use COUNT(DISTINCT {left.name}), with conditions on other columns.",
            span=span_of(left),
        )


_COUNTED = re.compile(r"\bCOUNT\s*\(.*$", re.IGNORECASE)


def tell_of_several_rows(refusal: Refusal, sql: str, catalog: Catalog) -> None:
    """Let the refusal of a column that is not there say why people with several rows are not counted. Only the options
    of noise name their column.
    """
    span, lines = refusal.span, sql.split("\n")
    if refusal.code != "QG203" or not catalog.persons or span is None or not 1 <= span.line <= len(lines):
        return
    line, start = lines[span.line - 1], span.column - 1
    asked = line[start : start + span.length].strip('"')
    why = "Ranges cannot count people who have several rows."
    if catalog.noise is not None and catalog.noise.person and folded(asked) == folded(catalog.noise.person):
        refusal.detail = f"{catalog.noise.person} identifies people. {why}"
        refusal.remedy = f"Use mode laplace for COUNT(DISTINCT {catalog.noise.person}), or count rows with COUNT(*)."
    elif _COUNTED.search(line[:start]):
        refusal.remedy = f"{refusal.remedy} {why}"


def _persons(tree: exp.Expr, person: str) -> Iterator[exp.Column]:
    return (node for node in tree.find_all(exp.Column) if folded(node.name) == folded(person))


def _is_person_or_null(node: exp.Expr, person: str) -> bool:
    """Is the value the person's or none? Then no two rows have the same."""
    if isinstance(node, exp.Column):
        return folded(node.name) == folded(person)
    if isinstance(node, exp.Paren):
        return _is_person_or_null(node.this, person)
    if isinstance(node, exp.Case):
        if node.this is not None and any(_persons(node.this, person)):
            return False
        tests = [one.this for one in node.args["ifs"]]
        values = [one.args["true"] for one in node.args["ifs"]]
        values += [node.args["default"]] if node.args.get("default") is not None else []
    elif isinstance(node, exp.If):
        tests, values = [node.this], [node.args["true"]]
        values += [node.args["false"]] if node.args.get("false") is not None else []
    else:
        return False
    if any(True for test in tests for _ in _persons(test, person)):
        return False
    named = [value for value in values if not isinstance(value, exp.Null)]
    return bool(named) and all(_is_person_or_null(value, person) for value in named)
