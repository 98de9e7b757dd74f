"""Limited data sets: what leaves, what does not, and the agreement without which nothing does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from querygate.core.errors import ConfigError, ExtractRefused
from querygate.core.extracts.extract_spec import ExtractSpec
from querygate.core.extracts.use_agreement import UseAgreement, check_agreed
from querygate.custody.extract.extract_scope import narrowed
from querygate.custody.extract.limited_check import check_limited
from querygate.custody.extract.limited_records import make_limited
from querygate.custody.policy import Policy
from querygate.custody.policy.policy_file import PolicyFile
from querygate.custody.policy_search import limited
from querygate.custody.use_cases.extract_builder import make_extract
from querygate.custody.use_cases.scratch_vault import scratch_rows
from querygate.methods.policy_search import DIRECT, IDENTIFIERS, find_direct
from querygate_adapters.sources.open_source import open_source
from tests.policies import IDENTIFIER, make_policy, quasi, sensitive

POLICY = make_policy(
    "trial",
    {
        "name": IDENTIFIER,
        "born": quasi("date", ("1900-01-01", "2030-12-31")),
        "zip": quasi("category"),
        "town": quasi("category"),
        "age": quasi("integer", (0, 120)),
        "sbp": sensitive("number", (40, 300)),
    },
    limited_data_set={},
)
WISH = ExtractSpec.of({"dataset": "trial", "purpose": "to see", "kind": "limited"})
TOWNS = ["Łódź", "San José", "=cmd", None, "Shelby"]
AGREED = UseAgreement("Ann Lee", "a" * 64, "2031-01-31")


def rows(count: int = 40, **more: Any) -> pa.Table:
    """Ties, missing values, leading zeros, the very old, and texts that a spreadsheet would run."""
    chance = np.random.default_rng(count)
    return pa.table(
        {
            "name": [f"Person {i}" for i in range(count)],
            "born": pa.array(chance.integers(-20_000, 10_000, count).astype(np.int32)).cast(pa.date32()),
            "zip": [f"{code:05d}" for code in chance.choice([501, 3601, 37212], count)],
            "town": [TOWNS[at] for at in chance.integers(0, len(TOWNS), count)],
            "age": pa.array(chance.integers(0, 110, count), mask=chance.random(count) < 0.1),
            "sbp": chance.normal(120, 15, count).round(1),
        }
        | more
    )


def made(table: pa.Table, tmp_path: Path, policy: Policy | None = None, where: str = "") -> Any:
    pq.write_table(table, tmp_path / "t.parquet")
    given = policy or POLICY.parsed()
    with scratch_rows(given, open_source(str(tmp_path / "t.parquet")), tmp_path) as opened:
        return make_limited(narrowed(given, WISH), opened, where, lambda purpose: np.random.default_rng(1))


def sorted_rows(table: pa.Table, names: list[str]) -> list[str]:
    return sorted(map(repr, zip(*(table[name].to_pylist() for name in names), strict=True)))


@pytest.mark.parametrize("count", [1, 40])
def test_records_leave_as_they_are_without_identifiers(tmp_path: Path, count: int) -> None:
    table = rows(count)
    protected, risk = made(table, tmp_path)
    names = ["born", "zip", "town", "age", "sbp"]
    assert protected.table.column_names == names
    assert sorted_rows(protected.table, names) == sorted_rows(table, names)
    assert protected.kept[0].holds
    assert "still protected health information" in risk["words"][0]
    assert "Person" not in str(protected.table.to_pylist())
    assert count == 1 or protected.table["sbp"].to_pylist() != table["sbp"].to_pylist()


@pytest.mark.parametrize(
    "value",
    [
        *("ann@example.org", "call 555-867-5309", "123-45-6789", "see www.example.org", "host 10.0.0.12"),
        *("6155551234", "call 16155551234.", "+44 20 7946 0958"),
    ],
)
def test_one_value_of_a_forbidden_form_stops_it(tmp_path: Path, value: str) -> None:
    table = rows(12, town=["Shelby"] * 11 + [value])
    with pytest.raises(ExtractRefused, match="town has the form") as refused:
        made(table, tmp_path)
    assert refused.value.code == "QG605"
    assert value not in refused.value.detail


@pytest.mark.parametrize(
    "value",
    [
        *("2031-01-31", "38104-1234", "1.5.2", "12:30:45", "555 1234567", "ICD 250.00"),
        *("1003000126", "6155551234567", "0.6155551234", "x6155551234", "2025551"),
    ],
)
def test_what_is_no_identifier_may_stay(value: str) -> None:
    check_limited(pa.table({"town": [value, None]}))


def test_a_column_named_like_an_identifier_is_refused_unless_somebody_looked(tmp_path: Path) -> None:
    columns = {"device_type": quasi("category")}
    table = rows(12, device_type=["a", "b"] * 6)
    with pytest.raises(ExtractRefused, match=r"device_type looks like one of the 16 direct identifiers \(xii"):
        made(table, tmp_path, POLICY.but(columns=columns).parsed())
    allowed = POLICY.but(columns=columns, limited_data_set={"checked": ["device_type"]}).parsed()
    assert "device_type" in made(table, tmp_path, allowed)[0].table.column_names


@pytest.mark.parametrize("name", ["cellphone", "HomePhone2", "emailaddr", "lastname", "ipaddr"])
def test_names_that_are_written_together_are_read(name: str) -> None:
    with pytest.raises(ExtractRefused, match=f"{name} is named like"):
        check_limited(pa.table({name: ["a"]}))
    check_limited(pa.table({name: ["a"]}), [name])


def test_telephone_numbers_that_were_read_as_numbers_are_found() -> None:
    with pytest.raises(ExtractRefused, match="2 values of reach have the form of a telephone number"):
        check_limited(pa.table({"reach": [6155551234, 2025550143, None]}))
    check_limited(pa.table({"platelets": [6155551234, 250_000, 310_000], "none": pa.array([None] * 3, pa.int64())}))


def test_without_the_policys_word_nothing_leaves(tmp_path: Path) -> None:
    with pytest.raises(ExtractRefused, match="no table"):
        made(rows(5), tmp_path, POLICY.but(limited_data_set=None).parsed())


def test_at_a_desk_there_is_no_agreement_and_nothing_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    pq.write_table(rows(5), tmp_path / "t.parquet")
    with pytest.raises(ExtractRefused) as refused:
        make_extract(POLICY.parsed(), open_source(str(tmp_path / "t.parquet")), WISH, folder, secret=b"s")
    assert refused.value.code == "QG609"
    assert not list(folder.iterdir())


def test_the_sixteen_are_the_eighteen_without_dates_and_other_codes() -> None:
    assert len(DIRECT) == 16
    assert {one.letter for one in IDENTIFIERS} - {one.letter for one in DIRECT} == {"C", "R"}
    for stays in (
        "zip",
        "city",
        "town",
        "county",
        "state",
        "birth_date",
        "admitted",
        "age",
        "death_date",
        "barcode",
    ):
        assert find_direct(stays) is None, stays
    goes = {"street": "ii", "latitude": "ii", "fax": "iv", "ssn": "vi", "mrn": "vii", "photo": "xvi", "last_name": "i"}
    assert {name: getattr(find_direct(name), "place", None) for name in goes} == goes


def test_the_preset_leaves_out_direct_identifiers_and_allows_it(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(POLICY.but(columns={"phone": quasi("category"), "city": quasi("category")}))
    given = PolicyFile.read(path)
    raw, decided = limited(given.policy, {key: value for key, value in given.raw.items() if key != "limited_data_set"})
    assert [(one.column, one.does) for one in decided] == [("phone", "left out")]
    assert raw["columns"]["phone"]["role"] == "identifier"
    assert raw["columns"]["city"]["role"] == "quasi-identifier"
    assert raw["limited_data_set"] == {}


def test_a_column_that_is_not_published_cannot_be_checked() -> None:
    with pytest.raises(ConfigError, match="name is not a published column"):
        POLICY.but(limited_data_set={"checked": ["name"]}).parsed()


BAD: dict[str, Any] = {
    "no table": "signed",
    "a key too few": {"signed_by": "Ann", "sha256": "a" * 64},
    "a key too many": AGREED.to_dict() | {"text": "..."},
    "nobody": AGREED.to_dict() | {"signed_by": "  "},
    "a number": AGREED.to_dict() | {"signed_by": 7},
    "a line break": AGREED.to_dict() | {"signed_by": "Ann\nLee"},
    "no hash": AGREED.to_dict() | {"sha256": "z" * 64},
    "half a hash": AGREED.to_dict() | {"sha256": "a" * 32},
    "no date": AGREED.to_dict() | {"until": "next year"},
    "no such day": AGREED.to_dict() | {"until": "2031-02-30"},
}


@pytest.mark.parametrize("body", BAD.values(), ids=BAD.keys())
def test_what_is_no_agreement(body: Any) -> None:
    with pytest.raises(ExtractRefused) as refused:
        UseAgreement.of(body)
    assert refused.value.code == "QG604"


def test_an_agreement_holds_to_the_end_of_its_last_day() -> None:
    check_agreed(WISH, AGREED, "2031-01-31T23:59:59.000000Z")
    with pytest.raises(ExtractRefused, match="ended on 2031-01-31"):
        check_agreed(WISH, AGREED, "2031-02-01T00:00:00.000000Z")
    with pytest.raises(ExtractRefused, match="alone"):
        check_agreed(ExtractSpec.of({"dataset": "trial", "purpose": "to see"}), AGREED, "2030-01-01")
