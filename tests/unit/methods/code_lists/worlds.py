"""Small worlds of codes: the golden records, and random ones with policies, as numbers and as texts."""

from __future__ import annotations

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
    privacy = CodePrivacy.from_visits(visits + invented, residue=bool(seed % 2))
    groups = CodeUtility.by_level(random.integers(0, 5, size).tolist())
    return World(Baskets.of(lists, size), privacy, groups, int(random.integers(1, min(records, 6) + 1)))
