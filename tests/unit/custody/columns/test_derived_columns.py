"""What tables of events come to for each person, beside the same worked out one person after the other in Python."""

from __future__ import annotations

import csv
import datetime as dt
import random
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from querygate.core.derived_columns import DerivedColumn, EventCondition
from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import JoinedTable
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.vault.staging_tables import DuckDBStagingTables
from tests.engine import reading
from tests.postgres import Server
from tests.unit.custody.publish.publications import ask, new_site, put, raw_rows, write_parquet

Event = dict[str, str]
EVENT = ("who", "at", "value", "code", "day", "number")
TYPES = {
    "mean": "number",
    "sum": "integer",
    "min": "number",
    "max": "date",
    "first": "category",
    "last": "number",
    "count": "integer",
    "distinct": "integer",
    "any": "boolean",
    "list": "codes",
}


def write(path: Path, rows: Sequence[dict[str, str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def some_people(chance: random.Random) -> list[dict[str, str]]:
    days = ["2019-02-28", "2020-02-29", "2021-12-31", ""]
    return [{"pid": pid, "seen": chance.choice(days)} for pid in ("1", "2", "07", "7", "Ä b", "", "alone")]


def some_events(chance: random.Random) -> list[Event]:
    """Ties in time, missing times and values, people who are nobody's, numbers of all sizes, spaces, leading zeros."""
    times = ["2019-02-27", "2019-02-28 23:59:59", "2019-03-01", "2020-02-29", "2020-03-01 00:00:00", ""]
    values = ["1", "1.0", "-3", "0.1", "0.2", "0.3", "1e15", "", "007"]
    codes = ["E11.9", "E10", " E11.9 ", "J45", "", "e11", "O'Neil", "É"]
    return [
        {
            "who": chance.choice(["1", "2", "07", "7", "Ä b", "", "stranger"]),
            "at": chance.choice(times),
            "value": chance.choice(values),
            "code": chance.choice(codes),
            "day": chance.choice(["2020-01-31", "1999-12-31", ""]),
            "number": chance.choice(["1", "2", "-5", ""]),
        }
        for _ in range(chance.choice([1, 3, 60]))
    ]


OF = {"min": "value", "last": "value", "mean": "value", "max": "day", "sum": "number"}
CODED = EventCondition("code", ("E10", "O'Neil"), ("E11",))
BOUND = EventCondition("value", least=0.1, most=1e15)


def some_columns(chance: random.Random) -> tuple[DerivedColumn, ...]:
    columns = []
    for take in TYPES:
        where = tuple(test for test in (CODED, BOUND) if chance.random() < 0.4)
        window = chance.choice(
            [{}, {"since": "2019-02-28"}, {"until": "2020-02-29"}, {"around": "seen", "days": (-1, 1)}]
        )
        column = "" if take in ("count", "any") and chance.random() < 0.5 else OF.get(take, "code")
        absent = ("1",) if column and chance.random() < 0.3 else ()
        columns.append(DerivedColumn(take, take, column, where, **window, absent=absent))  # type: ignore[arg-type]
    return tuple(columns)


def expected(column: DerivedColumn, person: dict[str, str], events: Sequence[Event]) -> Any:
    """The definition, as the page on events has it."""
    taken = [event for event in events if event["who"] == person["pid"] != "" and is_taken(column, person, event)]
    known = [
        (event["at"], event[column.column].strip()) for event in taken if column.column and event[column.column].strip()
    ]
    known = [(at, value) for at, value in known if value not in column.absent]
    values = [value for _, value in known]
    numbers = sorted(map(float, values)) if column.column in ("value", "number") else []
    if column.take == "count":
        return len(known) if column.column else len(taken)
    if column.take == "any":
        return bool(known if column.column else taken)
    if column.take == "distinct":
        return len(set(values))
    if column.take == "list":
        return sorted(set(values)) or None
    if not known:
        return None
    if column.take in ("first", "last"):
        read: Callable[[str], Any] = str if column.take == "first" else float
        timed = [(moment(at), read(value)) for at, value in known if at]
        return None if not timed else (min if column.take == "first" else max)(timed)[1]
    if column.take == "max":
        return max(map(dt.date.fromisoformat, values))
    return {"min": min, "sum": sum, "mean": lambda them: sum(them) / len(them)}[column.take](numbers)


def is_taken(column: DerivedColumn, person: dict[str, str], event: Event) -> bool:
    code, value, at = event["code"].strip(), event["value"], event["at"]
    if CODED in column.where and not (code in CODED.texts or code.startswith("E11")):
        return False
    if BOUND in column.where and not (value and 0.1 <= float(value) <= 1e15):
        return False
    if not (column.since or column.until or column.around):
        return True
    if not at or (column.around and not person[column.around]):
        return False
    day = moment(at).date()
    if column.around:
        days = (day - dt.date.fromisoformat(person[column.around])).days
        return column.days[0] <= days <= column.days[1]
    return column.since <= day.isoformat() <= (column.until or "9999")


def moment(at: str) -> dt.datetime:
    return dt.datetime.fromisoformat(at)


def loaded(folder: Path, people: Path, events: str, columns: Sequence[DerivedColumn]) -> list[tuple[Any, ...]]:
    table = JoinedTable(
        "e",
        open_source(events),
        (("who", "pid"),),
        {c.name: TYPES[c.take] for c in columns},
        False,
        tuple(columns),
        "at",
    )
    file = folder / "rows.duckdb"
    file.unlink(missing_ok=True)
    staging = DuckDBStagingTables(file)
    with closing(staging):
        staging.load(open_source(str(people)), {"pid": "category"}, (table,))
    names = ", ".join(f'"{column.name}"' for column in columns)
    with reading(file) as vault:
        return vault.execute(f"SELECT {names} FROM rows ORDER BY row_id").fetchall()


@pytest.mark.parametrize("seed", range(6))
def test_columns_are_those_that_the_definition_says(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    people, events, columns = some_people(chance), some_events(chance), some_columns(chance)
    files = write(tmp_path / "people.csv", people), write(tmp_path / "events.csv", events)
    if not {event["who"] for event in events} & {"1", "2", "07", "7", "Ä b"}:
        pytest.skip("nobody has an event: refused, and tested below")

    found = loaded(tmp_path, files[0], str(files[1]), columns)

    told = [tuple(expected(column, person, events) for column in columns) for person in people]
    assert found == [
        tuple(pytest.approx(one, rel=1e-12) if isinstance(one, float) else one for one in row) for row in told
    ]


def test_the_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    chance = random.Random(99)
    people, events = write(tmp_path / "people.csv", some_people(chance)), some_events(random.Random(2)) * 3
    columns = some_columns(chance)

    found = []
    for _ in range(3):
        chance.shuffle(events)
        found.append(loaded(tmp_path, people, str(write(tmp_path / "events.csv", events)), columns))

    assert found[0] == found[1] == found[2]


def test_events_of_postgresql_are_chosen_there(postgres: Server, tmp_path: Path) -> None:
    """The same as of a file, although only rows that may be meant are sent."""
    name = postgres.new_database()
    postgres.run(
        "CREATE TABLE e (who text, at timestamp, kind int, value double precision, code text)",
        "INSERT INTO e VALUES ('1', '2020-01-01', 8, 5, ' E11.9'), ('1', '2021-01-01', 9, 6, 'J45'), "
        "('2', NULL, 8, 7, 'E11'), ('07', '2020-01-01', NULL, NULL, NULL), ('2', '2020-01-01', 80, 1e300, 'XE11')",
        database=name,
    )
    columns = (
        DerivedColumn("last", "last", "value", (EventCondition("kind", ("8", "9.5", "x")),)),
        DerivedColumn("count", "count", "", (EventCondition("code", begins=("E11",)),)),
        DerivedColumn("any", "any", "", (EventCondition("code", ("J45",)),)),
    )
    people = write(tmp_path / "people.csv", [{"pid": pid} for pid in ("1", "2", "07")])

    assert loaded(tmp_path, people, f"{postgres.url(database=name)}#e", columns) == [
        (5.0, 1, True),
        (None, 1, False),
        (None, 0, False),
    ]


EVENTS = [
    {"pid": pid, "at": f"2020-01-{day:02}", "age": "40", "dose": str(day)} for pid in "abcdefgh" for day in range(1, 4)
]
POLICY = """
dataset = "t"
k = 4
person = "pid"
[columns.pid]
role = "identifier"
[columns.age]
role = "quasi-identifier"
type = "integer"
domain = [0, 120]
[columns.visits]
role = "sensitive"
type = "integer"
domain = [0, 50]
guard = 0
[columns.dose]
role = "withheld"
[events.visits]
on = { pid = "pid" }
time = "at"
[derive.age]
events = "visits"
take = "last"
column = "age"
[derive.visits]
events = "visits"
take = "count"
"""


def test_a_source_of_events_has_one_record_per_person(tmp_path: Path) -> None:
    """Also those whose key is missing are nobody."""
    opened = new_site(tmp_path)
    rows = [*EVENTS, {"pid": "", "at": "2020-01-01", "age": "1", "dose": "1"}]
    text = POLICY.replace("[columns.age]", "[columns.years]").replace("[derive.age]", "[derive.years]")
    text = text.replace("[columns.visits]", "[columns.n]").replace("[derive.visits]", "[derive.n]")

    report = put(opened, text, write(tmp_path / "visits.csv", rows))

    assert (report.rows, report.persons, report.joined) == (8, 8, {"visits": 8})
    assert raw_rows(opened, ["pid", "years", "n"]) == [(pid, 40, 3) for pid in "abcdefgh"]
    assert ask(opened, "SELECT COUNT(*) AS n FROM t WHERE years = 40")[0]["n"]["high"] == 8


REFUSED = [
    ('take = "count"', 'take = "most"', "derive.visits.take"),
    ('take = "count"', 'take = "mean"\ncolumn = "dose"', "derive.visits.take: cannot be of type integer"),
    ('take = "count"', 'take = "sum"', "derive.visits.column: is missing"),
    ('take = "count"', 'take = "count"\nevents2 = "x"', "derive.visits.events2: unknown key"),
    ('take = "count"', 'take = "count"\nwhere = { dose = {} }', "derive.visits.where.dose"),
    ('take = "count"', 'take = "count"\nwhere = { dose = { least = "x" } }', "derive.visits.where.dose"),
    ('take = "count"', 'take = "count"\nwhere = { dose = true }', "derive.visits.where.dose"),
    ('take = "count"', 'take = "count"\nwhere = 3', "derive.visits.where: must be a table"),
    ('take = "count"', 'take = "count"\nsince = "May"', "derive.visits.since: is not a date"),
    ('take = "count"', 'take = "count"\nsince = 2020-01-02\nuntil = 2020-01-01', "derive.visits.until: comes before"),
    ('take = "count"', 'take = "count"\naround = "seen"', "derive.visits.days: is missing"),
    ('take = "count"', 'take = "count"\naround = "seen"\ndays = [3, 1]', "derive.visits.days: is not a window"),
    ('take = "count"', 'take = "count"\nnames = { a = 1 }', "derive.visits.names: are not names"),
    ('time = "at"\n', "", "events.visits.time: is missing"),
    ("[columns.visits]", "[columns.other]", "derive.visits: has no rules"),
    ('[events.visits]\non = { pid = "pid" }', "[events.visits]", "events.visits.on: is missing"),
    ('events = "visits"\ntake = "count"', 'events = "nothing"\ntake = "count"', "derive.visits.events: is not a table"),
]


@pytest.mark.parametrize(("old", "new", "told"), REFUSED)
def test_rules_that_cannot_be_followed_are_named(old: str, new: str, told: str, tmp_path: Path) -> None:
    assert old in POLICY
    with pytest.raises(ConfigError) as caught:
        put(new_site(tmp_path), POLICY.replace(old, new), write(tmp_path / "visits.csv", EVENTS))

    assert caught.value.code == "QG801"
    assert told in caught.value.detail


def test_values_that_cannot_be_read_are_counted_and_not_told(tmp_path: Path) -> None:
    secret = "SECRET-4711"
    people = write(tmp_path / "people.csv", [{"pid": "1", "seen": ""}])
    base = {"who": "1", "at": "2020-01-01", "value": "1", "code": "x", "day": "", "number": ""}
    columns = (DerivedColumn("last", "last", "value"), DerivedColumn("mean", "mean", "value", (CODED,)))

    for key, told in (("value", "1 event has a value"), ("at", "1 event has a time")):
        events = write(tmp_path / "events.csv", [base, base | {key: secret}, base | {"who": "2", key: secret}])
        with pytest.raises(ConfigError) as caught:
            loaded(tmp_path, people, str(events), columns)
        assert (caught.value.code, secret in str(caught.value)) == ("QG802", False)
        assert told in caught.value.detail
        assert "derive.mean" not in caught.value.detail, "no event of it was meant"


def test_values_beyond_a_limit_of_detection_are_read_as_the_policy_says(tmp_path: Path) -> None:
    """With a decimal comma, and with an absent text that looks like one. A column may be called like ours."""
    people = write(tmp_path / "people.csv", [{"pid": pid, "seen": ""} for pid in ("1", "2", "3")])
    base = dict.fromkeys(EVENT, "") | {"at": "2020-01-01"}
    told = [("1", "<0,5"), ("1", "0.25"), ("1", "90+"), ("1", ""), ("2", " > 100 "), ("2", "<1"), ("3", "<0.5")]
    events = write(tmp_path / "events.csv", [base | {"who": who, "value": text, "limit0": "7"} for who, text in told])
    for censored, maxima, means in (
        ("limit", [90.0, 100.0, 0.5], [(0.5 + 0.25 + 90) / 3, 100.0, 0.5]),
        ("missing", [0.25, None, None], [0.25, None, None]),
    ):
        columns = (
            DerivedColumn("last", "last", "value", absent=("<1",), censored=censored),
            DerivedColumn("mean", "mean", "value", absent=("<1",), censored=censored),
        )
        assert loaded(tmp_path, people, str(events), columns) == list(zip(maxima, means, strict=True))


def test_limits_of_detection_are_those_of_values(tmp_path: Path) -> None:
    text = POLICY.replace("guard = 0\n", 'guard = 0\ncensored = "limit"\n')
    with pytest.raises(ConfigError, match=r"columns\.visits\.censored: does not apply to take count") as caught:
        put(new_site(tmp_path), text, write(tmp_path / "visits.csv", EVENTS))
    assert caught.value.code == "QG801"

    text = POLICY.replace("[columns.age]", '[columns.years]\ncensored = "limit"').replace(
        "[derive.age]", "[derive.years]"
    )
    text = text.replace("[columns.visits]", "[columns.n]").replace("[derive.visits]", "[derive.n]")
    opened = new_site(tmp_path / "other")
    put(opened, text, write(tmp_path / "visits.csv", [row | {"age": ">40"} for row in EVENTS]))
    assert raw_rows(opened, ["pid", "years"]) == [(pid, 40) for pid in "abcdefgh"]


def test_events_of_nobody_are_a_mistake(tmp_path: Path) -> None:
    people = write(tmp_path / "people.csv", [{"pid": "1", "seen": ""}])
    events = write(tmp_path / "events.csv", [dict.fromkeys(("who", "at", "value", "code", "day", "number"), "2020")])

    with pytest.raises(ConfigError, match=r"events\.e: no record of the source has a matching row"):
        loaded(tmp_path, people, str(events), (DerivedColumn("count", "count"),))


def test_a_column_of_the_source_is_not_derived_too(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"derive\.age: the source also has a column age"):
        put(new_site(tmp_path), POLICY, write(tmp_path / "visits.csv", EVENTS))


def test_names_of_columns_are_nobodys_marks(tmp_path: Path) -> None:
    """Whatever a column is called, it does not stand in for a count of ours."""
    people = write(tmp_path / "people.csv", [{"pid": "1", "seen": ""}])
    events = write(tmp_path / "events.csv", [dict(zip(EVENT, ["1", "2020-01-01", "42", "x", "", "3"], strict=True))])
    columns = tuple(DerivedColumn(name, "last", "value") for name in ("a", "wrong0", "LATE0", "k0", "t", "row_id", "e"))

    assert loaded(tmp_path, people, str(events), columns) == [(42.0,) * 7]


def test_numbers_that_are_none_are_no_totals(tmp_path: Path) -> None:
    people = write(tmp_path / "people.csv", [{"pid": "1", "seen": ""}])
    for values, take, told in (
        (("inf", "-inf"), "mean", "2 events have a value that cannot be read as number"),
        ((str(2**63 - 1),) * 2, "sum", "a total is too large"),
    ):
        rows = [dict(zip(EVENT, ["1", "2020-01-01", value, "x", "", value], strict=True)) for value in values]
        events = write(tmp_path / "events.csv", rows)
        with pytest.raises(ConfigError) as caught:
            loaded(tmp_path, people, str(events), (DerivedColumn(take, take, OF[take]),))  # type: ignore[arg-type]
        assert told in caught.value.detail


def test_days_are_those_of_utc_wherever_the_machine_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moment = pa.array([dt.datetime(2021, 1, 1, 3, tzinfo=dt.UTC)], pa.timestamp("us", "UTC"))
    people = write_parquet(tmp_path / "people.parquet", {"pid": ["1"], "seen": moment})
    events = write_parquet(tmp_path / "events.parquet", {"who": ["1"], "at": moment, "day": moment})
    columns = (
        DerivedColumn("any", "any", "", around="seen", days=(0, 0)),
        DerivedColumn("max", "max", "day", since="2021-01-01"),
    )
    for zone in ("America/Los_Angeles", "Asia/Tokyo"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        try:
            assert loaded(tmp_path, people, str(events), columns) == [(True, dt.date(2021, 1, 1))]
        finally:
            monkeypatch.undo()
            time.tzset()


def test_records_are_persons_whatever_else_is_joined(tmp_path: Path) -> None:
    opened = new_site(tmp_path)
    rows = [event | {"district": "north" if event["pid"] < "e" else "south"} for event in EVENTS]
    districts = write(tmp_path / "districts.csv", [{"d": "north", "beds": "5"}, {"d": "south", "beds": "6"}])
    text = POLICY.replace("[columns.age]", "[columns.years]").replace("[derive.age]", "[derive.years]")
    text += '[columns.beds]\nrole = "withheld"\n[join.d]\nsource = "d"\non = { d = "district" }\ncolumns = ["beds"]\n'

    put(opened, text, write(tmp_path / "visits.csv", rows), open_beside=lambda _: open_source(str(districts)))

    assert ask(opened, "SELECT COUNT(*) AS n FROM t")[0]["n"] == ask(opened, "SELECT COUNT(years) AS n FROM t")[0]["n"]
    assert [pid for (pid,) in raw_rows(opened, ["pid"])] == list("abcdefgh")
