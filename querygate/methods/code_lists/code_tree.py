"""Codes as leaves of a tree whose inner nodes are groups of codes: a chapter, a category, a kind of drug.

Levels count from the codes up: level 0 has each code for itself, the last has them all. A code that is a group of
others at the same time (250 beside 250.00) is one code more in that group.

>>> tree = CodeTree.of([("250.00", "250", "240-279", "*"), ("250.01", "250", "240-279", "*"), ("V10", "V01-V91", "*")])
>>> tree.codes, tree.groups_at(1)
(('250.00', '250.01', 'V10'), [(0, 1), (2,)])
>>> tree.ancestors("V10"), tree.distance("250.00", "250.01"), tree.distance("250.00", "V10")
(('V01-V91', '*'), 0.3333333333333333, 0.8333333333333334)
>>> tree.parents
(('250', '240-279'), ('250.00', '250'), ('250.01', '250'), ('V10', 'V01-V91'))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from querygate.core.types import Bools, Floats, Ints

ROOT = "*"
OTHER = "other"
"""The group of codes that a tree does not have."""


@dataclass(frozen=True, eq=False)
class CodeTree:
    """`levels[h][i]` numbers the group of code i at level h, and `names[h]` tells what these groups are called.

    Codes are in code-point order. `height` is the number of edges on the longest way from a code to the root; a part
    of a tree keeps that of the whole, so distances are the same in both.
    """

    codes: tuple[str, ...]
    levels: tuple[Ints, ...]
    names: tuple[tuple[str, ...], ...]
    height: int

    @classmethod
    def of(cls, rows: Iterable[Sequence[str]], height: int | None = None) -> CodeTree:
        """From one row per code: the code, its groups from the narrowest to the widest, and the root, the same for all.

        Rows may differ in length: they are laid together at the root. A group is known by the way to it from the root,
        so two that are called alike in different groups are two.
        """
        table = [tuple(row) for row in rows]
        width = max(map(len, table), default=0)
        if width < 2 or min(map(len, table)) < 2:
            raise ValueError("a hierarchy of codes has rows with a code and a root at least")
        if len({row[-1] for row in table}) > 1:
            raise ValueError("a hierarchy of codes has one root, the last entry of every row")
        even = sorted((row[0],) * (width - len(row)) + row for row in table)
        codes = tuple(row[0] for row in even)
        if len(set(codes)) < len(codes):
            raise ValueError("a hierarchy of codes has one row for each code")
        levels, names = _numbered(even, width)
        made = cls(codes, levels, names, 0)
        return cls(codes, levels, names, height or max(1, int(made._depths[0].max())))

    @classmethod
    def flat(cls, codes: Iterable[str]) -> CodeTree:
        """Codes without groups."""
        return cls.of((code, ROOT) for code in set(codes))

    @property
    def size(self) -> int:
        return len(self.codes)

    @cached_property
    def place(self) -> dict[str, int]:
        """The number of each code."""
        return {code: i for i, code in enumerate(self.codes)}

    @cached_property
    def headings(self) -> frozenset[str]:
        """Codes that are groups of other codes at the same time: 250, where there is 250.00."""
        found: set[str] = set()
        for level, names in zip(self.levels[1:-1], self.names[1:-1], strict=True):
            large = np.flatnonzero(np.bincount(level) > 1)
            found.update(names[node] for node in large.tolist())
        return frozenset(found) & self.place.keys()

    def groups_at(self, level: int) -> list[tuple[int, ...]]:
        """The codes of each group at a level, as numbers."""
        order = np.argsort(self.levels[level], kind="stable")
        ends = np.cumsum(np.bincount(self.levels[level]))[:-1]
        return [tuple(group.tolist()) for group in np.split(order, ends)]

    def row(self, code: str) -> tuple[str, ...]:
        """The code and its group at each level, up to the root."""
        place = self.place[code]
        return tuple(names[level[place]] for level, names in zip(self.levels, self.names, strict=True))

    def ancestors(self, code: str) -> tuple[str, ...]:
        """The groups of a code from the narrowest to the root, each once and without the code itself."""
        return tuple(name for name in dict.fromkeys(self.row(code)) if name != code)

    def restricted(self, codes: Iterable[str]) -> CodeTree:
        """The tree of these codes alone. Those that it does not have are in a group of their own, `other`."""
        strange = (OTHER,) * (len(self.levels) - 2)
        rows = [self.row(code) if code in self.place else (code, *strange, self.names[-1][0]) for code in set(codes)]
        return CodeTree.of(rows, self.height)

    @cached_property
    def parents(self) -> tuple[tuple[str, str], ...]:
        """(code or group, the group it belongs to), each pair once and without the root: a column's `parents`.

        Groups that are called alike become one there.
        """
        pairs: set[tuple[str, str]] = set()
        for h in range(len(self.levels) - 2):
            nodes, first = np.unique(self.levels[h], return_index=True)
            above = self.levels[h + 1][first]
            pairs.update(
                (self.names[h][node], self.names[h + 1][up])
                for node, up in zip(nodes.tolist(), above.tolist(), strict=True)
            )
        return tuple(sorted(pair for pair in pairs if pair[0] != pair[1]))

    # -- semantic distance ---------------------------------------------------------------------------------------------

    def distance(self, a: str, b: str) -> float:
        """Edges from both codes to the lowest group that has both, as a share of twice the height: 0 to 1."""
        return float(self.distances(np.array([self.place[a]]), np.array([self.place[b]]))[0])

    def distances(self, a: Ints, b: Ints) -> Floats:
        """The distance of a[i] and b[i], codes as numbers."""
        common = np.zeros(a.shape, dtype=np.int64)
        for level, depth in zip(reversed(self.levels), reversed(self._depths), strict=True):
            common = np.where(level[a] == level[b], depth[a], common)
        leaf = self._depths[0]
        return (leaf[a] + leaf[b] - 2 * common) / (2 * self.height)

    def spread(self, codes: Sequence[int]) -> float:
        """The mean distance of two different ones of these codes; 0 of one code alone.

        Two codes share as many edges to the root as there are groups that have both, so pairs are counted by group.
        """
        chosen = np.asarray(codes, dtype=np.int64)
        pairs = chosen.size * (chosen.size - 1) // 2
        if not pairs:
            return 0.0
        shared = 0
        for level, step in zip(self.levels, self._steps, strict=True):
            group, number = np.unique(level[chosen[step[chosen]]], return_counts=True)
            shared += int((number * (number - 1) // 2).sum()) if group.size else 0
        edges = (chosen.size - 1) * int(self._depths[0][chosen].sum()) - 2 * shared
        return edges / (2 * self.height * pairs)

    @cached_property
    def _steps(self) -> tuple[Bools, ...]:
        """For each level and code: does an edge lead up from its group there? None where the name stays the same."""
        called = [np.array(names, dtype=object)[level] for level, names in zip(self.levels, self.names, strict=True)]
        steps = [np.asarray(low != high, dtype=np.bool_) for low, high in pairwise(called)]
        return (*steps, np.zeros(self.size, dtype=np.bool_))

    @cached_property
    def _depths(self) -> tuple[Ints, ...]:
        """For each level and code: edges from its group there up to the root."""
        return tuple(np.cumsum([step.astype(np.int64) for step in reversed(self._steps)], axis=0)[::-1])


def _numbered(rows: Sequence[Sequence[str]], width: int) -> tuple[tuple[Ints, ...], tuple[tuple[str, ...], ...]]:
    """Groups numbered level by level from the root down, each by its name and the group above it, and their names."""
    levels: list[Ints] = []
    names: list[tuple[str, ...]] = []
    above = np.zeros(len(rows), dtype=np.int64)
    for h in reversed(range(width)):
        known: dict[str, int] = {}
        name = np.array([known.setdefault(row[h], len(known)) for row in rows], dtype=np.int64)
        key, above = np.unique(above * len(known) + name, return_inverse=True)
        texts = tuple(known)
        levels.append(above)
        names.append(tuple(texts[i] for i in (key % len(known)).tolist()))
    return tuple(reversed(levels)), tuple(reversed(names))
