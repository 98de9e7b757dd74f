"""Classes over all quasi-identifiers beside views give whole records up, though each by itself gives up nobody.

Therefore a dataset has the one or the other. Found by linear programming, on NHANES and a made-up survey.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from querygate.core.errors import ConfigError
from querygate.core.types import Ints
from querygate.methods.views import RecordTable, SensitiveColumn, ViewPlan, certified_views
from tests.attack.view_attacks import certain_records
from tests.attack.views.test_certified_views import certified, made
from tests.policies import make_policy, quasi, sensitive

LINKED = {
    "NHANES": (0, ("high", "sbp")),
    "made-up survey": (3, ("bmi", "sbp")),
}
"""The frame cell that is attacked, and the columns that classes link."""


@cache
def published(name: str) -> tuple[list[Ints], list[Ints], Ints]:
    """In one frame cell: of each linked column its classes in certified views and its bins; and the classes of a
    release over all quasi-identifiers in which these values stay linked.
    """
    table, release = made(name)
    place, names = LINKED[name]
    cell = release.cells[place]
    columns = [column for column in table.sensitive if column.name in names]
    bins = [column.bins for column in columns]
    _, joint = np.unique(np.stack(bins), axis=1, return_inverse=True)
    linked = SensitiveColumn("record", joint.reshape(-1)[cell.records], int(joint.max()) + 1)
    quasi = tuple(replace(column, codes=column.codes[cell.records]) for column in table.quasi)
    every = tuple(column.name for column in quasi)
    base = certified_views(RecordTable(quasi, (linked,)), ViewPlan((every,), (), release.k)).cells[0]
    label = base.labels(0, "record")
    assert label is not None
    order = np.argsort(base.records)
    views = [certified(cell, column.name) for column in columns]
    return views, [own[cell.records] for own in bins], label[order]


@pytest.mark.parametrize("name", LINKED)
def test_beside_views_linked_classes_give_whole_records_up(name: str) -> None:
    views, bins, base = published(name)
    nothing = [np.zeros_like(one) for one in views]
    assert certain_records(views, bins) == 0
    assert certain_records(nothing, bins, base) == 0
    assert certain_records(views, bins, base) > 0


def test_a_policy_cannot_ask_for_both() -> None:
    columns = {"age": quasi("integer", (0, 90)), "sex": quasi("category"), "ill": sensitive("category")}
    with pytest.raises(ConfigError, match="complete records of single people"):
        make_policy("t", columns, views={"mode": "beside"}).parsed()
