"""UGACLIP and ACLIP: the itemset that is nearest to safety first, its rarest code generalised or suppressed.

UGACLIP (Loukides, Gkoulalas-Divanis, Malin, PNAS 2010): while the privacy policy is unmet, take the unsafe itemset of
largest support; in it take the rarest item; join it with the item of its utility group that gives the least utility
loss, or suppress it where it has its group for itself; until the itemset is safe. ACLIP is the same without a utility
policy: any codes may be joined. Items of spared codes have their turn when no other is left of the itemset.

>>> baskets = Baskets.of([[0, 1, 2], [3, 4, 5], [0, 2]], size=6)
>>> ugaclip(baskets, 2, CodePrivacy(((0, 1, 2),)), CodeUtility(((0, 1),))).groups()
[(0, 1), (2,), (3,), (4,), (5,)]
"""

from __future__ import annotations

from querygate.methods.code_lists.baskets import Baskets, Items
from querygate.methods.code_lists.code_policies import CodePrivacy, CodeUtility
from querygate.methods.code_lists.supports import Supports, Unmet
from querygate.methods.code_lists.utility_loss import Partners, Weight


def ugaclip(
    baskets: Baskets, k: int, privacy: CodePrivacy, utility: CodeUtility, *, weights: Weight | None = None
) -> Items:
    """Items that lie inside the groups of the utility policy and meet the privacy policy."""
    privacy.check(baskets, k)
    supports = Supports(baskets)
    partners = Partners(supports, utility.of(baskets.size), weights)
    for unmet in privacy.unmet(baskets, supports, k):
        _protect(supports, partners, unmet, utility.spared)
    return supports.items()


def aclip(
    baskets: Baskets, k: int, privacy: CodePrivacy, utility: CodeUtility, *, weights: Weight | None = None
) -> Items:
    """Items that meet the privacy policy; the utility policy is not asked."""
    utility.of(baskets.size)
    return ugaclip(baskets, k, privacy, CodeUtility.together(baskets.size), weights=weights)


def _protect(supports: Supports, partners: Partners, unmet: Unmet, spared: frozenset[int]) -> None:
    for itemset in unmet:
        while unmet.unsafe(itemset):
            rarest = supports.left(itemset, spared)[0]
            if cheapest := partners.cheapest(rarest):
                partners.join(rarest, cheapest[1])
            else:
                partners.drop(rarest)
            unmet.changed(rarest)
