"""A statement to its plan, or a refusal with a suggestion: the passes of this package in their order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from querygate.core.errors import Refusal
from querygate.core.limits.deadline import over_the_limit
from querygate.core.margin_choice import check_linked
from querygate.core.plan import Plan
from querygate.core.ports import Limits, Native
from querygate.core.types import Catalog
from querygate.sql.allow_list import allow
from querygate.sql.compose import compose, reading_notes
from querygate.sql.parse import at_function, let_go, parse, too_deep
from querygate.sql.person_column import tell_of_several_rows
from querygate.sql.planner import make_plan
from querygate.sql.restatement import check_wording, own_wording
from querygate.sql.subqueries.unions import join_plans
from querygate.sql.suggestions.other_dialects import rewritten
from querygate.sql.suggestions.quoted_names import with_quotes
from querygate.sql.suggestions.safe_divisors import with_nullif
from querygate.sql.suggestions.suggestion_search import suggest
from querygate.sql.suggestions.written_values import REMEDY, as_sql_writes
from querygate.sql.work_limit import WorkLimit

LONGEST_EDITED = 800
"""A longer statement is refused without trying edits of it: each costs a parse, and nobody would read the outcome."""


def understand(sql: str, catalog: Catalog, native: Native, limits: Limits | None = None) -> Plan:
    """The plan of a statement. A refusal leaves with a suggestion wherever one is accepted."""
    limits = limits or Limits()
    try:
        return _plan(sql, catalog, native, limits)
    except RecursionError:
        raise too_deep() from None
    except Refusal as refusal:
        if refusal.code == "QG204" and refusal.span is not None:
            refusal.span = at_function(sql, refusal.span)
        tell_of_several_rows(refusal, sql, catalog)
        if refusal.code not in ("QG102", "QG103", "QG104"):
            _add_suggestion(refusal, sql, lambda edited: _refusal_of(edited, catalog, native, limits), catalog, limits)
        raise


def accepted_plan(sql: str, catalog: Catalog, native: Native, limits: Limits) -> Plan | None:
    """The plan of a statement, None where it is refused: for those who would not read why. Raises QG305."""
    try:
        return _plan(sql, catalog, native, limits)
    except RecursionError:
        return None
    except Refusal as refusal:
        if refusal.code == over_the_limit().code:
            raise
        return None


ANOTHER = "The suggestion is a different query."
"""Ends the remedy of a refusal whose suggestion is accepted and is not what was asked."""


OTHER_DATABASE = "It seems to be written for another database: write it as DuckDB and PostgreSQL do."
"""The remedy of a refusal whose suggestion says the same in words that are read here."""


def _add_suggestion(
    refusal: Refusal, sql: str, refusal_of: Callable[[str], Refusal | None], catalog: Catalog, limits: Limits
) -> None:
    quoted, odd = with_quotes(sql, catalog)
    if odd and len(sql) <= LONGEST_EDITED:
        listed = ", ".join(f'"{name}"' for name in odd)
        left = refusal_of(quoted)
        if left is None:
            refusal.suggestion, refusal.remedy = quoted, f"Write {listed} in double quotes."
            return
        if refusal.code == "QG101" != left.code:  # the quotes are what it lacks first
            refusal.remedy = f"Write {listed} in double quotes. Then there is more: {left} {left.remedy}"
            sql = quoted
    if refusal.code in ("QG101", "QG207", "QG209") and len(sql) <= LONGEST_EDITED:
        written = as_sql_writes(sql)
        if written != sql and refusal_of(written) is None:
            refusal.suggestion, refusal.remedy = written, REMEDY
            return
    if refusal.code in ("QG101", "QG203", "QG204", "QG207") and len(sql) <= LONGEST_EDITED:
        known = next((other for other in rewritten(sql) if refusal_of(other) is None), None)
        if known is not None:
            refusal.suggestion, refusal.remedy = known, OTHER_DATABASE
            return
    found = suggest(_edited(sql, limits), catalog, lambda edited: refusal_of(edited) is None)
    if found is not None:
        refusal.suggestion = found.sql
        refusal.remedy = refusal.remedy if found.same else f"{refusal.remedy} {ANOTHER}"


def without_zero_divisors(sql: str, catalog: Catalog, native: Native, limits: Limits | None = None) -> str | None:
    """The statement with NULLIF around its divisors, where that is another one and is accepted."""
    edited = with_nullif(sql)
    accepted = edited is not None and _refusal_of(edited, catalog, native, limits or Limits()) is None
    return edited if accepted else None


def _plan(sql: str, catalog: Catalog, native: Native, limits: Limits) -> Plan:
    tree = allow(parse(sql, max_chars=limits.max_sql_chars, max_nesting=limits.max_nesting))
    own = own_wording(tree)  # before its parts are put together anew
    notes = reading_notes(tree, catalog)
    bounded, queries = WorkLimit(native), compose(tree, catalog)
    plans = [make_plan(query, catalog, bounded, limits) for query in queries]
    said = tuple(dict.fromkeys([*notes, *(note for plan in plans for note in plan.notes)]))
    joined = replace(join_plans(plans), notes=said)
    check_linked(joined, catalog)
    check_wording(sql, own, native)
    for query in queries:
        let_go(query.tree)
    return joined


def _edited(sql: str, limits: Limits) -> exp.Expr | None:
    """The tree that suggestions are edits of."""
    if len(sql) > LONGEST_EDITED:
        return None
    try:
        tree = parse(sql, max_nesting=limits.max_nesting)
    except Refusal:
        return None
    for node in tree.walk():
        node._meta = None  # where it stands in the text: of no use here, and most of what a copy costs
    return tree


def _refusal_of(sql: str, catalog: Catalog, native: Native, limits: Limits) -> Refusal | None:
    """Why a statement is refused; None where it is accepted."""
    try:
        _plan(sql, catalog, native, limits)
    except RecursionError:
        return too_deep()
    except Refusal as refusal:
        return refusal
    return None
