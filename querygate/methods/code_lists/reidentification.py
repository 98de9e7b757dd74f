"""How many records somebody could be, whose codes are known in part or as a whole: before and after anonymising.

>>> baskets = Baskets.of([[0, 1], [0, 2], [0, 1, 2], []], size=3)
>>> curve = reidentification(baskets, Items(np.array([0, 1, 1])), longest=3, rng=np.random.default_rng(1))
>>> curve.sizes, curve.share_before(2)[[0, 2]], curve.share_after(2)
(array([1, 2, 3]), array([0.  , 0.25]), array([0., 0., 0.]))
>>> curve.whole_before, curve.whole_after, curve.unique_before, curve.unique_after
(array([2, 2, 1, 4]), array([3, 3, 3, 4]), 4, 1)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from querygate.core.types import Floats, Ints
from querygate.methods.code_lists.baskets import Baskets, Items
from querygate.methods.code_lists.local_items import LocalItems
from querygate.methods.code_lists.record_matches import PublishedRecords, matches, unchanged


@dataclass(frozen=True, eq=False)
class Reidentification:
    """Records that match what is known of a person, before and after.

    `before[i]` and `after[i]` are for random sets of sizes[i] codes that a record has, all of them where it has fewer,
    one column for each draw; they are the same sets in both, and each holds those of the size before. `whole_before`
    and `whole_after` are for all codes of each chosen record. A match is a record that has, or may have, the known
    codes and perhaps others. `unique_before` and `unique_after` count records whose whole set nobody else has.
    """

    sizes: Ints
    before: Ints
    after: Ints
    whole_before: Ints
    whole_after: Ints
    unique_before: int
    unique_after: int

    def share_before(self, k: int) -> Floats:
        """For each size, the share of sets that match fewer than k records."""
        return _share(self.before, k)

    def share_after(self, k: int) -> Floats:
        return _share(self.after, k)

    def whole_share_before(self, k: int) -> float:
        """The share of records whose whole set of codes matches fewer than k records."""
        return float(_share(self.whole_before[None, :], k)[0])

    def whole_share_after(self, k: int) -> float:
        return float(_share(self.whole_after[None, :], k)[0])


def _share(found: Ints, k: int) -> Floats:
    return (found < k).mean(axis=1) if found.shape[1] else np.zeros(found.shape[0])


def reidentification(
    baskets: Baskets,
    recoding: Items | LocalItems,
    *,
    longest: int = 5,
    draws: int = 1,
    most: int = 10_000,
    rng: np.random.Generator,
) -> Reidentification:
    """Curves over sets of 1 to `longest` codes, `draws` for each record; of more than `most` records, that many.

    A record without codes matches all.
    """
    before, after = unchanged(baskets), PublishedRecords.of(baskets, recoding)
    chosen = np.arange(baskets.records)
    if baskets.records > most:
        chosen = np.sort(rng.choice(baskets.records, most, replace=False))
    people = _of(baskets, np.repeat(chosen, draws))
    shuffled = np.lexsort((rng.random(people.members.size), people.of_record))
    known = [_first(people, shuffled, size) for size in range(1, longest + 1)]
    sets = _stacked([*known, _of(baskets, chosen)])
    found_before, found_after = matches(before, sets), matches(after, sets)
    end = longest * people.records
    return Reidentification(
        np.arange(1, longest + 1),
        found_before[:end].reshape(longest, -1),
        found_after[:end].reshape(longest, -1),
        found_before[end:],
        found_after[end:],
        unique_records(baskets),
        unique_records(after.items),
    )


def unique_records(baskets: Baskets) -> int:
    """How many records have a set of codes, or of items, that no other record has."""
    ends = baskets.starts.tolist()
    sets = Counter(baskets.members[first:last].tobytes() for first, last in pairwise(ends))
    return sum(1 for number in sets.values() if number == 1)


def _of(baskets: Baskets, records: Ints) -> Baskets:
    """Some records, in this order; one may be there more than once."""
    number = np.diff(baskets.starts)[records]
    starts = np.concatenate([[0], np.cumsum(number)]).astype(np.int64)
    at = np.arange(int(starts[-1])) + np.repeat(baskets.starts[records] - starts[:-1], number)
    return Baskets(starts, baskets.members[at], baskets.size)


def _stacked(parts: Sequence[Baskets]) -> Baskets:
    """All of them, one behind the other: sets are counted in one pass over the records."""
    ends = np.cumsum([0, *(part.members.size for part in parts)])
    starts = [part.starts[1:] + end for part, end in zip(parts, ends[:-1], strict=True)]
    return Baskets(np.concatenate([[0], *starts]), np.concatenate([part.members for part in parts]), parts[0].size)


def _first(people: Baskets, shuffled: Ints, size: int) -> Baskets:
    """The first codes of each person in a shuffled order."""
    rank = np.arange(people.members.size) - np.repeat(people.starts[:-1], np.diff(people.starts))
    kept = np.minimum(np.diff(people.starts), size)
    starts = np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)
    members = people.members[shuffled][rank < size]
    return Baskets(starts, members, people.size)
