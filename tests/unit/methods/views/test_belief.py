"""Belief in a bin is the share of tables in which it is so; and what is certain is believed for certain."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from querygate.methods.views import certified_views
from querygate.methods.views.belief import beliefs
from tests.unit.methods.views.random_worlds import sampled_beliefs
from tests.unit.methods.views.tables import SURVEY_PLAN, survey_like


@pytest.mark.parametrize("name", ["sbp", "smoker", "diabetes"])
def test_fitting_agrees_with_tables_drawn_at_random(name: str) -> None:
    table = survey_like(600)
    release = certified_views(table, SURVEY_PLAN)
    column = next(one for one in table.sensitive if one.name == name)
    cell = release.cells[2]
    labels = np.stack([label for view in (0, 1) if (label := cell.labels(view, name)) is not None])
    bins = column.bins[cell.records]
    drawn = sampled_beliefs(labels, bins, tries=20_000, every=100)
    found = beliefs(labels, bins)
    assert abs(found.mean() - drawn.mean()) < 0.01
    assert np.abs(found - drawn).mean() < 0.04


def test_one_view_is_counted_exactly() -> None:
    label, bins = np.repeat([3, 9], [4, 2])[None, :], np.array([7, 7, 7, 1, 1, 1])
    worlds = {world for world in permutations(bins.tolist()) if sorted(world[:4]) == [1, 7, 7, 7]}
    share = [np.mean([world[record] == bins[record] for world in worlds]) for record in range(6)]
    assert np.allclose(beliefs(label, bins), share)


def test_what_two_views_fix_is_certain() -> None:
    """Three people are in the first class of one view and not of the other, and all who are ill are among them."""
    labels = np.array([[0] * 6 + [1] * 4, [0] * 3 + [1] * 7])
    bins = np.array([0, 0, 0, 1, 1, 1, 0, 0, 0, 0])
    found = beliefs(labels, bins)
    assert found[3:6].min() > 0.98
    assert beliefs(labels[:1], bins).max() == 1.0  # the second class is all of one bin


@pytest.mark.parametrize(
    ("labels", "bins"),
    [
        (np.zeros((2, 1), dtype=np.int64), np.zeros(1, dtype=np.int64)),
        (np.zeros((3, 5), dtype=np.int64), np.full(5, 4)),
        (np.arange(6).reshape(1, 6), np.array([0, 1, 2, 0, 1, 2])),
    ],
)
def test_constants_and_people_alone_are_certain(labels: np.ndarray, bins: np.ndarray) -> None:
    assert beliefs(labels, bins).tolist() == [1.0] * bins.size
