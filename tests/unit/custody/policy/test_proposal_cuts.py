"""Cuts of a draft: between two neighbours there are enough people of each sex."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from querygate.core.column_figures import ColumnFigures
from querygate.custody.policy.proposals.proposal import Proposal
from querygate.custody.policy.proposals.proposal_cuts import fitting_cuts, with_fitting_cuts

BANDS = [18, 25, 35, 45, 55, 65, 75, 85]
NAN = float("nan")


def sexes(*parts: tuple[int, float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.concatenate([np.full(number, value) for number, value in parts])


def test_bands_where_nobody_is_are_no_bands() -> None:
    ages = np.repeat(np.arange(50.0, 95.0), 20)
    assert fitting_cuts(ages, BANDS, [], 30) == [55, 65, 75, 85]


def test_a_band_has_enough_of_each_sex_and_not_of_all_together() -> None:
    """Four women of 20 to 24, and forty men."""
    ages = np.concatenate([np.full(44, 22.0), np.repeat(np.arange(25.0, 65.0), 10)])
    sex = np.concatenate([sexes((4, 1), (40, 2)), np.arange(400) % 2 + 1.0])
    assert fitting_cuts(ages, BANDS, [], 30)[0] == 25
    assert fitting_cuts(ages, BANDS, [sex], 30) == [35, 45, 55]


def test_a_rare_value_and_missing_ones_take_no_cut_away() -> None:
    ages = np.repeat(np.arange(20.0, 80.0), 10)
    sex = np.where(np.arange(600) % 100 == 0, 3.0, np.arange(600) % 2 + 1.0)
    sex[::7] = NAN
    assert fitting_cuts(ages, BANDS, [sex], 15) == [25, 35, 45, 55, 65, 75]
    ages[::9] = NAN
    assert fitting_cuts(ages, BANDS, [sex], 15) == [25, 35, 45, 55, 65, 75]


@pytest.mark.parametrize("ages", [np.full(50, 40.0), np.full(50, NAN), np.zeros(0), np.array([1e300, -1e300, 40.0])])
def test_where_all_are_alike_or_nobody_is_known_there_are_no_cuts(ages: np.ndarray) -> None:  # type: ignore[type-arg]
    assert fitting_cuts(ages, BANDS, [np.ones(ages.size)], 10) == []


def test_the_draft_says_which_cuts_it_leaves_out() -> None:
    age = Proposal("age", "quasi-identifier", "integer", {"cuts": "[18, 25, 35]"}, notes={"cuts": "bands"})
    sex = Proposal("sex", "quasi-identifier", "category", {"values": '["F", "M"]'})
    figures = {
        "age": ColumnFigures("age", 400, sample=np.repeat(np.arange(20.0, 60.0), 10)),
        "sex": ColumnFigures("sex", 400, sample=np.arange(400) % 2 + 1.0),
    }
    found, other = with_fitting_cuts([age, sex], figures, 10)
    assert (found.keys["cuts"], found.notes["cuts"]) == ("[35]", "bands; not 18, 25: too few people on one side")
    assert other == sex
    few = {
        name: replace(one, rows=40_000) for name, one in figures.items()
    }  # of a sample: all are a hundred times more
    assert with_fitting_cuts([age, sex], few, 10)[0].keys["cuts"] == "[25, 35]"
    (withheld, _) = with_fitting_cuts([replace(age, role="withheld"), sex], figures, 10)
    assert withheld.keys == age.keys
