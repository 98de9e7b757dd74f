"""(h, k, p)-coherence (Xu, Wang, Fu, Yu, KDD 2008) by global suppression.

Codes are public or sensitive. Whoever knows up to p public codes of somebody finds at least k records or none, and no
sensitive code in more than a share h of them. An itemset of public codes that breaks this is a *mole*. Suppressing a
code leaves all itemsets without it as they are, so it is enough to suppress one code at least of each mole: greedily
the code that breaks the most moles for the records that lose it.

Sizes are settled one after the other, so that a mole that is met is minimal: what is smaller in it is none. The paper
lists minimal moles of all sizes first, which can suppress less and takes far more memory.
"""

from __future__ import annotations

import numpy as np

from querygate.core.count_text import counted
from querygate.core.types import Ints
from querygate.methods.code_lists.baskets import Baskets, Items
from querygate.methods.code_lists.confidence import above, check_share, part_of, sensitive_mask, together, without
from querygate.methods.code_lists.cover import hitting_set
from querygate.methods.code_lists.km.km_supports import Index, restricted
from querygate.methods.code_lists.unprotectable import Unprotectable, check_enough


def coherent(baskets: Baskets, sensitive: Ints, k: int, p: int, share: float) -> Items:
    """Codes that may stay, each on its own. `share` is h: the most that public codes may tell of a sensitive one.

    >>> baskets = Baskets.of([[0, 1, 3], [0, 1], [0, 2], [0]], size=4)
    >>> coherent(baskets, np.array([3]), k=2, p=2, share=0.5).groups()
    [(0,), (1,), (3,)]
    """
    check_share("share", share)
    check_enough(baskets.records, k)
    if p < 1:
        raise ValueError("p is at least 1")
    is_sensitive = sensitive_mask(sensitive, baskets.size)
    secret = part_of(baskets, is_sensitive)
    told = int(np.count_nonzero(above(secret.supports(), baskets.records, share)))
    if told:
        raise Unprotectable(
            f"{counted(told, 'sensitive code occurs', 'sensitive codes occur')} in more than a share of {share:g} of "
            "all records, whatever else is known.",
            "Allow a larger share, or leave out these codes.",
        )
    suppressed = np.zeros(baskets.size, dtype=np.bool_)
    for size in range(1, p + 1):
        public = part_of(baskets, ~(suppressed | is_sensitive))
        moles = _moles(public, secret, size, k, share)
        if len(moles):
            suppressed[hitting_set(moles, public.supports().astype(np.float64))] = True
    return without(suppressed)


def _moles(public: Baskets, secret: Baskets, size: int, k: int, share: float) -> Ints:
    """Moles of a size among public codes; the records of `secret` are the same."""
    supports = public.supports()
    if size == 1:
        told = together(public, secret).max(axis=1).toarray().ravel()
        mole = (supports > 0) & ((supports < k) | above(told, supports, share))
        return np.flatnonzero(mole).reshape(-1, 1)
    index, before, every = Index.of(public), np.zeros(public.size, dtype=np.bool_), np.ones(secret.size, dtype=np.bool_)
    found = [np.empty((0, size), dtype=np.int64)]
    for item in np.flatnonzero(supports).tolist():
        holders = index.holders(item)
        beside = restricted(public, holders, item, before)
        others = _moles(beside, restricted(secret, holders, item, every), size - 1, k, share)
        found.append(np.concatenate([np.full((len(others), 1), item), others], axis=1))
        before[item] = True
    return np.concatenate(found)
