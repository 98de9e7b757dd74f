"""Tests of code lists: has_code, has_any, has_all and has_code_under, and the one place where such a column may stand.

A code that the public list does not have is refused, not answered with nobody: a slip must not look like a finding.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypeAlias

from sqlglot import exp

from querygate.core.errors import UnsupportedSQL
from querygate.core.predicate import Predicate, both, compare, either, has_any
from querygate.core.types import Catalog, Column, folded
from querygate.core.valueset import ValueSet
from querygate.sql.name_text import column_node, name_text
from querygate.sql.parse import parse, span_of

TESTS = frozenset({"has_code", "has_any", "has_all", "has_code_under"})
UNLISTED = "other"
"""The code of what a list does not have."""

_OF_ONE = frozenset({"has_code", "has_code_under"})

Lookup: TypeAlias = Callable[[exp.Column], "Column | None"]


def is_code_test(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and str(node.this).lower() in TESTS


def check_codes(tree: exp.Select, columns: Mapping[str, Column]) -> None:
    """Code lists stand as the first argument of tests and nowhere else, and every test can be read.

    FROM is left out: what is asked of a subquery has been put in where it is asked.
    """

    if not any(column.is_codes for column in columns.values()) and not any(
        map(is_code_test, tree.find_all(exp.Anonymous))
    ):
        return

    def lookup(node: exp.Column) -> Column | None:
        return columns.get(folded(node.name))

    clauses = [*tree.expressions, *(tree.args.get(name) for name in ("where", "group", "having", "order"))]
    for node in (node for clause in clauses if clause for node in clause.find_all(exp.Column, exp.Anonymous)):
        if is_code_test(node):
            code_test(node, lookup)
        elif isinstance(node, exp.Column):
            column = lookup(node)
            if column is not None and column.is_codes and not _is_tested(node):
                raise _not_tested(node, column)


def code_test(node: exp.Expr, lookup: Lookup) -> Predicate:
    """The predicate of a test. What it lists are codes; under a group, all codes of the list that belong to it."""
    name = str(node.this).lower()
    given = [part.unnest() for part in node.expressions]
    column = lookup(given[0]) if given and isinstance(given[0], exp.Column) else None
    if column is None or not column.is_codes:
        raise UnsupportedSQL(
            "QG209",
            f"{name} works only on a column of codes, and this is not one.",
            f"Write {name}(column, 'code') with a column of type codes.",
            span=span_of(node),
        )
    texts = [_text(part, name, column) for part in given[1:]]
    if not texts or (name in _OF_ONE and len(texts) > 1):
        several = "one code" if name in _OF_ONE else "at least one code"
        raise UnsupportedSQL(
            "QG207", f"{name} needs a column and {several}.", _example(name, column), span=span_of(node)
        )
    if name == "has_code_under":
        return _has_any(column, _known_group(texts[0], column, given[1]), node)
    for text, part in zip(texts, given[1:], strict=True):
        _check_known(text, column, part)
    if name == "has_all":
        return both(_has_any(column, frozenset([text]), node) for text in texts)
    return _has_any(column, frozenset(texts), node)


def _has_any(column: Column, codes: frozenset[str], node: exp.Expr) -> Predicate:
    """The record has one of the codes. Where groups are told, it has one of the groups that these codes make up."""
    if not column.groups:
        return has_any(column.name, codes)
    return either(compare(name, ValueSet.points("text", ["true"])) for name in _flags(column, codes, node))


def _flags(column: Column, codes: frozenset[str], node: exp.Expr) -> list[str]:
    """The columns of the groups that these codes make up. Refuses codes that are no whole groups."""
    inside = {name: frozenset(own) for name, own in column.groups if codes.issuperset(own)}
    if frozenset[str]().union(*inside.values()) != codes:
        raise _not_told(column, codes, node)
    return [name for name, own in inside.items() if not any(own < other for other in inside.values())]


def with_flags(sql: str, catalog: Catalog) -> str:
    """A statement that was answered, with flags in the place of tests where groups are told; rows have those."""
    lists = {folded(column.name): column for column in catalog.columns if column.groups}
    if not lists:
        return sql
    tree = parse(sql)
    for node in [node for node in tree.find_all(exp.Anonymous) if is_code_test(node)]:
        column = lists.get(folded(node.expressions[0].unnest().name))
        if column is not None:
            texts = [part.unnest().name for part in node.expressions[1:]]
            name = str(node.this).lower()
            asked = [frozenset([text]) for text in texts] if name == "has_all" else [frozenset(texts)]
            asked = [codes_under(column, texts[0])] if name == "has_code_under" else asked
            each = [exp.or_(*map(column_node, _flags(column, codes, node))) for codes in asked]
            node.replace(exp.paren(exp.and_(*each)))
    return tree.sql("duckdb")


def _not_told(column: Column, codes: frozenset[str], node: exp.Expr) -> UnsupportedSQL:
    near = [name for name, own in column.groups if codes.intersection(own)]
    flags = near or [name for name, _ in column.groups]
    return UnsupportedSQL(
        "QG217",
        f"This dataset is published as views, which cover groups of the codes in {column.name}, and these codes are "
        f"{'not whole groups' if near else 'in none'}.",
        f"Ask for a whole group: {', '.join(map(name_text, flags))}. Each is a column that is true for records with "
        "one of its codes.",
        span=span_of(node),
    )


def codes_under(column: Column, group: str) -> frozenset[str]:
    """The codes of the list that belong to a group, itself among them if it is one.

    The column's own groups say so where it has any; else the spelling does, dots apart.

    >>> dx = Column("dx", 0, "codes", "codes", False, values=("401.1", "4019", "402.11"))
    >>> sorted(codes_under(dx, "401"))
    ['401.1', '4019']
    """
    if not column.parents:
        return _spelt_under(column, group)
    below = _below(column.parents)
    found: set[str] = set()
    waiting = [group]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += below.get(node, ())
    return frozenset(found).intersection(column.values)


def _spelt_under(column: Column, group: str) -> frozenset[str]:
    plain = _plain(group)
    return frozenset(code for code in column.values if plain and _plain(code).startswith(plain))


@lru_cache(maxsize=16)
def _below(parents: tuple[tuple[str, str], ...]) -> Mapping[str, list[str]]:
    """What belongs to each group. A system has ten thousands of codes, and every test of a statement looks there."""
    below: dict[str, list[str]] = {}
    for child, parent in parents:
        below.setdefault(parent, []).append(child)
    return below


def _plain(code: str) -> str:
    return code.replace(".", "")


# -- arguments ---------------------------------------------------------------------------------------------------------


def _text(node: exp.Expr, name: str, column: Column) -> str:
    if isinstance(node, exp.Literal) and node.is_string:
        return str(node.this)
    raise UnsupportedSQL(
        "QG207", f"{name} needs codes written as text in single quotes.", _example(name, column), span=span_of(node)
    )


def _check_known(text: str, column: Column, node: exp.Expr) -> None:
    if text in column.values:
        return
    alike = [code for code in column.values if _plain(code) == _plain(text)]
    if codes_under(column, text) and not alike:
        remedy = f"It may be a group of codes: use has_code_under({column.name}, '...')."
    else:
        remedy = _nearest(text, {code: code for code in alike or column.values})
    raise UnsupportedSQL("QG207", f"The code list of {column.name} has no such code.", remedy, span=span_of(node))


def _known_group(text: str, column: Column, node: exp.Expr) -> frozenset[str]:
    if not column.parents and UNLISTED in column.values:
        raise UnsupportedSQL(
            "QG207",
            f"Codes that are not in the list of {column.name} count as '{UNLISTED}', whatever they start with, so it "
            "is not known how many of them belong to this group.",
            f"Name the codes that you mean: has_any({column.name}, '...', '...').",
            span=span_of(node),
        )
    found = codes_under(column, text)
    if column.parents and text not in _below(column.parents) and _spelt_under(column, text) - found:
        raise UnsupportedSQL(
            "QG207",
            f"Codes that start like this are in several groups of {column.name}, and this text is not one of them.",
            f"Name the codes that you mean: has_any({column.name}, '...', '...'), or a group that they are in.",
            span=span_of(node),
        )
    if not found:
        groups = {parent: parent for _, parent in column.parents} or {_plain(code): code for code in column.values}
        detail = f"No code of {column.name} belongs to this group."
        raise UnsupportedSQL("QG207", detail, _nearest(text, groups), span=span_of(node))
    return found


def _nearest(text: str, known: Mapping[str, str]) -> str:
    near = difflib.get_close_matches(text, known, n=1) or difflib.get_close_matches(_plain(text), known, n=1)
    return f"Did you mean '{known[near[0]]}'?" if near else "The dataset description lists the codes."


def _example(name: str, column: Column) -> str:
    if column.groups:
        return f"Write, for example, {name_text(column.groups[0][0])}, a group of its codes."
    codes = column.values[:1] if name in _OF_ONE else column.values[:2]
    listed = ", ".join("'" + code.replace("'", "''") + "'" for code in codes)
    return f"Write, for example, {name}({column.name}, {listed})."


# -- where a code list may stand ---------------------------------------------------------------------------------------


def _is_tested(node: exp.Expr) -> bool:
    while isinstance(node.parent, exp.Paren):
        node = node.parent
    around = node.parent
    return around is not None and is_code_test(around) and around.expressions[0] is node


def _not_tested(node: exp.Column, column: Column) -> UnsupportedSQL:
    remedy = f"{_example('has_code', column)} Use it like any other condition."
    if node.find_ancestor(exp.Group) is not None:
        return UnsupportedSQL(
            "QG210", f"You cannot group by {column.name}: each record has a set of codes.", remedy, span=span_of(node)
        )
    return UnsupportedSQL(
        "QG209",
        f"Column {column.name} is a set of codes for each record: test it for codes; it cannot be compared, counted "
        "or shown.",
        remedy,
        span=span_of(node),
    )
