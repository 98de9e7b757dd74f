"""Small worlds of codes: the golden records, and random ones with policies, as numbers and as texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from querygate.methods.code_lists.baskets import Baskets, Items
from querygate.methods.code_lists.code_policies import CodePrivacy, CodeUtility

CODES = ("295.00", "295.01", "295.02", "296.00", "296.01", "296.02")
NUMBER = {code: number for number, code in enumerate(CODES)}
RECORDS = (
    {"296.00", "296.01", "296.02"},
    {"295.00", "295.01", "295.02"},
    {"296.00", "296.02"},
)


def numbers(codes: set[str]) -> tuple[int, ...]:
    return tuple(sorted(NUMBER[code] for code in codes))


GOLDEN = Baskets.of([numbers(record) for record in RECORDS], size=len(CODES))
GOLDEN_PRIVACY = CodePrivacy((numbers({"296.00", "296.01", "296.02"}),))
GOLDEN_UTILITY = CodeUtility((numbers({"296.00", "296.01"}),))


@dataclass(frozen=True)
class World:
    """Random records, itemsets and groups. Codes as texts are for the checker that shares nothing."""

    baskets: Baskets
    privacy: CodePrivacy
    utility: CodeUtility
    k: int

    def records(self) -> list[set[str]]:
        return [{f"c{code}" for code in record} for record in self.baskets.lists()]

    def policy(self) -> list[set[str]]:
        return [{f"c{code}" for code in itemset} for itemset in self.privacy.itemsets]


def items_as_texts(items: Items) -> list[frozenset[str]]:
    return [frozenset(f"c{code}" for code in codes) for codes in items.groups()]


def from_visits(visits: Iterable[Sequence[int]], *, residue: bool = True) -> CodePrivacy:
    """What was billed together is known together. Visits without codes tell nothing."""
    return CodePrivacy(tuple(tuple(visit) for visit in visits if len(visit)), residue=residue)


def from_diseases(diseases: Iterable[Sequence[int]], rest: CodeUtility, *, spare: bool = False) -> CodeUtility:
    """Codes of one disease stay together, and are spared if that is asked for. Other codes as in `rest`."""
    groups = tuple(tuple(disease) for disease in diseases)
    taken = {code for group in groups for code in group}
    untaken = tuple(tuple(code for code in group if code not in taken) for group in rest.groups)
    return CodeUtility(groups + untaken, frozenset(taken) if spare else frozenset())


def cut_loss(baskets: Baskets, items: Items) -> float:
    """Mean over all codes of records of the share of codes that are in the item; 0 where alone, 1 where suppressed."""
    size = np.bincount(items.of[items.of >= 0], minlength=max(1, items.number))
    share = np.where(items.of < 0, 1.0, np.where(size[items.of] == 1, 0.0, size[items.of] / items.of.size))
    return float(share[baskets.members].mean()) if baskets.members.size else 0.0


def world(seed: int) -> World:
    """Skewed codes, some in no record and one in all; itemsets from the records and from nowhere."""
    random = np.random.default_rng(seed)
    size, records = int(random.integers(4, 16)), int(random.integers(1, 40))
    share = random.random(size) ** 3
    share[0], share[1] = 1.0, 0.0
    held = random.random((records, size)) < share
    lists = [np.flatnonzero(row).tolist() for row in held]
    visits = [[code for code in codes if random.random() < 0.5] for codes in lists]
    invented = [random.permutation(size)[: int(random.integers(1, 5))].tolist() for _ in range(5)]
    privacy = from_visits(visits + invented, residue=bool(seed % 2))
    groups = CodeUtility.by_level(random.integers(0, 5, size).tolist())
    return World(Baskets.of(lists, size), privacy, groups, int(random.integers(1, min(records, 6) + 1)))
