"""rho-uncertainty (Cao, Karras, Raïssi, Tan, VLDB 2010) by global suppression.

Whatever is known of somebody, public codes or sensitive ones, any number of them or none: of the records that hold it
at most a share rho hold any one further sensitive code. What is known is an antecedent, and a rule that is too sure is
broken by suppressing one of its codes. Suppression leaves rules without the code as they are, so antecedents are
settled by size, as in the paper: none known, one, two, ... until no antecedent of a size has a sensitive code beside
it.

Exact: an antecedent of which a code can be left out without losing a record tells what the shorter one told, which was
settled before; no other is left out. Without a bound on the length of antecedents their number can grow exponentially
with the length of records; after `most` of them the search refuses. With a bound the promise is for those up to it.
"""

from __future__ import annotations

import numpy as np

from querygate.core.types import Bools, Ints
from querygate.methods.code_lists.baskets import Baskets, Items
from querygate.methods.code_lists.confidence import above, check_share, part_of, sensitive_mask, together, without
from querygate.methods.code_lists.cover import hitting_set
from querygate.methods.code_lists.km.km_supports import Index, restricted
from querygate.methods.code_lists.unprotectable import Unprotectable

MOST = 2_000_000


def rho_uncertain(baskets: Baskets, sensitive: Ints, rho: float, length: int | None = None, most: int = MOST) -> Items:
    """Codes that may stay, each on its own, so that no sensitive code is told with more confidence than rho.

    >>> baskets = Baskets.of([[0, 2], [0], [1, 2], [1], [1]], size=3)
    >>> rho_uncertain(baskets, np.array([2]), rho=0.4).groups()
    [(1,), (2,)]
    """
    check_share("rho", rho)
    if length is not None and length < 0:
        raise ValueError("length is 0 at least")
    suppressed, is_sensitive = np.zeros(baskets.size, dtype=np.bool_), sensitive_mask(sensitive, baskets.size)
    loss, size = baskets.supports().astype(np.float64), 0
    while length is None or size <= length:
        search = _Search(is_sensitive, rho, most)
        broken = search.rules(part_of(baskets, ~suppressed), np.ones(baskets.size, dtype=np.bool_), size)
        if search.antecedents == 0:
            break
        if len(broken):
            suppressed[hitting_set(broken, loss)] = True
        size += 1
    return without(suppressed)


class _Search:
    """Rules that are too sure, by the size of what is known."""

    def __init__(self, is_sensitive: Bools, rho: float, most: int) -> None:
        self.is_sensitive, self.rho, self.most = is_sensitive, rho, most
        self.antecedents = 0

    def rules(self, baskets: Baskets, further: Bools, size: int) -> Ints:
        """Rules within these records, one per row: what is known, of `further` codes, then what it tells."""
        secret = part_of(baskets, self.is_sensitive)
        if not secret.members.size:
            return np.empty((0, size + 1), dtype=np.int64)
        if size == 0:
            self._count(1)
            return np.flatnonzero(above(secret.supports(), baskets.records, self.rho)).reshape(-1, 1)
        supports = baskets.supports()
        known = further & (supports > 0) & (supports < baskets.records)
        return self._pairs(baskets, secret, known) if size == 1 else self._longer(baskets, known, size)

    def _pairs(self, baskets: Baskets, secret: Baskets, known: Bools) -> Ints:
        """Rules of one known code, for all codes at once."""
        joint = together(part_of(baskets, known), secret).tocoo()
        apart = joint.row != joint.col
        code, told, count = joint.row[apart], joint.col[apart], joint.data[apart]
        self._count(np.unique(code).size)
        sure = above(count, baskets.supports()[code], self.rho)
        return np.stack([code[sure], told[sure]], axis=1).astype(np.int64)

    def _longer(self, baskets: Baskets, known: Bools, size: int) -> Ints:
        """Rules of several known codes: one of them, and others of larger number in the records that hold it."""
        index, further = Index.of(baskets), known.copy()
        found = [np.empty((0, size + 1), dtype=np.int64)]
        for code in np.flatnonzero(known).tolist():
            further[code] = False
            beside = restricted(baskets, index.holders(code), code, further | self.is_sensitive)
            others = self.rules(beside, further, size - 1)
            found.append(np.concatenate([np.full((len(others), 1), code), others], axis=1))
        return np.concatenate(found)

    def _count(self, antecedents: int) -> None:
        self.antecedents += antecedents
        if self.antecedents > self.most:
            raise Unprotectable(
                f"More than {self.most:,} sets of codes of one size could reveal a sensitive code.",
                "Limit how many codes may be known, use a smaller rho, or publish fewer codes.",
            )
