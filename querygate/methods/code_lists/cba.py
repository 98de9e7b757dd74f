"""CBA, the clustering-based anonymiser: clusters of codes grow by least loss, and no more is suppressed than needed.

As published (ITAB 2010, doi:10.1109/ITAB.2010.5687720): itemsets that need the least protection come first. Of all
items of an itemset and all partners that the utility policy allows, the two that cost least join, until enough records
support the itemset. What no partner can save is suppressed. How little is suppressed is up to us:

- Where even whole groups would not do, joining is loss without gain, so the rarest item is suppressed at once: of those
  that are not spared, if there are any.
- In the end suppressed items are published after all where the policy stays met: later suppressions make earlier ones
  needless.

>>> baskets = Baskets.of([[0, 1, 2], [3, 4, 5], [0, 2]], size=6)
>>> cba(baskets, 2, CodePrivacy(((0, 1, 2),)), CodeUtility(((0, 1),))).groups()
[(0, 1), (2,), (3,), (4,), (5,)]
"""

from __future__ import annotations

from functools import reduce
from operator import and_

from querygate.methods.code_lists.baskets import Baskets, Items
from querygate.methods.code_lists.code_policies import CodePrivacy, CodeUtility
from querygate.methods.code_lists.supports import Supports, Unmet
from querygate.methods.code_lists.utility_loss import Partners, Weight


def cba(
    baskets: Baskets, k: int, privacy: CodePrivacy, utility: CodeUtility, *, weights: Weight | None = None
) -> Items:
    """Items that lie inside the groups of the utility policy and meet the privacy policy."""
    privacy.check(baskets, k)
    supports = Supports(baskets)
    partners = Partners(supports, utility.of(baskets.size), weights)
    suppressed: list[int] = []
    for unmet in privacy.unmet(baskets, supports, k):
        suppressed += _protect(supports, partners, unmet, utility.spared)
    if not privacy.upto:  # else all sets of codes would have to be counted anew for each item
        _relent(supports, Unmet(supports, privacy.itemsets, k, privacy.residue), suppressed, utility.spared)
    return supports.items()


def _protect(supports: Supports, partners: Partners, unmet: Unmet, spared: frozenset[int]) -> list[int]:
    """Make every itemset safe; what had to be suppressed."""
    suppressed = []
    for itemset in unmet:
        while unmet.unsafe(itemset):
            left = supports.left(itemset, spared)
            item = left[0]
            if len(reduce(and_, map(partners.whole, left))) >= unmet.k:
                (_, other), item = min((found, item) for item in left if (found := partners.cheapest(item)))
                partners.join(item, other)
            else:
                partners.drop(item)
                suppressed.append(item)
            unmet.changed(item)
    return suppressed


def _relent(supports: Supports, unmet: Unmet, suppressed: list[int], spared: frozenset[int]) -> None:
    """Publish each suppressed item with which the policy stays met, spared ones first, then the most frequent.

    Only itemsets that have the item are looked at: of the others nothing changes.
    """
    for item in sorted(suppressed, key=lambda item: (item not in spared, -supports.support(item), item)):
        supports.restore(item)
        if any(map(unmet.unsafe, unmet.having(supports.codes[item]))):
            supports.suppress(item)
