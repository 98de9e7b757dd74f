"""The 18 kinds, ZIP codes, dates and ages; the preset as a point of a lattice; what a column looks like."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import numpy as np
import pytest

from querygate.methods.policy_search import (
    IDENTIFIERS,
    LatticeAttribute,
    PolicyLattice,
    cells,
    recode,
    rules,
    safe_harbor,
    suggest,
    treated,
    whole_numbers,
    zip3,
    zip_codes,
)
from querygate.methods.policy_search.safe_harbor_preset import RESTRICTED, ages, birth_years, years
from tests.each import each


def test_there_are_18_kinds() -> None:
    assert "".join(one.letter for one in IDENTIFIERS) == "ABCDEFGHIJKLMNOPQR"
    assert all(one.kind and one.covers and one.does for one in IDENTIFIERS)
    assert [one.letter for one in IDENTIFIERS if one.does != "dropped"] == ["B", "C"]


def test_zip_codes_keep_three_digits_unless_few_live_there() -> None:
    assert len(RESTRICTED) == 17
    assert zip3(["37212", "37212-1234", "372121234", 2139, "03601", "89301"]) == ["372"] * 3 + ["021", "000", "000"]
    assert zip3([None, "", float("nan")]) == [None] * 3
    assert zip3(["3721", "K1A 0B1", "abcde"]) == ["000"] * 3


def test_a_table_of_people_counts_instead_of_the_list() -> None:
    people = {"036": 20_001, "372": 20_000}
    assert zip3(["03601", "37212", "90210"], people) == ["036", "000", "000"]
    assert zip3(["37212", "37011"], {"37212": 20_000, "37205": 1, "37011": 20_000}) == ["372", "000"]
    with pytest.raises(ValueError, match="five digits"):
        zip3(["37212"], {"372": 1, "37212": 2})
    with pytest.raises(ValueError, match="five digits"):
        zip3(["37212"], {"3721": 1})


def test_dates_keep_the_year() -> None:
    dates = [date(2019, 5, 1), datetime(2020, 1, 2, 3), np.datetime64("2018-07-01"), "2017-01-01T10:00", 2016]
    assert years(dates) == [2019, 2020, 2018, 2017, 2016]
    assert years([None, np.datetime64("NaT")]) == [None, None]
    with pytest.raises(ValueError, match="begin with its year"):
        years(["01/05/2019"])


def test_the_old_are_one_group() -> None:
    assert ages([0, 89.9, 90, "104", None]) == ["0", "89", "90+", "90+", None]
    # Born in 1930, somebody is 89 or 90 in 2020: the year may tell 90, so it is not told.
    assert birth_years(["1930-12-31", "1931-01-01", None], at=2020) == ["1930 or before", "1931", None]


def test_the_preset_on_columns() -> None:
    assert treated(["Ann"], "drop") is None
    assert treated(["37212"], "zip3", people={"372": 5}) == ["000"]
    assert treated(["2019-05-01"], "year") == [2019]
    assert treated([91], "age") == ["90+"]
    assert treated(["1900-01-01"], "birth year", at=2020) == ["1930 or before"]
    with pytest.raises(ValueError, match="year of the release"):
        treated(["1900-01-01"], "birth year")


def test_safe_harbor_is_a_policy() -> None:
    lattice = PolicyLattice((whole_numbers("age", 0, 100, open_top=True), LatticeAttribute("sex", ("F", "M"))))
    policy = safe_harbor(lattice)
    assert rules(policy) == ("ages 90+ combined",)
    assert recode(policy, {"age": [89, 90, 103]})["age"].tolist() == ages([89, 90, 103])
    assert safe_harbor(lattice, age=None) == lattice.finest


def test_cells_over_90_are_one_group_with_those_above() -> None:
    lattice = PolicyLattice((cells("age", [0, 50, 80, 90, 95, 120]),))
    assert safe_harbor(lattice).labels("age") == ("0 to 50", "50 to 80", "80 to 90", "90 to 120")
    straddling = PolicyLattice((cells("age", [0, 50, 85, 95, 120]),))
    assert safe_harbor(straddling).labels("age") == ("0 to 50", "50 to 85", "85 to 120")


def test_zip_codes_in_a_lattice() -> None:
    codes = ["37212", "37011", "03601", "37205", "05901", "37201", "90210"]
    attribute = zip_codes("zip", codes)
    lattice = PolicyLattice((whole_numbers("age", 88, 92), attribute))
    policy = safe_harbor(lattice)
    assert policy.labels("zip") == ("000", "370", "372", "902")
    assert recode(policy, {"zip": codes})["zip"].tolist() == zip3(codes)
    told = ("03601", "05901", "370", "37201-37205", "37212", "902")
    assert lattice.policy("1111" + "111011").labels("zip") == told
    assert lattice.coarsest.labels("zip") == ("000/370/372/902",)


@pytest.mark.parametrize(("age", "word"), [("sex", "must be numbers"), ("years", "no attribute")])
def test_safe_harbor_needs_an_age_in_numbers(age: str, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        safe_harbor(PolicyLattice((LatticeAttribute("sex", ("F", "M")),)), age)


@each(
    "column, letter, treatment",
    [
        ("last_name", "A", "drop"),
        ("PatientName", "A", "drop"),
        ("zip_code", "B", "zip3"),
        ("home_address", "B", "drop"),
        ("county", "B", "drop"),
        ("dob", "C", "birth year"),
        ("BirthDate", "C", "birth year"),
        ("admission_date", "C", "year"),
        ("age", "C", "age"),
        ("age_at_diagnosis", "C", "age"),
        ("home_phone", "D", "drop"),
        ("fax_phone_number", "E", "drop"),
        ("Email", "F", "drop"),
        ("ssn", "G", "drop"),
        ("MRN", "H", "drop"),
        ("patient_id", "H", "drop"),
        ("member_id", "I", "drop"),
        ("account_number", "J", "drop"),
        ("driver_license", "K", "drop"),
        ("license_plate", "L", "drop"),
        ("device_serial", "M", "drop"),
        ("website", "N", "drop"),
        ("ip_address", "O", "drop"),
        ("fingerprint", "P", "drop"),
        ("photo", "Q", "drop"),
        ("visit_uuid", "R", "drop"),
    ],
)
def test_what_a_name_looks_like(column: str, letter: str, treatment: str) -> None:
    found = suggest(column)
    assert found is not None
    assert (found.letter, found.treatment) == (letter, treatment)


@pytest.mark.parametrize(
    ("values", "letter"),
    [
        (["123-45-6789", "987-65-4321"], "G"),
        (["a@b.org", None, "c@d.com"], "F"),
        (["https://example.org/x"], "N"),
        (["10.0.0.1", "192.168.1.254"], "O"),
        (["(615) 555-1234", "615-555-9876"], "D"),
        (["37212", "02139-1234"], "B"),
        (["2019-01-01", "2020-02-02 10:00"], "C"),
        ([date(2019, 1, 1)], "C"),
        (["1HGCM82633A004352"], "L"),
        ([f"code {at}" for at in range(30)], "R"),
    ],
)
def test_what_values_look_like(values: list[Any], letter: str) -> None:
    found = suggest("x1", values)
    assert found is not None
    assert found.letter == letter


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("systolic", [120.5, 130.0]),
        ("race", ["White"] * 30),
        ("drug", ["aspirin", "statin"]),
        ("language", []),
        ("stage", ["I", "II"]),
        ("state", ["TN", "KY"]),
        ("income", list(range(50))),
        ("diagnosis", ["10.0.0.1"] + ["cold"] * 30),
    ],
)
def test_what_looks_like_nothing(column: str, values: list[Any]) -> None:
    assert suggest(column, values) is None
