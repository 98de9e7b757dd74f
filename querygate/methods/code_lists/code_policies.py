"""What must be protected and what may be joined: the two policies of set-based anonymisation.

A privacy policy lists the sets of codes that somebody may know of a person. It is met when each is supported by at
least k published records or by none (Loukides, Gkoulalas-Divanis, Malin, PNAS 2010). A record supports an itemset when
its published items cover all codes of it, so a suppressed code leaves it with no support at all.

That is not the whole protection: whoever knows {a, b, c} and sees that c is nowhere published goes on to look for
{a, b}. With `residue` the policy therefore asks of what suppression has left of each itemset that at least k records
or none support it. This is stronger: where no code of an itemset is suppressed the two ask the same, and where one is,
the first asks nothing.

A utility policy lists groups of codes. Codes may be published as one item only inside a group; a code outside every
group stays alone. Codes that are `spared` are given up last: a group of which no code is suppressed can be counted
exactly, and where something has to go from an itemset it is better something else.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from querygate.core.types import Ints
from querygate.methods.code_lists.baskets import Baskets, Items
from querygate.methods.code_lists.supports import Supports, TooMany, Unmet, rare_itemsets
from querygate.methods.code_lists.unprotectable import Unprotectable


@dataclass(frozen=True)
class CodePrivacy:
    """Itemsets to protect, each rising and once; with `upto` every set of so many codes or fewer as well.

    >>> CodePrivacy(((2, 0, 2), (0, 2), (1,))).itemsets
    ((0, 2), (1,))
    """

    itemsets: tuple[tuple[int, ...], ...] = ()
    upto: int = 0
    residue: bool = True

    def __post_init__(self) -> None:
        for place, itemset in enumerate(self.itemsets):
            if not itemset:
                raise Unprotectable(f"Itemset {place} has no codes.", "Remove it: everybody would match it.")
        if self.upto < 0:
            raise Unprotectable(f"Sets of up to {self.upto} codes do not exist.", "Use 1 or more, or 0 for none.")
        different = dict.fromkeys(tuple(sorted(set(itemset))) for itemset in self.itemsets)
        object.__setattr__(self, "itemsets", tuple(different))

    def literal(self) -> CodePrivacy:
        """The same itemsets, where it suffices that one code of each is suppressed."""
        return replace(self, residue=False)

    def check(self, baskets: Baskets, k: int) -> None:
        """Refuse what cannot be meant."""
        if not 1 <= k <= baskets.records:
            raise Unprotectable(
                f"k is {k}, but there are {baskets.records} records.",
                "Use a k from 1 to the number of records.",
            )
        _in_range(self.itemsets, baskets.size, "itemset")

    def unmet(self, baskets: Baskets, supports: Supports, k: int) -> Iterator[Unmet]:
        """What must be made safe, until all is: the itemsets, then with them the rare sets of up to `upto` codes that
        the items of the moment still have."""
        yield Unmet(supports, self.itemsets, k, self.residue)
        while found := rare(baskets, supports.items(), self.upto, k):
            yield Unmet(supports, (*self.itemsets, *found), k, self.residue)


@dataclass(frozen=True)
class CodeUtility:
    """Groups of codes that may be joined; they do not overlap.

    >>> CodeUtility(((0, 1), (3, 2))).of(5)
    array([0, 0, 1, 1, 2])
    """

    groups: tuple[tuple[int, ...], ...] = ()
    spared: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        seen: dict[int, int] = {}
        for place, group in enumerate(self.groups):
            for code in set(group):
                if seen.setdefault(code, place) != place:
                    raise Unprotectable(
                        f"Groups {seen[code]} and {place} both have code {code}.",
                        "Merge the two groups, or remove the code from one: an item must lie inside one group.",
                    )
        object.__setattr__(self, "groups", tuple(tuple(sorted(set(group))) for group in self.groups if group))

    @classmethod
    def by_level(cls, ancestors: Sequence[Hashable]) -> CodeUtility:
        """Codes of one ancestor at a level of a hierarchy; None stands alone.

        >>> CodeUtility.by_level(["296", "296", "295", None]).groups
        ((0, 1), (2,))
        """
        groups: dict[Hashable, list[int]] = {}
        for code, ancestor in enumerate(ancestors):
            if ancestor is not None:
                groups.setdefault(ancestor, []).append(code)
        return cls(tuple(tuple(group) for group in groups.values()))

    @classmethod
    def together(cls, size: int) -> CodeUtility:
        """Any codes may be joined."""
        return cls((tuple(range(size)),))

    def of(self, size: int) -> Ints:
        """The group of each of 0..size-1; a code that no group has is one of its own."""
        _in_range(self.groups, size, "utility group")
        _in_range([sorted(self.spared)], size, "spared codes")
        group = np.full(size, -1, dtype=np.int64)
        for number, codes in enumerate(self.groups):
            group[list(codes)] = number
        alone = np.flatnonzero(group < 0)
        group[alone] = len(self.groups) + np.arange(alone.size)
        return group


def rare(baskets: Baskets, items: Items, most: int, k: int) -> list[tuple[int, ...]]:
    """The smallest sets of up to so many items that fewer than k records have, each item as its smallest code.

    Sets of codes need no more: codes of one item are published, so supported, together.
    """
    smallest = [codes[0] for codes in items.groups()]
    try:
        found = rare_itemsets(items.publish(baskets), most, k)
    except TooMany as error:
        raise Unprotectable(
            f"All sets of up to {most} codes: {error}.", "Use smaller sets, or list the itemsets."
        ) from None
    return [tuple(smallest[item] for item in itemset) for itemset in found]


def _in_range(sets: Sequence[Sequence[int]], size: int, what: str) -> None:
    for place, one in enumerate(sets):
        outside = [code for code in one if not 0 <= code < size]
        if outside:
            raise Unprotectable(
                f"Code {outside[0]} of {what} {place} is not one of the {size} codes.", "Codes are numbered from 0."
            )
