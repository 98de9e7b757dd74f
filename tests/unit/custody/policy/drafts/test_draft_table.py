"""Which columns of a table are proposed together: nothing twice, a birth date in one part, cuts that can be told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from querygate.core.column_profile import ColumnFigures
from querygate.custody.policy import Policy, parse_policy
from querygate.custody.policy.drafts.column_proposal import Proposal
from querygate.custody.policy.drafts.column_relations import follows, rank_correlation, untold
from querygate.custody.policy.drafts.draft_frame import bridge
from querygate.custody.policy.drafts.draft_table import COARSE, propose
from querygate.custody.use_cases.policy_draft import draft_from
from tests.unit.custody.publish.publications import ends, new_site, put, write_parquet

ROWS = 600
Table = dict[str, Any]


@pytest.fixture(scope="module")
def people() -> Table:
    rng = np.random.default_rng(8)
    born = np.datetime64("1940-01-01") + rng.integers(0, 20_000, ROWS)
    text = born.astype(str)
    sbp = rng.normal(125, 18, ROWS).round()
    bmi = rng.normal(27, 5, ROWS).round(1)
    sex = rng.integers(0, 2, ROWS)
    return {
        "person_id": [f"p{i:05d}" for i in range(ROWS)],
        "day_of_birth": [int(day[8:]) for day in text],
        "month_of_birth": [int(day[5:7]) for day in text],
        "birth_datetime": born,
        "year_of_birth": [int(day[:4]) for day in text],
        "gender_concept_id": np.where(sex, 8507, 8532),
        "gender_source_value": np.where(sex, "M", "F"),
        "sbp1": sbp + rng.integers(-2, 3, ROWS),
        "sbp": sbp,
        "bmi": bmi,
        "bmi_class": np.select([bmi < 18.5, bmi < 25, bmi < 30], ["under", "normal", "over"], "obese"),
        "index_score": bmi * 3 + 1,
    }


def drafted(folder: Path, table: Table) -> tuple[Policy, str]:
    text = draft_from(str(write_parquet(folder / "people.parquet", table))).text
    return parse_policy(text), text.replace("\n# ", " ")


def test_parts_of_a_birth_date_are_one(tmp_path: Path, people: Table) -> None:
    policy, _ = drafted(tmp_path, people)
    parts = ("day_of_birth", "month_of_birth", "birth_datetime", "year_of_birth")
    assert [policy.column(name).role for name in parts] == ["withheld"] * 3 + ["quasi-identifier"]
    year = policy.column("year_of_birth")
    assert (year.low, year.high) == (1930, 2000)
    assert year.cuts == (1950, 1960, 1970, 1980)  # 1940 and 1990 have too few on one side
    without = {name: values for name, values in people.items() if name != "year_of_birth"}
    told = drafted(tmp_path, without)[0]
    assert (told.column("birth_datetime").role, told.column("age").role) == ("withheld", "quasi-identifier")


def test_copies_are_named_and_dropped(tmp_path: Path, people: Table) -> None:
    policy, text = drafted(tmp_path, people)
    kept = {column.name for column in policy.published}
    assert kept == {"year_of_birth", "gender_concept_id", "sbp1", "bmi"}
    assert "Another reading of what sbp1 measures (rank correlation" in text
    assert "Nearly a copy of bmi (rank correlation 1.00)" in text
    assert "Follows from bmi (which avoids" in text


def test_columns_that_have_nothing_to_do_with_each_other_stay() -> None:
    rng = np.random.default_rng(2)
    a, b, many = rng.integers(0, 3, 400) * 1.0, rng.integers(0, 3, 400) * 1.0, np.arange(400.0)
    assert follows(a, b) < 0.2
    assert follows(many, b) < 0.5  # one record for each value tells nothing
    assert abs(rank_correlation(many, b)) < 0.2
    assert rank_correlation(many, many**3) == pytest.approx(1)
    gone = np.full(400, np.nan)
    assert follows(gone, b) == follows(b, gone) == rank_correlation(gone, b) == rank_correlation(a * 0, b) == 0


# -- cuts of the frame ------------------------------------------------------------------------------------------------


def test_records_of_a_cell_that_tells_nothing() -> None:
    cells = np.array([0, 0, 1, 1, 2, 2])
    assert untold(np.array([np.nan, np.nan, 1, np.nan, 5, 5]), cells).tolist() == [True, True, False, False, True, True]


def frame_of(values: np.ndarray) -> tuple[tuple[int, ...], Proposal]:
    age = np.arange(1000.0) % 100
    columns = [
        Proposal("age", "quasi-identifier", "integer", {"domain": "[0, 120]", "cuts": "[18, 25, 65]"}),
        Proposal("smoker", "sensitive", "category"),
    ]
    found = bridge(columns, {n: ColumnFigures(n, 1000, sample=x) for n, x in (("age", age), ("smoker", values))})
    cuts = found.columns[0].keys.get("cuts", "[]").strip("[]")
    return tuple(int(cut) for cut in cuts.split(",") if cut), found.columns[1]


def test_a_cut_between_those_who_were_asked_and_others_is_none_of_the_frame() -> None:
    age, answers = np.arange(1000.0) % 100, np.arange(1000.0) // 100 % 2
    assert frame_of(answers)[0] == (18, 25, 65)
    assert frame_of(np.where(age < 20, np.nan, answers))[0] == (25, 65)
    assert frame_of(np.where(age > 60, np.nan, answers))[0] == (18, 25)
    _, smoker = frame_of(answers * 0)
    assert smoker.role == "withheld"
    assert "views could publish nothing about it" in smoker.why[-1]


def test_a_question_that_children_were_not_asked_is_told_for_all(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    age = rng.integers(0, 80, 1500)
    smoker = [
        str(value) if years >= 20 else None for years, value in zip(age, rng.choice(["n", "y"], 1500), strict=True)
    ]
    table = {"age": age, "sex": rng.choice(["f", "m"], 1500), "smoker": smoker}
    policy, text = drafted(tmp_path, table)
    assert policy.column("age").cuts == (25, 35, 45, 55, 65, 75)
    assert policy.views is not None
    assert policy.views.spanning == (("sex", "age"),)  # classes by sex stay where some have no value
    assert dict(policy.views.prefer)["age"][0] == 18
    assert "18 is not a cut of age" in text

    opened = new_site(tmp_path)
    report = put(opened, draft_from(str(tmp_path / "people.parquet")).text.replace('"people"', '"t"'), table)
    assert not report.warnings
    low, high = ends(opened, "COUNT(smoker)", "age >= 0")
    assert low == high == sum(one is not None for one in smoker)


# -- eight digits ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [int, float, str, lambda day: f" {day} "], ids=["integer", "float", "text", "blanks"])
def test_eight_digits_are_a_date(tmp_path: Path, form: Any) -> None:
    rng = np.random.default_rng(7)
    parts = rng.integers([5, 1, 1], [12, 13, 29], (300, 3)).tolist()
    days = [20_000_000 + 10_000 * year + 100 * month + day for year, month, day in parts]
    table = {"sex": rng.choice(["f", "m"], 300), "admission_dt": [None, *map(form, days[1:])]}
    policy, text = drafted(tmp_path, table)
    assert policy.column("admission_dt").type == "date"
    assert "Dates written as eight digits" in text
    opened = new_site(tmp_path)
    put(opened, draft_from(str(tmp_path / "people.parquet")).text.replace('"people"', '"t"'), table)
    low, high = ends(opened, "COUNT(*)", "admission_dt >= DATE '2008-01-01'")
    assert low <= sum(day >= 20080101 for day in days[1:]) <= high


def test_of_few_values_the_commonest_keep_their_names_and_the_rest_is_one() -> None:
    """Also where a value is called as the rest is; what is sensitive keeps all of its values."""
    counts = {"low": 300, "other": 200, "mid": 60, "high": 40}
    figures = [
        ColumnFigures("education", ROWS, distinct=4, values=tuple(counts.items()), largest=300),
        ColumnFigures("pain", ROWS, distinct=4, values=tuple(counts.items()), largest=300),
    ]
    school, pain = propose(figures, 5, room=COARSE)
    assert (school.role, school.keys["values"], school.keys["rare"]) == (
        "quasi-identifier",
        '["low", "other"]',
        '"other"',
    )
    assert pain.role == "sensitive"
    assert "high" in pain.keys["values"]
