"""Dates with slashes: read in the order that the policy names, drafted where a column decides it."""

from __future__ import annotations

import csv
import datetime as dt
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from querygate.core.derived_columns import DerivedColumn
from querygate.core.errors import ConfigError
from querygate.core.publications.vault_ports import AgeAt, JoinedTable, ReadAs
from querygate.custody.policy import parse_policy
from querygate.custody.use_cases.policy_draft import draft_from
from querygate.custody.use_cases.scratch_vault import scratch_rows
from querygate_adapters.sources.amended_source import amended
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.vault.staging_tables import DuckDBStagingTables
from tests.policies import SEX, make_policy, quasi
from tests.unit.custody.publish.publications import ask, new_site, put

DAY, MONTH = "day/month/year", "month/day/year"
GOOD = {
    "31/01/2024": ("2024-01-31", None),
    " 1/2/2024 ": ("2024-02-01", "2024-01-02"),
    "12/12/1950": ("1950-12-12", "1950-12-12"),
    "29/02/2024": ("2024-02-29", None),
    "02/28/2023": (None, "2023-02-28"),
    "05/06/2024 23:59": ("2024-06-05 23:59:00", "2024-05-06 23:59:00"),
    "05/06/2024 07:08:09": ("2024-06-05 07:08:09", "2024-05-06 07:08:09"),
    "5/6/2024 2:30 PM": ("2024-06-05 14:30:00", "2024-05-06 14:30:00"),
    "2024-01-31": ("2024-01-31", "2024-01-31"),
    "31.01.2024": ("31.01.2024", "31.01.2024"),
    "": (None, None),
}
BAD = ["31/02/2024", "00/01/2024", "29/02/2023", "32/1/2024", "13/13/2024", "01/02/24", "1/2/3", "1/2/20245", "1/2"]


def written(path: Path, names: list[str], rows: list[list[str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *rows])
    return path


@pytest.mark.parametrize(("order", "place"), [(DAY, 0), (MONTH, 1)])
def test_texts_are_read_in_the_order_of_the_policy(order, place, tmp_path):
    path = written(tmp_path / "t.csv", ["n", "d"], [[str(i), text] for i, text in enumerate([*GOOD, *BAD])])
    read = amended(open_source(str(path)), ReadAs(written={"d": order, "none of it": order}))
    got = read.batches(["n", "d"]).read_all().to_pydict()["d"]
    unread = [text and (told[place] or "?") for text, told in GOOD.items()] + ["?"] * len(BAD)
    assert [value or "" for value in got] == unread


def test_dates_that_are_no_texts_stay_as_they_are(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"d": [dt.date(2024, 1, 31), None], "n": [20240131, 7]}), path)
    same = amended(open_source(str(path)), ReadAs(written={"d": DAY, "n": DAY})).batches(["d", "n"]).read_all()
    assert same.to_pydict() == {"d": [dt.date(2024, 1, 31), None], "n": [20240131, 7]}


def test_bad_dates_are_counted_and_not_told(tmp_path):
    rows = [["31/02/2024"], ["00/01/2024"], ["01/02/24"], ["28/02/2024"], [""]]
    path = written(tmp_path / "t.csv", ["d"], rows)
    staging = DuckDBStagingTables(tmp_path / "vault.duckdb")
    try:
        with pytest.raises(ConfigError) as refused:
            staging.load(open_source(str(path)), {"d": "date"}, (), ReadAs(written={"d": DAY}))
    finally:
        staging.close()
    assert "3 values" in refused.value.detail
    assert not any(row[0] and row[0] in str(refused.value) for row in rows)


def test_what_stands_for_no_value_and_ages_go_together(tmp_path):
    path = written(tmp_path / "t.csv", ["born", "seen"], [["17/05/1980", "05/16/2020"], ["99/99/9999", "05/17/2020"]])
    read = ReadAs({"born": ("99/99/9999",)}, (AgeAt("age", "born", "seen"),), {"born": DAY, "seen": MONTH})
    assert amended(open_source(str(path)), read).batches(["age"]).read_all().to_pydict() == {"age": ["39", None]}


@pytest.mark.parametrize(
    ("keys", "path"),
    [
        ({"written": "dd/mm/yyyy"}, "columns.seen.written"),
        ({"written": ["day/month/year"]}, "columns.seen.written"),
        ({"written": DAY, "type": "category"}, "columns.seen.written"),
    ],
)
def test_only_both_orders_of_dates_are_accepted(keys, path):
    seen = {"role": "public", "type": "date"} | keys
    with pytest.raises(ConfigError, match=path):
        make_policy("d", {"sex": SEX, "seen": seen}, k=2).parsed()


def test_the_order_is_part_of_what_the_policy_means():
    plain = make_policy("d", {"sex": SEX}, k=2)
    born = [{"role": "withheld"}, {"role": "withheld", "written": DAY}, {"role": "withheld", "written": MONTH}]
    assert len({plain.but(columns={"sex": SEX, "born": one}).parsed().hash for one in born}) == 3


