"""Flags of groups of codes: each safe by itself, they give people up together where one decides another.

By linear programming, which knows what combinations of flags a list can have. So such groups are refused unless they
are linked (tests/unit/custody/publish/test_view_codes.py); linked, and where any combination is possible, nobody is
given up.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from querygate.core.types import Ints
from querygate.methods.views import QuasiIdentifier, RecordTable, SensitiveColumn, ViewPlan, certified_views
from tests.attack.view_attacks import Unit, certain_flags

K = 3
PLAN = ViewPlan((("sex", "town"), ("sex", "job")), (), K)
Combinations = Sequence[tuple[int, ...]]

ANY: Combinations = tuple(product((0, 1), repeat=2))
NESTED: Combinations = ((0, 0), (0, 1), (1, 1))
EXCLUSIVE: Combinations = ((0, 0), (0, 1), (1, 0))
COMPLETE: Combinations = ((0, 1), (1, 0), (1, 1))


def people(seed: int, combinations: Combinations, number: int = 40) -> tuple[list[QuasiIdentifier], Ints]:
    """Quasi-identifiers, and which combination of flags everybody has."""
    rng = np.random.default_rng(seed)
    quasi = [
        QuasiIdentifier(name, rng.integers(0, size, number), size)
        for name, size in (("sex", 2), ("town", 3), ("job", 3))
    ]
    return quasi, rng.choice(len(combinations), number, p=rng.dirichlet([2.0] * len(combinations)))


def certain(seed: int, combinations: Combinations, *, linked: bool = False, checked: bool = True) -> int:
    """How many flags of people are the same in every table that meets what is published."""
    quasi, kind = people(seed, combinations)
    flags = [np.array(own) for own in zip(*combinations, strict=True)]
    if linked:
        columns = [SensitiveColumn("both", kind, len(combinations), parts=tuple(flags))]
        meant = [np.arange(len(combinations))]
    else:
        columns = [SensitiveColumn(f"flag {i}", own[kind], 2) for i, own in enumerate(flags)]
        meant = flags
    release = certified_views(RecordTable(tuple(quasi), tuple(columns)), PLAN)
    found = 0
    for cell in release.cells:
        told = []
        for column, own in zip(columns, meant, strict=True):
            labels = [cell.labels(view, column.name) if checked else cell.leaf[view] for view in range(2)]
            rows = [label for label in labels if label is not None]
            nothing = Unit(np.zeros((1, cell.records.size), dtype=np.int64), np.zeros_like(own))  # it is withheld
            told.append(Unit(np.stack(rows), own) if rows else nothing)
        found += certain_flags(told, kind[cell.records], flags)
    return found


SEEDS = (4, 5, 17, 21, 50)


@pytest.mark.parametrize("combinations", [NESTED, EXCLUSIVE, COMPLETE], ids=["nested", "exclusive", "complete"])
def test_flags_that_decide_each_other_give_people_up_unless_linked(combinations: Combinations) -> None:
    assert sum(certain(seed, combinations) for seed in SEEDS) > 0
    assert sum(certain(seed, combinations, linked=True) for seed in SEEDS) == 0


def test_flags_of_which_anybody_can_have_any_combination_give_up_nobody() -> None:
    assert sum(certain(seed, ANY) for seed in SEEDS) == 0
    assert sum(certain(seed, ANY, linked=True) for seed in SEEDS) == 0
    assert sum(certain(seed, ANY, checked=False) for seed in SEEDS) > 0
