"""Notes on constants that no record can have: a category's public values tell a misspelling from an empty group.

Wherever a statement compares: in WHERE, in FILTER, in the CASE of a sum, in HAVING, around a subquery. Where a
category has a name for rare values, a constant that is none of its values may be one of those, and whether it is cannot
be told.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterator

from sqlglot import exp

from querygate.core.errors import UnsupportedSQL
from querygate.core.types import Column, folded
from querygate.sql.aggregates import is_aggregate
from querygate.sql.context import Context
from querygate.sql.name_text import name_text
from querygate.sql.parse import span_of
from querygate.sql.tabulation import is_tabulable

MOST_VALUES, MOST_CHARS = 12, 240


def note_constants(tree: exp.Expr, context: Context) -> None:
    """A note for each text that a category is compared with and that is none of its values, and for each category that
    has a name for rare values; UnsupportedSQL QG207 where the text may be one of those."""
    for node in tree.dfs():
        if isinstance(node, exp.Column) and (column := context.columns.get(folded(node.name))) and column.rare:
            context.note(f"Rare values of {context.name_of(column)} are combined as '{column.rare}' here.")
        for name, text in compared(node):
            column = context.columns.get(folded(name.name))
            if column is None or column.type != "category" or text.this in column.values:
                continue
            known = context.name_of(column)
            said = f"'{_cut(text.this)}' is not a value of {known}; values: {_listed(column, text.this)}."
            if column.rare:
                other = f"{name_text(known)} = {exp.Literal.string(column.rare).sql('duckdb')}"
                meant = meant_value(column, text.this)
                raise UnsupportedSQL(
                    "QG207",
                    f"{said} It may be one of the rare values, which are combined as '{column.rare}'.",
                    f"Did you mean '{_cut(meant)}'? The rare values are {other}."
                    if meant
                    else f"Use {other}, or one of the listed values.",
                    span=span_of(text),
                )
            context.note(said)


def meant_value(column: Column, text: str) -> str | None:
    """The one public value that differs from a text by case, accents or spaces around it alone."""
    near = [value for value in column.values if _plain(value) == _plain(text)]
    return near[0] if len(near) == 1 else None


def _plain(text: str) -> str:
    apart = unicodedata.normalize("NFKD", text.strip().casefold())
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def note_groups(having: exp.Expr, context: Context) -> None:
    """The same for a condition on groups. What it says of a category alone is read as if it were said of records."""
    note_constants(having, context)
    rest = [having]
    while rest:
        node = rest.pop(0).unnest()
        if isinstance(node, exp.And | exp.Or | exp.Not):
            rest = [*([node.this] if isinstance(node, exp.Not) else node.flatten()), *rest]
        elif not any(is_aggregate(part) or isinstance(part, exp.Grouping | exp.GroupingId) for part in node.walk()):
            found = context.columns_of(node)
            if len(found) == 1 and found[0].type == "category" and is_tabulable(found[0]):
                context.condition(node, context)


def compared(node: exp.Expr) -> Iterator[tuple[exp.Column, exp.Literal]]:
    """The column and each text that a node compares for being equal."""
    if isinstance(node, exp.EQ | exp.NEQ | exp.NullSafeEQ | exp.NullSafeNEQ):
        sides = [node.this, node.expression]
    elif isinstance(node, exp.In):
        sides = [node.this, *node.expressions]
    elif isinstance(node, exp.Case) and node.this is not None:
        sides = [node.this, *(branch.this for branch in node.args["ifs"])]
    else:
        return
    plain = [side.unnest() for side in sides]
    names = [side for side in plain if isinstance(side, exp.Column)]
    for text in plain if len(names) == 1 else ():
        if isinstance(text, exp.Literal) and text.is_string:
            yield names[0], text


def nothing_matches(column: Column, name: str, wording: str) -> str:
    """A note on a condition that holds for no value of a category."""
    return f"No value of {name} satisfies {_cut(wording)}; values: {_listed(column, wording)}."


def _listed(column: Column, near: str) -> str:
    """The values, the most similar ones where there are many."""
    values = list(column.values)
    if len(values) > MOST_VALUES:
        by_folded = {folded(value): value for value in reversed(values)}
        close = difflib.get_close_matches(folded(near), by_folded, n=MOST_VALUES, cutoff=0.5)
        values = list(dict.fromkeys([*(by_folded[text] for text in close), *values]))[:MOST_VALUES]
    listed: list[str] = []
    for text in (_cut(value) or "''" for value in values):
        if sum(map(len, listed)) + len(text) > MOST_CHARS:
            break
        listed.append(text)
    left = len(column.values) - len(listed)
    return ", ".join([*listed, *([f"and {left:,} more"] if left else [])]) or "none"


def _cut(text: str) -> str:
    """On one line, and no longer than a line."""
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:57]}..."
