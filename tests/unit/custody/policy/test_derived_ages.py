"""Ages that are worked out from dates of birth: read from a policy, drafted, published and asked about."""

from __future__ import annotations

import csv
import datetime
import random
from pathlib import Path

import pytest

from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import AgeAt
from querygate.custody.policy import parse_policy
from querygate.custody.policy.policy_json import read_policy, write_policy
from querygate.custody.use_cases.policy_draft import draft_from
from querygate_adapters.sources.aged_source import with_ages
from querygate_adapters.sources.open_source import open_source
from tests.policies import SEX, make_policy, quasi
from tests.unit.custody.publish.publications import ask, new_site, put

AGED = quasi("integer", (0, 120), grid=1, cuts=[40, 65]) | {"from": "born", "at": "came"}

CASES = [
    ("1980-05-17", "2020-05-16", "39"),
    ("1980-05-17", "2020-05-17", "40"),
    ("2000-02-29", "2021-02-28", "20"),  # complete on 1 March of a year without the day
    ("2000-02-29", "2021-03-01", "21"),
    ("2000-02-29", "2024-02-29", "24"),
    ("17.05.1980", "20200517", "40"),
    ("1980-05-17 23:59:59", "2020-05-17 00:00:00", "40"),
    ("2020-05-17", "2020-05-17", "0"),
    ("2020-05-18", "2020-05-17", None),  # not born yet
    ("", "2020-05-17", None),
    ("1980-05-17", "", None),
    ("80-05-17", "2020-05-17", "?"),
    ("unknown", "2020-05-17", "?"),
    ("1980-02-30", "2020-05-17", "?"),
]


def written(path: Path, rows: list[tuple[str, ...]], names: tuple[str, ...] = ("born", "came")) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *rows])
    return path


def test_whole_years_between_two_dates(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", [case[:2] for case in CASES])
    aged = with_ages(open_source(str(path)), [AgeAt("age", "born", "came"), AgeAt("old", "born", day="2021-03-01")])
    assert aged.columns() == ("born", "came", "age", "old")
    found = aged.batches(["age", "came", "old"]).read_all().to_pydict()
    assert found["age"] == [case[2] for case in CASES]
    assert found["old"][:5] == ["40", "40", "21", "21", "21"]
    assert with_ages(aged, [AgeAt("age", "born", "came")]) is aged


def people(path: Path, number: int = 300) -> list[tuple[int | None, str]]:
    """A register with a date of birth alone; returns the ages by the test's own reading."""
    rng, rows, truth = random.Random(3), [], []
    for i in range(number):
        came = datetime.date(2019, 1, 1) + datetime.timedelta(days=rng.randrange(1400))
        born = came - datetime.timedelta(days=rng.randrange(18 * 365, 95 * 365))
        day = min(born.day, 28) if (born.month, born.day) != (2, 29) else 29
        born = born.replace(day=day)
        years = came.year - born.year - ((came.month, came.day) < (born.month, born.day))
        missing, sex = i % 40 == 0, rng.choice("FM")
        rows.append((f"p{i}", "" if missing else f"{born:%d.%m.%Y}", sex, came.isoformat(), str(rng.randint(90, 180))))
        truth.append((None if missing else years, sex))
    written(path, rows, ("patient_id", "date_of_birth", "sex", "admission_date", "sbp"))
    return truth


def test_a_register_with_births_alone_is_drafted_with_an_age_and_publishes_untouched(tmp_path: Path) -> None:
    truth = people(tmp_path / "register.csv")
    drafted = draft_from(str(tmp_path / "register.csv"))
    policy = parse_policy(drafted.text)
    assert policy.column("age").age == AgeAt("age", "date_of_birth", "admission_date")
    assert policy.column("date_of_birth").role == "withheld"
    assert read_policy(write_policy(policy)) == policy
    opened = new_site(tmp_path)
    report = put(opened, drafted.text, tmp_path / "register.csv")
    assert not report.warnings
    (row,) = ask(opened, "SELECT COUNT(*) FILTER (WHERE age >= 65 AND sex = 'F') AS n FROM register", "register")
    assert row["n"]["low"] <= sum(a is not None and a >= 65 and sex == "F" for a, sex in truth) <= row["n"]["high"]
    (row,) = ask(opened, "SELECT COUNT(*) AS n FROM register WHERE age IS NULL", "register")
    assert row["n"]["low"] <= sum(age is None for age, _ in truth) <= row["n"]["high"]


def test_what_an_age_must_not_be_worked_out_from() -> None:
    birth = {"born": {"role": "quasi-identifier", "type": "date", "domain": ["1900-01-01", "2020-01-01"]}}
    without_at = {key: value for key, value in AGED.items() if key != "at"}
    wrong = {
        "also published": make_policy("t", {"age": AGED, "sex": SEX, **birth}),
        "columns.age.at: is missing": make_policy("t", {"age": without_at, "sex": SEX}),
        "is neither a column nor a date": make_policy("t", {"age": AGED | {"at": 7}, "sex": SEX}),
        "does not apply": make_policy("t", {"sex": SEX | {"from": "born", "at": "came"}}),
        "worked out itself": make_policy("t", {"age": AGED, "sex": SEX, "older": AGED | {"from": "age"}}),
    }
    for what, policy in wrong.items():
        with pytest.raises(ConfigError, match=what):
            policy.parsed(Path())


def test_a_source_that_lacks_the_dates_or_has_the_name_or_an_unreadable_date(tmp_path: Path) -> None:
    policy = make_policy("t", {"age": AGED, "sex": SEX}, k=2)
    wrong = {
        "columns.age.at: the source has no column came": {"born": ["1980-05-17"] * 4, "sex": ["F"] * 4},
        "a column of this name already": {"born": ["1980-05-17"] * 4, "came": ["2020-01-01"] * 4, "Age": [7] * 4},
        "column age: 1 value cannot be read as integer, the first in row 2": {
            "born": ["1980-05-17", "17.5.80", "1980-05-17", "1980-05-17"],
            "came": ["2020-01-01"] * 4,
            "sex": ["F"] * 4,
        },
    }
    opened = new_site(tmp_path)
    for what, rows in wrong.items():
        with pytest.raises(ConfigError, match=what):
            put(opened, policy.parsed(tmp_path), rows | {"sex": ["F"] * 4})


def test_calendar_grids_begin_on_the_first_day_and_keep_cuts() -> None:
    came = quasi("date", ("2019-06-15", "2021-02-01"), grid="quarter", cuts=["2020-02-14"])
    policy = make_policy("t", {"came": came, "sex": SEX}).parsed(Path())
    days = [
        datetime.date.fromordinal(int(edge) + datetime.date(1970, 1, 1).toordinal())
        for edge in policy.column("came").edges
    ]
    assert [f"{day:%y%m%d}" for day in days] == [
        *("190615", "190701", "191001", "200101", "200214", "200401", "200701", "201001", "210101", "210201"),
    ]
    moment = quasi("timestamp", ("2019-06-15T12:00:00", "2021-02-01T00:00:00"), grid="year")
    assert len(make_policy("t", {"came": moment, "sex": SEX}).parsed(Path()).column("came").edges) == 4
    with pytest.raises(ConfigError, match=r"columns\.came\.grid"):
        make_policy("t", {"came": came | {"grid": "decade"}, "sex": SEX}).parsed(Path())
