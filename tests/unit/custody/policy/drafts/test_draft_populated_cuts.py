"""Cuts of a draft: between two neighbours there are enough people of each sex."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from querygate.core.column_profile import ColumnFigures
from querygate.custody.policy.drafts.column_proposal import Proposal
from querygate.custody.policy.drafts.draft_populated_cuts import (
    COMMON,
    Demand,
    common_groups,
    fitting_cuts,
    with_fitting_cuts,
)

BANDS = [18, 25, 35, 45, 55, 65, 75, 85]
NAN = float("nan")


Column = np.ndarray[tuple[int], np.dtype[np.float64]]


def sexes(*parts: tuple[int, float]) -> Column:
    return np.concatenate([np.full(number, value) for number, value in parts])


def needs(ages: Column, least: float, *beside: Column) -> list[Demand]:
    """So many of everybody, and of each common value of the columns beside it."""
    everybody = Demand(np.zeros(ages.size, dtype=np.int64), least)
    return [everybody, *(Demand(common_groups(one, COMMON), least) for one in beside)]


def test_bands_where_nobody_is_are_no_bands() -> None:
    ages = np.repeat(np.arange(50.0, 95.0), 20)
    assert fitting_cuts(ages, BANDS, needs(ages, 30)) == [55, 65, 75, 85]


def test_a_band_has_enough_of_each_sex_and_not_of_all_together() -> None:
    """Four women of 20 to 24, and forty men."""
    ages = np.concatenate([np.full(44, 22.0), np.repeat(np.arange(25.0, 65.0), 10)])
    sex = np.concatenate([sexes((4, 1), (40, 2)), np.arange(400) % 2 + 1.0])
    assert fitting_cuts(ages, BANDS, needs(ages, 30))[0] == 25
    assert fitting_cuts(ages, BANDS, needs(ages, 30, sex)) == [35, 45, 55]


def test_a_rare_value_and_missing_ones_take_no_cut_away() -> None:
    ages = np.repeat(np.arange(20.0, 80.0), 10)
    sex = np.where(np.arange(600) % 100 == 0, 3.0, np.arange(600) % 2 + 1.0)
    sex[::7] = NAN
    assert fitting_cuts(ages, BANDS, needs(ages, 15, sex)) == [25, 35, 45, 55, 65, 75]
    ages[::9] = NAN
    assert fitting_cuts(ages, BANDS, needs(ages, 15, sex)) == [25, 35, 45, 55, 65, 75]


@pytest.mark.parametrize("ages", [np.full(50, 40.0), np.full(50, NAN), np.zeros(0), np.array([1e300, -1e300, 40.0])])
def test_where_all_are_alike_or_nobody_is_known_there_are_no_cuts(ages: np.ndarray) -> None:  # type: ignore[type-arg]
    assert fitting_cuts(ages, BANDS, needs(ages, 10)) == []


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


def test_a_band_has_enough_of_each_sex_by_every_value_that_is_told() -> None:
    """Of the old, few are of the third ethnicity; and of dates there are cuts as well."""
    rng = np.random.default_rng(5)
    ages = rng.integers(20, 90, 4000).astype(np.float64)
    group = np.where(ages >= 75, rng.choice([1.0, 2.0], 4000), rng.choice([1.0, 2.0, 3.0, 4.0], 4000))
    group[(ages >= 75) & (np.arange(4000) % 200 == 0)] = 3.0
    age = Proposal("age", "quasi-identifier", "integer", {"cuts": "[25, 35, 45, 55, 65, 75, 85]"})
    day = Proposal("day", "quasi-identifier", "date", {"cuts": "[2019-01-01, 2020-01-01, 2021-01-01]"})
    sex = Proposal("sex", "quasi-identifier", "category", {"values": '["F", "M"]'})
    origin = Proposal("origin", "quasi-identifier", "category", {"values": '["a", "b", "c", "d"]'})
    sample = {
        "age": ages,
        "sex": np.arange(4000) % 2 + 1.0,
        "origin": group,
        "day": np.where(np.arange(4000) < 3999, 18_300.0 + np.arange(4000) % 400, 17_000.0),
    }
    figures = {name: ColumnFigures(name, 4000, readable={"date": 4000}, sample=one) for name, one in sample.items()}
    found = {p.name: p.keys.get("cuts") for p in with_fitting_cuts([age, sex, origin, day], figures, 10)}
    assert found["age"] == "[25, 35, 45, 55, 65]"
    assert found["day"] == "[2021-01-01]"  # from 2020-02-08 on, but for one record of 2016
    without = {p.name: p.keys.get("cuts") for p in with_fitting_cuts([age, sex], figures, 10)}
    assert without["age"] == "[25, 35, 45, 55, 65, 75, 85]"
