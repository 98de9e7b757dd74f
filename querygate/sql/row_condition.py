"""The condition of a statement in the gate's own words, for a custodian's job on raw rows: whom an extract holds."""

from __future__ import annotations

from sqlglot import exp

from querygate.core.types import Catalog
from querygate.sql.allow import allow
from querygate.sql.compose import compose
from querygate.sql.parse import parse
from querygate.sql.restatement import own_wording

_NEVER_FAILS = (
    *(exp.Column, exp.Identifier, exp.Literal, exp.Boolean, exp.Null, exp.Paren),
    *(exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In, exp.Is),
)


def row_condition(sql: str, catalog: Catalog) -> str:
    """The WHERE of a statement that has been understood, written out from the tree; empty where there is none.

    It is NULL for a row for which it has no result: an error would tell that there is such a row. Columns compared with
    constants have a result always, and are read faster as they are.
    """
    clause = compose(allow(parse(sql)), catalog)[0].tree.args.get("where")
    if clause is None:
        return ""
    text = own_wording(clause.this)
    return text if all(isinstance(part, _NEVER_FAILS) for part in clause.this.walk()) else f"TRY({text})"
