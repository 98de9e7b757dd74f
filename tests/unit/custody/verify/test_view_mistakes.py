"""Views that were made wrongly, each in one way: the verifier refuses what is published of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import querygate.custody.publish.view_division as view_division
from querygate.core.errors import ConfigError
from querygate.core.types import Ints
from querygate.methods.views import (
    CellRelease,
    ColumnRelease,
    RecordTable,
    SensitiveColumn,
    ViewPlan,
    certified_cell,
    frame,
    tree,
)
from querygate.methods.views.certificates import figures_of
from querygate.methods.views.frontier import Frontier
from tests.unit.custody.publish.publications import new_site, put
from tests.unit.custody.verify.view_stores import SURVEY, survey


def again(frontier: Frontier, nodes: Sequence[int]) -> Frontier:
    """The smallest classes, with these nodes collapsed."""
    found = Frontier.finest(frontier.tree)
    for node in nodes:
        found = found.collapsed(node)
    return found


def one_collapse_undone(cell: CellRelease, table: RecordTable) -> CellRelease:
    """The last: it ends a cut that no other ends."""
    if not cell.collapses:
        return cell
    view = cell.collapses[-1].view
    nodes = [one.node for one in cell.collapses if one.view == view]
    counts = [again(own, nodes[:-1]) if place == view else own for place, own in enumerate(cell.counts)]
    return replace(cell, counts=tuple(counts))


def units_as_counts(cell: CellRelease, table: RecordTable) -> CellRelease:
    """Units have the classes of counts, whatever that tells."""
    return replace(
        cell,
        columns=tuple(
            told_in(cell, own, one, cell.counts) for own, one in zip(table.sensitive, cell.columns, strict=True)
        ),
    )


def units_finer_than_counts(cell: CellRelease, table: RecordTable) -> CellRelease:
    """Units have the smallest classes."""
    finest = [Frontier.finest(one.tree) for one in cell.counts]
    return replace(
        cell,
        columns=tuple(told_in(cell, own, one, finest) for own, one in zip(table.sensitive, cell.columns, strict=True)),
    )


def told_in(cell: CellRelease, column: SensitiveColumn, one: ColumnRelease, views: Sequence[Frontier]) -> ColumnRelease:
    safe = replace(one.safe, views=tuple(views))
    return replace(one, views=(0, 1), safe=safe, figures=figures_of(column, cell.records, cell.leaf, (0, 1), safe))


@pytest.mark.parametrize(
    ("mistake", "promise"),
    [
        (one_collapse_undone, "two views together tell of k = 5 people or of nobody"),
        (units_as_counts, "everybody could have another value of"),
        (units_finer_than_counts, "are made of classes of counts"),
    ],
)
def test_views_that_were_made_wrongly(
    mistake: Callable[[CellRelease, RecordTable], CellRelease],
    promise: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def careless(table: RecordTable, plan: ViewPlan, records: Ints) -> CellRelease:
        return mistake(certified_cell(table, plan, records), table)

    monkeypatch.setattr(view_division, "certified_cell", careless)
    with pytest.raises(ConfigError, match=promise):
        put(new_site(tmp_path), SURVEY, survey(400))


def few_old() -> dict[str, list[Any]]:
    """Survey of whom k, of both sexes, are in a frame cell of their own."""
    people = survey(100)
    people["age"] = [59] * 5 + [min(age, 49) for age in people["age"][5:]]
    people["sex"][:5] = ["f", "m", "f", "m", "f"]
    return people


@pytest.mark.parametrize("careless", [tree, frame])
def test_values_that_could_not_be_those_of_k_people(
    careless: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Splits, or frame cells, that leave a value to fewer than k."""
    monkeypatch.setattr(careless, "hides", lambda *_: True)
    with pytest.raises(ConfigError, match=r"of a class of margin 0 could be that of k = 5 people"):
        put(new_site(tmp_path), SURVEY, few_old())


def test_values_that_could_be_those_of_k_people(tmp_path: Path) -> None:
    put(new_site(tmp_path), SURVEY, few_old())
