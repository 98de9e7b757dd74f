"""Safe Harbor on the same file, and the partition beside it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from querygate.methods.same_disease import Quasi, Study, compare, explain_comparison, safe_harbor
from tests.bench.instance import BIRTH, checked, drawn
from tests.bench.instance import people as simulated
from tests.seeds import cases
from tests.unit.methods.same_disease.tables import COLUMNS, SEEDS, people, rows, some


def by_hand(row: tuple[object, ...]) -> tuple[object, ...]:
    """Age, birth, sex, ZIP and city of the test population as Safe Harbor leaves them."""
    age, birth, sex, code, city = row
    age = None if age != age else min(float(str(age)), 90.0)
    year = None if birth is None else max(int(str(birth)[:4]), 1929)
    return age, year, sex, str(code)[:3], city


@settings(max_examples=cases(20))
@given(SEEDS, st.integers(1, 40))
def test_classes_are_those_made_by_hand(seed: int, many: int) -> None:
    population = people(120, seed)
    population["birth"] -= np.timedelta64(4_000, "D")
    file = rows(population, some(120, many, seed))
    everybody, recorded = (
        [by_hand(row) for row in zip(*(table[column.name].tolist() for column in COLUMNS), strict=True)]
        for table in (population, file)
    )
    found = safe_harbor(Study.of(COLUMNS, population, file))
    for row, number in zip(recorded, found.class_of.tolist(), strict=True):
        assert found.risk.class_records[number] == recorded.count(row)
        assert found.risk.class_people[number] == everybody.count(row)


def test_rows_that_stand_for_several_count_as_often() -> None:
    population, persons = people(80, 3), np.random.default_rng(3).integers(0, 4, 80)
    file = rows(population, some(80, 20, 4))
    written_out = rows(population, np.repeat(np.arange(80), persons))
    found = safe_harbor(Study.of(COLUMNS, population, file, persons))
    again = safe_harbor(Study.of(COLUMNS, written_out, file))
    assert (found.risk, found.class_of.tolist()) == (again.risk, again.class_of.tolist())


def test_small_areas_are_one() -> None:
    population = {"zip": np.array(["37203", "38104", "90210"])}
    study = Study.within((Quasi("zip", "zip"),), population, np.array([0, 2]))
    assert safe_harbor(study).risk.class_people == (1, 1)
    assert safe_harbor(study, {"372", "381", "902"}).risk.class_people == (3,)


def test_a_year_of_birth_that_shows_an_age_over_89_is_not_told() -> None:
    days = np.array(["1927-05-05", "1928-01-01", "1929-12-31", "1930-01-01"], dtype="datetime64[D]")
    study = Study.within((Quasi("birth", "birth", on="2020-06-01"),), {"birth": days}, np.arange(4))
    assert safe_harbor(study).risk.class_people == (3, 1)
    dates = Study.within((Quasi("birth", "date"),), {"birth": days}, np.arange(4))
    assert safe_harbor(dates).risk.class_people == (1, 1, 1, 1)


@settings(max_examples=cases(12))
@given(SEEDS, st.integers(1, 60))
def test_there_are_never_fewer_classes_than_safe_harbor_has(seed: int, many: int) -> None:
    found = compare(Study.within(COLUMNS, people(200, seed), some(200, many, seed)))
    assert found.partition.risk.classes >= found.safe_harbor.risk.classes
    assert found.partition.risk.average_instance >= found.prevalence - 1e-12


@pytest.mark.parametrize("with_age", [False, True])
def test_half_the_risk_of_safe_harbor_on_simulated_people(with_age: bool) -> None:
    population = simulated()
    found = checked(BIRTH, population, drawn(population, 180, 11, with_age=with_age))
    assert found.partition.risk.classes >= found.safe_harbor.risk.classes
    assert found.average_ratio <= 0.5
    assert found.greatest_ratio <= 0.5
    assert found.least_ratio <= found.average_ratio
    assert "against" in explain_comparison(found)


def test_an_empty_file() -> None:
    found = compare(Study.within(COLUMNS, people(20, 1), np.zeros(20, dtype=np.bool_)))
    assert found.average_ratio == 1.0
    assert "no record" in explain_comparison(found)
