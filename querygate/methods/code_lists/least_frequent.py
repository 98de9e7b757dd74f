"""The naive baseline: suppress the least frequent codes, whatever they are, until the policy is met.

After Vinterbo, Ohno-Machado, Dreiseitl, AMIA 2001. Nothing is generalised, so little is left: of about 6,000 codes of
2,762 patients, 5 (Loukides et al. 2010).

>>> baskets = Baskets.of([[0, 1, 2], [3, 4, 5], [0, 2]], size=6)
>>> least_frequent(baskets, 2, CodePrivacy(((0, 1, 2),)), CodeUtility()).groups()
[(0,), (2,), (3,), (4,), (5,)]
"""

from __future__ import annotations

from querygate.methods.code_lists.baskets import Baskets, Items
from querygate.methods.code_lists.code_policies import CodePrivacy, CodeUtility
from querygate.methods.code_lists.supports import Supports
from querygate.methods.code_lists.utility_loss import Weight


def least_frequent(
    baskets: Baskets, k: int, privacy: CodePrivacy, utility: CodeUtility, *, weights: Weight | None = None
) -> Items:
    """The least frequent codes suppressed, no more than the policy asks for; the others as they are.

    Neither utility policy nor weights are asked.
    """
    privacy.check(baskets, k)
    utility.of(baskets.size)
    supports = Supports(baskets)
    rising = iter(sorted((code for code in range(baskets.size) if supports.support(code)), key=supports.support))
    for unmet in privacy.unmet(baskets, supports, k):
        for itemset in unmet:
            while unmet.unsafe(itemset):
                code = next(rising)
                supports.suppress(code)
                unmet.changed(code)
    return supports.items()
