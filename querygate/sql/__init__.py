"""Text to Plan. Pure: it knows the catalog, never the data. The only package that imports sqlglot.

>>> from querygate.core.types import Catalog, Column
>>> age = Column("age", 0, "quasi-identifier", "integer", False, 0, 120)
>>> catalog = Catalog("patients", 1, "", 5, 100, (age,))
>>> plan = understand("SELECT AVG(age) FROM patients WHERE age BETWEEN 40 AND 50", catalog)
>>> plan.outputs[0].name, plan.measures[1].column
('avg_age', 'age')
"""

from __future__ import annotations

from sqlglot import exp

from querygate.core.errors import Refusal
from querygate.core.plan import Plan
from querygate.core.ports import Limits
from querygate.core.types import Catalog
from querygate.sql.allow import allow
from querygate.sql.parse import parse, too_deep
from querygate.sql.plan import make_plan
from querygate.sql.qualify import qualify
from querygate.sql.spelling import check_spelling
from querygate.sql.suggest import suggest

__all__ = ["understand"]

LONGEST_EDITED = 2_000
"""A longer statement is refused without trying edits of it: each costs a parse, and nobody would read the outcome."""


def understand(sql: str, catalog: Catalog, limits: Limits | None = None) -> Plan:
    """parse, allow, qualify, plan, check the spelling. A refusal leaves with a suggestion wherever one is accepted."""
    limits = limits or Limits()
    tree = None
    try:
        tree = parse(sql, max_chars=limits.max_sql_chars, max_nesting=limits.max_nesting)
        return _plan(sql, tree, catalog, limits)
    except RecursionError:
        raise too_deep() from None
    except Refusal as refusal:
        if refusal.code not in ("QG102", "QG103", "QG104"):
            edited = tree if len(sql) <= LONGEST_EDITED else None
            refusal.suggestion = suggest(edited, catalog, lambda candidate: _is_accepted(candidate, catalog, limits))
        raise


def _plan(sql: str, tree: exp.Expr, catalog: Catalog, limits: Limits) -> Plan:
    allowed = allow(tree)
    plan = make_plan(allowed, qualify(allowed, catalog), max_groups=limits.max_groups)
    check_spelling(sql)
    return plan


def _is_accepted(sql: str, catalog: Catalog, limits: Limits) -> bool:
    try:
        _plan(sql, parse(sql, max_chars=limits.max_sql_chars, max_nesting=limits.max_nesting), catalog, limits)
    except (Refusal, RecursionError):
        return False
    return True
