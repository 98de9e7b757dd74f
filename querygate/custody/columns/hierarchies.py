"""Categories with a hierarchy: from values to leaves, from classes to nodes, and the check that only nodes were
written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from querygate.core.count_text import counted
from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import Profile
from querygate.core.types import Ints
from querygate.custody.policy import ColumnPolicy, HierarchyPolicy
from querygate.methods.anonymise import Hierarchy, Intervals
from querygate.methods.anonymise.recode.hierarchy_presets import UnreadableValues, preset_rows


def make_tree(column: ColumnPolicy, profile: Profile) -> Hierarchy:
    """The hierarchy over the file's values, or by rule over the declared values and those that occur."""
    wanted = column.hierarchy or HierarchyPolicy()
    present = [str(value) for value in profile.values]
    tree = Hierarchy.of(_rows(column, wanted, sorted({*column.values, *present})))
    unknown = ~np.isin(np.array(present, dtype=object), np.array(tree.leaves, dtype=object))
    outside = int(profile.counts[unknown].sum()) if present else 0
    if outside:
        raise ConfigError(
            "QG802",
            f"Column {column.name}: {counted(outside, 'value has', 'values have')} no row in its hierarchy.",
            "Add a row for each, or correct the source.",
        )
    return tree


def rows_of(column: ColumnPolicy, values: Sequence[str]) -> Sequence[Sequence[str]]:
    """The rows of a column's hierarchy, from each leaf to the root; none where it has no hierarchy."""
    return [] if column.hierarchy is None else _rows(column, column.hierarchy, values)


def _rows(column: ColumnPolicy, wanted: HierarchyPolicy, values: Sequence[str]) -> Sequence[Sequence[str]]:
    """One row per leaf. The hierarchy of a column without values is just its root."""
    if not wanted.preset:
        return wanted.rows
    try:
        return preset_rows(wanted.preset, values) or [("", "*")]
    except UnreadableValues as unreadable:
        raise ConfigError(
            "QG802",
            f"Column {column.name}: the rule {wanted.preset} cannot read "
            f"{counted(unreadable.count, 'distinct value')}.",
            "Correct the source, or give the column its own hierarchy in a .csv file.",
        ) from None


def places(tree: Hierarchy, texts: Sequence[str]) -> Ints:
    """For each text of a dictionary the position of its leaf, followed by that of a missing value."""
    place = {leaf: i for i, leaf in enumerate(tree.leaves)}
    return np.array([*(place[text] for text in texts), -1], dtype=np.int64)


def nodes(tree: Hierarchy, box: Intervals, texts: Sequence[str]) -> tuple[Ints, list[list[int]]]:
    """The number of each class's node, and the value ids under each node: what is published for the classes."""
    first, last = tree.ancestors(box.low, box.high)
    found, which = np.unique(np.stack([first, last]), axis=1, return_inverse=True)
    ids = np.empty(tree.size, dtype=np.int64)
    ids[places(tree, texts)[:-1]] = np.arange(tree.size)
    members = [[] if low < 0 else sorted(ids[low : high + 1].tolist()) for low, high in found.T.tolist()]
    return which.reshape(-1), members


def strays(column: ColumnPolicy, texts: Sequence[str], sets: Iterable[frozenset[str]]) -> int:
    """How many published sets of texts are not a node of the column's hierarchy.

    Nodes are derived here from the rows alone, by the path from the root, independently of the code that published
    them.
    """
    wanted = column.hierarchy or HierarchyPolicy()
    under: dict[tuple[str, ...], set[str]] = {}
    for row in _rows(column, wanted, texts):
        for height in range(len(row)):
            under.setdefault(tuple(row[height:]), set()).add(row[0])
    known = {frozenset(leaves) for leaves in under.values()}
    return sum(1 for members in sets if members and members not in known)
