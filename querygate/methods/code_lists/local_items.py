"""Local recoding: the same code may be published differently of different records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from querygate.core.types import Ints
from querygate.methods.code_lists.baskets import SUPPRESSED, Baskets
from querygate.methods.code_lists.subtrees import Subtrees


@dataclass(frozen=True)
class LocalItems:
    """What is published of each record: item i says that it has at least one of the codes groups[i]. Where the number
    after the last code is among them, it may as well have none."""

    published: Baskets
    groups: tuple[tuple[int, ...], ...]
    suppressed: int  # records that had codes and are published without any
    loss: float  # mean over all codes of records of the share of codes in the item; 0 where alone, 1 where suppressed


def members_of(baskets: Baskets, records: Ints) -> tuple[Ints, Ints]:
    """Where the codes of some records stand among all members, and which of these records each is of."""
    first = baskets.starts[records]
    number = baskets.starts[records + 1] - first
    at = np.repeat(first - (np.cumsum(number) - number), number) + np.arange(int(number.sum()))
    return at, np.repeat(np.arange(records.size), number)


def recoded(tree: Subtrees, ordered: Baskets, node: Ints) -> LocalItems:
    """What is published where each member of records, ordered by the tree, is told by a node; -1 is suppressed."""
    kept = node != SUPPRESSED
    used, item = np.unique(node[kept], return_inverse=True)
    number = max(1, used.size)
    record, members = np.divmod(np.unique(ordered.of_record[kept] * number + item), number)
    starts = np.searchsorted(record, np.arange(ordered.records + 1)).astype(np.int64)
    loss = np.where(kept, tree.loss[node], 1.0)
    return LocalItems(
        Baskets(starts, members.astype(np.int64), number),
        tuple(tree.codes(one) for one in used.tolist()),
        int(np.count_nonzero((np.diff(ordered.starts) > 0) & (np.diff(starts) == 0))),
        float(loss.mean()) if loss.size else 0.0,
    )
