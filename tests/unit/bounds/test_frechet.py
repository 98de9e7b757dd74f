"""Collections of margins for the bounds of Fréchet: the smallest there are, and few of them however many views."""

from __future__ import annotations

import itertools
import random
from functools import reduce
from operator import or_
from pathlib import Path

import pytest

from querygate.bounds.frechet import smallest_covers
from querygate.core.types import Request
from querygate.gate.answer import answer
from tests.property.random_cases import RESEARCHER
from tests.property.view_cases import Design, RawColumn, publish_margins
from tests.work import count_calls


def all_covers(held: list[int]) -> list[tuple[int, ...]]:
    """Every smallest collection, by trying all."""
    whole = reduce(or_, held, 0)
    for size in range(2, len(held) + 1):
        of_size = itertools.combinations(range(len(held)), size)
        found = [cover for cover in of_size if reduce(or_, (held[i] for i in cover)) == whole]
        if found:
            return found
    return []


@pytest.mark.parametrize("margins", range(1, 9))
def test_of_few_margins_the_smallest_collections_are_found(margins: int) -> None:
    rng = random.Random(margins)
    for _ in range(100):
        held = [rng.randrange(2 ** rng.choice([1, 3, 6])) & rng.randrange(64) for _ in range(margins)]
        assert smallest_covers(held) == all_covers(held)[:6]


def test_of_many_margins_one_collection_is_enough() -> None:
    assert smallest_covers([1 << i for i in range(60)]) == [tuple(range(60))]
    [cover] = smallest_covers([*(1 << i for i in range(60)), *(0b111 << i for i in range(0, 60, 3))])
    assert sorted(cover) == list(range(60, 80))


def test_a_statement_over_the_columns_of_many_views_takes_little_work(tmp_path: Path) -> None:
    """Each of twenty views has one of its columns, so it takes all of them."""
    views, rows = 20, 12
    rng = random.Random(1)
    columns = [
        RawColumn(f"q{i}", "quasi-identifier", "category", [rng.choice("aab") for _ in range(rows)], ("a", "b"))
        for i in range(views)
    ]
    labels: dict[tuple[int, tuple[str, ...]], list[str]] = {
        (view, ()): list(column.values) for view, column in enumerate(columns)
    }
    design = Design([(column.name,) for column in columns], [], [0] * rows, labels)
    study = publish_margins(columns, design, tmp_path)
    where = " AND ".join(f"{column.name} = 'a'" for column in columns)
    asked = Request(RESEARCHER, "t", f"SELECT COUNT(*) FROM t WHERE {where}")
    found, calls = count_calls(lambda: answer(asked, study.opened.gate).groups)
    assert calls < 500_000  # all collections of twenty views are a million
    assert found[0].ranges[0].low <= study.truth.execute(f"SELECT COUNT(*) FROM t WHERE {where}").fetchall()[0][0]
