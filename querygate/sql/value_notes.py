"""Notes on constants that no record can have: a category's public values tell a misspelling from an empty group."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from querygate.core.types import Column, folded

MOST_VALUES, MOST_CHARS = 12, 240


def unknown_values(column: Column, constants: Sequence[object]) -> list[str]:
    """A note for each text that a category is compared with and that is none of its values."""
    if column.type != "category":
        return []
    unknown = [text for text in constants if isinstance(text, str) and text not in column.values]
    return [f"'{_cut(text)}' is not a value of {column.name}; values: {_listed(column, text)}." for text in unknown]


def nothing_matches(column: Column, wording: str) -> str:
    """A note on a condition that holds for no value of a category."""
    return f"No value of {column.name} satisfies {_cut(wording)}; values: {_listed(column, wording)}."


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
