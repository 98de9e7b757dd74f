"""The condition that selects the records of an extract: read and worded by the gate, never run as it was written."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from querygate.core.errors import ExtractRefused, Refusal, Span
from querygate.core.extracts.extract_spec import invalid
from querygate.core.ports import Native
from querygate.core.types import Catalog, folded
from querygate.sql.allow_list import allow
from querygate.sql.compose import compose
from querygate.sql.name_text import in_quotes, name_text
from querygate.sql.noisy_plan import understand_noisy
from querygate.sql.parse import parse
from querygate.sql.restatement import own_wording
from querygate.sql.suggestions.quoted_names import with_quotes


def read_condition(where: str, catalog: Catalog, native: Native) -> tuple[str, frozenset[str]]:
    """The condition in the gate's own words, and the columns it speaks of; a refusal where it is none of this dataset's
    columns alone.
    """
    if not where:
        return "", frozenset()
    before = f"SELECT COUNT(*) FROM {name_text(catalog.dataset)} WHERE "  # noqa: S608 - it is read, and never run
    statement = before + where
    person = catalog.person or (catalog.noise.person if catalog.noise is not None else "")
    catalog = replace(catalog, person="", noise=None)  # nobody is selected by who they are, and nobody is counted here
    try:
        plan = understand_noisy(statement, catalog, native)
    except Refusal as refusal:
        lists = [column.name for column in catalog.columns if column.is_codes and folded(column.name) in folded(where)]
        if lists:
            raise invalid("where", f"extracts cannot be selected by code lists ({lists[0]})") from None
        if refusal.code == "QG203" and person and folded(person) in folded(where):
            raise invalid(
                "where", f"extracts cannot be selected by the column that identifies people ({person})"
            ) from None
        refusal.span = _in_where(refusal.span, len(before))
        edited, odd = with_quotes(where, catalog)
        if odd and _is_read(before + edited, catalog, native):
            refusal.remedy = f"Write {', '.join(map(in_quotes, odd))} in double quotes."
        raise
    asked = plan.plan
    if asked.keys or len(plan.releases) != 1 or asked.orders or asked.offset or asked.limit is not None:
        raise ExtractRefused("QG604", "where: must be a single condition.", "Correct where in the request.")
    return _worded(statement, catalog), asked.columns


def _in_where(span: Span | None, before: int) -> Span | None:
    """The place in the condition itself, for whoever wrote no more than that."""
    if span is None or span.line > 1:
        return span
    return replace(span, column=span.column - before) if span.column > before else None


def _is_read(statement: str, catalog: Catalog, native: Native) -> bool:
    try:
        understand_noisy(statement, catalog, native)
    except Refusal:
        return False
    return True


_NEVER_FAILS = (
    *(exp.Column, exp.Identifier, exp.Literal, exp.Boolean, exp.Null, exp.Paren),
    *(exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In, exp.Is),
)


def _worded(sql: str, catalog: Catalog) -> str:
    """The WHERE of a statement that has been understood, written out from the tree.

    It is NULL for a row for which it has no result: an error would tell that there is such a row. Columns compared with
    constants have a result always, and are read faster as they are.
    """
    condition = compose(allow(parse(sql)), catalog)[0].tree.args["where"].this
    text = own_wording(condition)
    return text if all(isinstance(part, _NEVER_FAILS) for part in condition.walk()) else f"TRY({text})"
