"""What of a policy published items do not keep, counted as the methods count it."""

from __future__ import annotations

import numpy as np

from querygate.methods.code_lists.baskets import SUPPRESSED, Baskets, Items
from querygate.methods.code_lists.code_policies import CodePrivacy, CodeUtility, rare
from querygate.methods.code_lists.supports import Supports, Unmet


def violations(baskets: Baskets, items: Items, privacy: CodePrivacy, k: int) -> tuple[tuple[int, ...], ...]:
    """The itemsets that some records but fewer than k support. Of `upto`, those of the smallest size alone."""
    supports = Supports(baskets)
    for codes in items.groups():
        for code in codes[1:]:
            supports.merge(codes[0], code)
    for code in np.flatnonzero(items.of == SUPPRESSED).tolist():
        supports.suppress(code)
    unmet = Unmet(supports, (), k, privacy.residue)
    return (*filter(unmet.unsafe, privacy.itemsets), *rare(baskets, items, privacy.upto, k))


def breaches(utility: CodeUtility, items: Items) -> tuple[tuple[int, ...], ...]:
    """Items that do not lie inside one group."""
    group = utility.of(items.of.size)
    return tuple(codes for codes in items.groups() if np.unique(group[list(codes)]).size > 1)
