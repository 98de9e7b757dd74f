"""Flags of groups of codes: each safe by itself, they give people up together where one decides another.

By linear programming, which knows what combinations of flags a list can have. So such groups are refused unless they
are linked (tests/unit/custody/publish/test_view_codes.py); linked, and where any combination is possible, nobody is
given up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from querygate.core.types import Ints
from querygate.methods.views import QuasiIdentifier, RecordTable, SensitiveColumn, ViewPlan, certified_views
from tests.attack.view_attacks import Unit, certain_flags
from tests.unit.custody.publish.grouped_codes import GROUPS, published
from tests.unit.custody.publish.grouped_codes import people as study

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


SEEDS = (4, 5, 21)


@pytest.mark.parametrize("combinations", [NESTED, EXCLUSIVE, COMPLETE], ids=["nested", "exclusive", "complete"])
def test_flags_that_decide_each_other_give_people_up_unless_linked(combinations: Combinations) -> None:
    assert sum(certain(seed, combinations) for seed in SEEDS) > 0
    assert sum(certain(seed, combinations, linked=True) for seed in SEEDS) == 0


def test_flags_of_which_anybody_can_have_any_combination_give_up_nobody() -> None:
    assert sum(certain(seed, ANY) for seed in SEEDS) == 0
    assert sum(certain(seed, ANY, checked=False) for seed in SEEDS) > 0


def test_a_published_store_gives_up_nobody(tmp_path: Path) -> None:
    store, _ = published(tmp_path, study())
    members = [(margin.sensitive, store.members(i)) for i, margin in enumerate(store.catalog.margins)]
    any_flags = [np.array(own) for own in zip(*product((0, 1), repeat=len(GROUPS)), strict=True)]
    found = unchecked = 0
    for frame in {row["frame"] for row in store.rows}:
        rows = [row for row in store.rows if row["frame"] == frame]
        place = {row["row_id"]: i for i, row in enumerate(rows)}
        kind = np.array([int("".join(str(int(row[name] == "true")) for name in GROUPS), 2) for row in rows])
        told, apart = [], []
        for name, own in zip(GROUPS, any_flags, strict=True):
            labels = [label_of(held, place) for unit, held in members if unit == (name,)]
            told.append(Unit(np.stack(labels), own))
            by_view = [[tuple(row[q] for q in view) for row in rows] for view in store.catalog.views]
            apart.append(Unit(np.stack([np.unique(keys, axis=0, return_inverse=True)[1] for keys in by_view]), own))
        found += certain_flags(told, kind, any_flags)
        unchecked += certain_flags(apart, kind, any_flags)
    assert found == 0 < unchecked


def label_of(members: Mapping[int, list[dict[str, Any]]], place: Mapping[int, int]) -> Ints:
    """The class of each of these records in a margin."""
    label = np.zeros(len(place), dtype=np.int64)
    for one, held in members.items():
        label[[place[row["row_id"]] for row in held if row["row_id"] in place]] = one
    return label