def test_a_joined_date_has_an_order_too(tmp_path):
    written(tmp_path / "beside.csv", ["key", "seen"], [[str(n), f"{n + 1}/02/2024"] for n in range(20)])
    path = written(tmp_path / "t.csv", ["key", "age"], [[str(n), str(30 + n % 5)] for n in range(20)])
    seen = {"role": "public", "type": "date", "written": DAY}
    joined = {"beside": {"source": "beside.csv", "on": {"key": "key"}, "columns": ["seen"]}}
    policy = make_policy("d", {"age": quasi("integer", (0, 99), grid=1), "seen": seen}, k=2, join=joined)
    with scratch_rows(policy.parsed(tmp_path), open_source(str(path)), tmp_path) as rows:
        (found,) = rows.by_group("d", "SELECT COUNT(*) FILTER (seen > DATE '2024-02-10') FROM d").values()
    assert found == 10


def _hospital(tmp_path: Path, form: str, days: range) -> Path:
    rng, rows = random.Random(3), []
    for n in range(240):
        born = dt.date(rng.randint(1930, 2000), rng.randint(1, 12), rng.randint(1, 12))
        admitted = dt.date(rng.randint(2018, 2022), rng.randint(1, 12), rng.choice(days))
        told = ["NA" if n == 7 else born.strftime(form), admitted.strftime(form) + " 10:30" * (n % 2)]
        rows.append([f"p{n}", rng.choice("mf"), *told, rng.choice(["yes", "no"])])
    return written(tmp_path / "stays.csv", ["id", "sex", "birth_date", "admission_date", "died"], rows)


@pytest.mark.parametrize(
    ("form", "days", "order", "says"),
    [
        ("%d/%m/%Y", range(1, 29), DAY, "not in the other"),
        ("%m/%d/%Y", range(1, 29), MONTH, "not in the other"),
        ("%d/%m/%Y", range(1, 13), DAY, "no day is above 12"),
    ],
)
def test_a_draft_decides_by_the_whole_column_or_asks(tmp_path, form, days, order, says):
    drafted = draft_from(str(_hospital(tmp_path, form, days)))
    policy = parse_policy(drafted.text)
    line = next(line for line in drafted.text.split("admission_date]")[1].splitlines() if "written" in line)
    assert policy.column("admission_date").written == order
    assert says in line
    assert policy.column("birth_date").absent == ("NA",)
    assert policy.column("birth_date").written == DAY  # no day of birth is above 12
    age = policy.column("age").age
    assert age is not None
    assert (age.born, age.at) == ("birth_date", "admission_date")


def test_a_drafted_table_is_published_untouched(tmp_path):
    path = _hospital(tmp_path, "%d/%m/%Y", range(1, 29))
    opened = new_site(tmp_path)
    put(opened, draft_from(str(path)).text, path)
    (row,) = ask(opened, "SELECT COUNT(*) AS n FROM stays WHERE age >= 40", "stays")
    assert 0 < row["n"]["low"] <= row["n"]["high"] <= 240


@pytest.mark.parametrize("odd", ["31/31/2020", "31/02/2020", "01/02/20", "13/13/2020"])
def test_a_column_that_does_not_fit_has_no_order(tmp_path, odd):
    rows = [[f"p{n}", "mf"[n % 2], f"{n % 28 + 1:02}/03/2020"] for n in range(240)]
    rows[5][2] = odd
    policy = parse_policy(draft_from(str(written(tmp_path / "t.csv", ["id", "sex", "seen"], rows))).text)
    assert (policy.column("seen").written, policy.column("seen").role) == ("", "withheld")


def test_a_date_derived_of_events_has_an_order_too(tmp_path):
    seen = [["1", "05/01/2024"], ["1", "31/12/2023"], ["2", "01/02/2024"]]
    events = open_source(str(written(tmp_path / "visits.csv", ["who", "seen"], seen)))
    path = written(tmp_path / "t.csv", ["pid"], [["1"], ["2"], ["3"]])
    last = DerivedColumn("last_seen", "max", "seen")
    visits = JoinedTable("visits", events, (("who", "pid"),), {"last_seen": "date"}, derived=(last,))
    staging = DuckDBStagingTables(tmp_path / "vault.duckdb")
    try:
        staging.load(open_source(str(path)), {"pid": "category"}, (visits,), ReadAs(written={"last_seen": DAY}))
        days = staging.profile("last_seen")
    finally:
        staging.close()
    epoch = dt.date(1970, 1, 1)
    assert [epoch + dt.timedelta(int(day)) for day in days.values] == [dt.date(2024, 1, 5), dt.date(2024, 2, 1)]
    assert days.missing == 1
