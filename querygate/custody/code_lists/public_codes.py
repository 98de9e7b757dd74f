"""The public list of codes of a column: those of the policy's code system, never those that happen to occur."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from querygate.core.types import Ints
from querygate.custody.policy import CodesPolicy, ColumnPolicy
from querygate.methods.code_lists.code_spelling import normalise
from querygate.methods.code_lists.code_tree import OTHER, ROOT, CodeTree
from querygate.methods.code_lists.known_code_systems import code_tree
from querygate.methods.code_lists.unlisted_codes import Unlisted, with_unlisted


@dataclass(frozen=True)
class Places:
    """The position of each text in the public list, or -1; and how many had lost leading zeros, or may have lost some
    and were taken as they are.
    """

    codes: Ints
    mended: int
    ambiguous: int


@dataclass(frozen=True)
class CodeSystem:
    """Public codes with their groups. Texts are read by the rules of a named system, or by the spelling of these codes.

    >>> small = CodeSystem(CodeTree.of([("250.00", "250", "*"), ("V10", "V", "*")]))
    >>> small.read(["250.00", "25000", "v10", "999"]).codes
    array([ 0,  0,  1, -1])
    >>> small.parents, small.under("250")
    ((('250.00', '250'), ('V10', 'V')), (0,))
    """

    tree: CodeTree
    name: str = ""

    @property
    def codes(self) -> tuple[str, ...]:
        return self.tree.codes

    @property
    def parents(self) -> tuple[tuple[str, str], ...]:
        """(code or group, the group it belongs to); empty for a flat system, where groups are prefixes of codes."""
        return self.tree.parents

    def under(self, name: str) -> tuple[int, ...]:
        """The codes that belong to a code or group."""
        found: set[int] = set()
        for level, node in self._nodes.get(name, ()):
            found.update(np.flatnonzero(self.tree.levels[level] == node).tolist())
        return tuple(sorted(found))

    @cached_property
    def _nodes(self) -> dict[str, list[tuple[int, int]]]:
        """By name, the level and number of each node that is called so."""
        found: dict[str, list[tuple[int, int]]] = {}
        for level, names in enumerate(self.tree.names):
            for node, name in enumerate(names):
                found.setdefault(name, []).append((level, node))
        return found

    @cached_property
    def unlisted(self) -> Unlisted | None:
        """The code for texts that are not in the list; None if they stop the publication."""
        return Unlisted(self.tree) if OTHER in self.tree.place else None

    def read(self, texts: Sequence[str]) -> Places:
        found = normalise(self.name or self.tree, texts)
        unknown = np.array([text in found.unknown for text in texts], dtype=np.bool_)
        places = np.array([self.tree.place.get(str(code), -1) for code in found.codes], dtype=np.int64)
        return Places(np.where(unknown, -1, places), len(found.mended), len(found.ambiguous))


def open_system(column: ColumnPolicy) -> CodeSystem:
    """The public codes of a column; with codes for unlisted texts, if the policy allows these."""
    wanted = column.codes or CodesPolicy()
    name = "" if wanted.rows or wanted.system == "flat" else wanted.system
    rows = () if name else wanted.rows or tuple((code, ROOT) for code in column.values)
    return _system(name, rows, wanted.unknown == "other")


@lru_cache(maxsize=8)
def _system(name: str, rows: tuple[tuple[str, ...], ...], has_others: bool) -> CodeSystem:
    tree = code_tree(name) if name else CodeTree.of(rows)
    return CodeSystem(with_unlisted(tree) if has_others else tree, name)
