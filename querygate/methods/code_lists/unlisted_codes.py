"""Codes that a system does not have, put beside those of the groups that they belong to by their spelling.

ICD-10-CM has J45 and J45.2, and not J45.0 of other countries. Who asks for J45 asks for J45.0 too. So each group has
one more public code, `J45, other`, for whatever begins like it and is not listed. A code that is more detailed than a
listed one is that one: I10.90 is I10. What begins like none and lies in no range of categories is `other`.

A list without groups has none of this: whatever it does not have is `other`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from querygate.methods.code_lists.code_tree import OTHER, CodeTree

_RANGE = re.compile(r"([A-Z0-9]{2,5})-([A-Z0-9]{2,5})")


def with_unlisted(tree: CodeTree) -> CodeTree:
    """The tree with a code for the unlisted ones of each group, and one for all others.

    >>> small = CodeTree.of([("J45.2", "J45", "J40-J4A", "*"), ("J45", "J40-J4A", "*")])
    >>> with_unlisted(small).codes
    ('J40-J4A, other', 'J45', 'J45, other', 'J45.2', 'other')
    """
    strange = (OTHER, *(OTHER,) * (len(tree.levels) - 2), tree.names[-1][0])
    rows = {row[0]: row for row in (strange, *_unlisted_rows(tree))}
    return CodeTree.of([*(rows | {code: tree.row(code) for code in tree.codes}).values()], tree.height)


def _unlisted_rows(tree: CodeTree) -> Iterator[tuple[str, ...]]:
    """For each group the row of its unlisted codes. A group is not what a code is called at every level up to one."""
    told = {OTHER}
    for height in reversed(range(1, len(tree.levels) - 1)):
        nodes, first, sizes = np.unique(tree.levels[height], return_index=True, return_counts=True)
        for node, place, size in zip(nodes.tolist(), first.tolist(), sizes.tolist(), strict=True):
            name = tree.names[height][node]
            if name not in told and (size > 1 or name != tree.codes[place]):
                told.add(name)
                yield (f"{name}, {OTHER}", *tree.row(tree.codes[place])[height:])


@dataclass(frozen=True, eq=False)
class Unlisted:
    """Which code of a tree with unlisted ones stands for a text that it does not have.

    >>> tree = with_unlisted(CodeTree.of([("J45.2", "J45", "J40-J4A", "*"), ("J45", "J40-J4A", "*")]))
    >>> [tree.codes[Unlisted(tree).place(text)] for text in ("J45.0", "j4 5x", "J45.28", "J46", "K10", "n/a", "J4")]
    ['J45, other', 'J45, other', 'J45.2', 'J40-J4A, other', 'other', 'other', 'other']
    """

    tree: CodeTree

    def place(self, text: str) -> int:
        plain = _plain(text)
        begins = (self._by_start.get(plain[:length]) for length in range(len(plain), 0, -1))
        found = next((place for place in begins if place is not None), None)
        if found is None:
            found = next((place for low, high, place in self._ranges if _lies_in(plain, low, high)), None)
        return self.tree.place[OTHER] if found is None else found

    @cached_property
    def _groups(self) -> dict[str, int]:
        ending = f", {OTHER}"
        return {code.removesuffix(ending): at for at, code in enumerate(self.tree.codes) if code.endswith(ending)}

    @cached_property
    def _by_start(self) -> dict[str, int]:
        """Codes, and before them groups, by what a text below them begins with: a category or more, with a digit."""
        codes = {} if len(self.tree.levels) < 3 else {_plain(code): at for at, code in enumerate(self.tree.codes)}
        starts = codes | {_plain(name): at for name, at in self._groups.items()}
        return {start: at for start, at in starts.items() if len(start) >= 3 and any(map(str.isdigit, start))}

    @cached_property
    def _ranges(self) -> list[tuple[str, str, int]]:
        """Groups that are ranges of categories. Of those around each other the narrowest begins last, and comes first;
        of those that begin together it ends first.
        """
        ends = ((_RANGE.fullmatch(name), place) for name, place in self._groups.items())
        found = sorted((end[1], end[2], place) for end, place in ends if end and len(end[1]) == len(end[2]))
        return sorted(found, key=lambda one: one[0], reverse=True)


def _plain(text: str) -> str:
    return "".join(text.split()).upper().replace(".", "")


def _lies_in(plain: str, low: str, high: str) -> bool:
    """Does a text begin with a category of the range? Letters and digits stand where its ends have them."""
    begins = plain[: len(low)]
    alike = all(own.isdigit() in (a.isdigit(), b.isdigit()) for own, a, b in zip(begins, low, high, strict=False))
    return len(begins) == len(low) and alike and low <= begins <= high
