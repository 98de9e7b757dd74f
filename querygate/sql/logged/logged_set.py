"""Whom a logged statement selects, in its own words."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from querygate.sql.logged.logged_conditions import UnauditableStatement
from querygate.sql.logged.logged_statement import read_statement
from querygate.sql.parse import DIALECT

_WITHIN = (exp.Filter, exp.Case, exp.If, exp.Subquery, exp.CTE, exp.Union, exp.Join)
"""Statements with one of these have more than one set, or none that a condition names."""


@dataclass(frozen=True, slots=True)
class LoggedSet:
    """The condition of a statement, empty where it selects everybody, and whether it divides them into groups."""

    condition: str
    is_grouped: bool


def logged_set(sql: str, dialect: str = DIALECT) -> LoggedSet | None:
    """None where that takes more than a condition.

    >>> logged_set("SELECT AVG(sbp) FROM t WHERE age < 51")
    LoggedSet(condition='age < 51', is_grouped=False)
    """
    try:
        tree = read_statement(sql, dialect)
    except UnauditableStatement:
        return None
    if not isinstance(tree, exp.Select) or tree.find(*_WITHIN) is not None:
        return None
    where = tree.args.get("where")
    condition = where.this.sql(dialect=DIALECT) if where is not None else ""
    return LoggedSet(condition, tree.args.get("group") is not None)
