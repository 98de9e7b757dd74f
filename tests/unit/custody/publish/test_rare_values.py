"""Names of values that few people have: in a group that the policy names, or nothing is published."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from querygate.cli.describe import plain_lines
from querygate.core.errors import ConfigError
from querygate.core.extracts.extract_spec import ExtractSpec
from querygate.custody.policy import parse_policy
from querygate.custody.use_cases.extract_builder import make_extract
from querygate.custody.use_cases.policy_draft import draft_from
from querygate.gate.description import make_description
from querygate.site.open_gate import OpenSite
from querygate_adapters.sources.open_source import open_source
from tests.policies import AGE, IDENTIFIER, PolicyText, make_policy, public, quasi, sensitive
from tests.unit.custody.publish.publications import ask, ends, new_site, put, raw_rows, write_parquet

JANE = "Jane Roe, HIV+ (tel 555-0101)"
K = 5
POLICY = make_policy(
    "t", {"age": AGE, "dx": sensitive("category")}, k=K, anonymise={"method": "mondrian"}
)  # fmt: skip
OTHER = {"columns": {"dx": {"rare": "other"}}}

Rows = dict[str, list[Any]]


def patients(rows: int = 60) -> Rows:
    rng = np.random.default_rng(3)
    dx = [str(x) for x in rng.choice(["cold", "flu"], rows)]
    dx[0], dx[1], dx[2], dx[3] = JANE, None, "Ünïcode ☃", ""
    return {"age": rng.integers(20, 80, rows).tolist(), "dx": dx}


def refused(opened: OpenSite, policy: str, rows: Rows) -> ConfigError:
    with pytest.raises(ConfigError) as found:
        put(opened, policy, rows)
    assert found.value.code == "QG802"
    assert "Jane" not in found.value.detail + found.value.remedy
    return found.value


def told(opened: OpenSite) -> str:
    """Everything that a version says of itself, at any door."""
    catalog = opened.store.current("t").catalog
    body = make_description(catalog, opened.gate.native, opened.gate.limits)
    return json.dumps(body, ensure_ascii=False) + plain_lines(body) + repr(catalog)


@pytest.mark.parametrize("role", ["sensitive", "quasi-identifier", "public"])
def test_a_value_of_one_record_is_not_published(tmp_path: Path, role: str) -> None:
    policy = POLICY.but(columns={"dx": {"role": role}})
    error = refused(new_site(tmp_path), policy, patients())

    assert "dx: 3 of 5 values" in error.detail
    assert 'rare = "other"' in error.remedy


@pytest.mark.parametrize("role", ["sensitive", "quasi-identifier", "public"])
def test_following_the_advice_publishes_a_group(tmp_path: Path, role: str) -> None:
    opened, rows = new_site(tmp_path), patients()
    put(opened, POLICY.but(columns={"dx": {"role": role, "rare": "other"}}), rows)

    assert opened.store.current("t").catalog.column("dx").values == ("cold", "flu", "other")
    assert not {"Jane", "555", "Ünïcode"} & set(told(opened).replace(",", " ").split())
    assert JANE not in told(opened)
    low, high = ends(opened, "COUNT(*)", "dx = 'other'")
    assert low <= 3 <= high
    assert sum(dx == "other" for (dx,) in raw_rows(opened, ["dx"])) == 3
    assert {row["dx"] for row in ask(opened, "SELECT dx, COUNT(*) FROM t GROUP BY dx")} <= {
        "cold",
        "flu",
        "other",
        None,
    }


def test_values_that_k_people_have_are_published(tmp_path: Path) -> None:
    rows = patients()
    rows["dx"] = ["cold"] * K + ["flu"] * (60 - K)
    opened = new_site(tmp_path)
    put(opened, POLICY, rows)
    assert opened.store.current("t").catalog.column("dx").values == ("cold", "flu")
    rows["dx"][0] = "flu"
    assert "dx: 1 of 2 values" in refused(new_site(tmp_path / "one less"), POLICY, rows).detail


def test_people_are_counted_where_they_have_several_rows(tmp_path: Path) -> None:
    """Twenty records of one person are no reason to tell what they have."""
    rows = patients(100)
    rows["mrn"] = [f"m{i if i < 60 else 0}" for i in range(100)]
    rows["age"][60:] = rows["age"][:1] * 40
    rows["dx"] = ["cold", "flu"] * 30 + [JANE] * 40
    policy = POLICY.but(columns={"mrn": IDENTIFIER}, person="mrn")

    assert "dx: 1 of 3 values" in refused(new_site(tmp_path), policy, rows).detail
    opened = new_site(tmp_path / "other")
    put(opened, policy.but(**OTHER), rows)
    assert "Jane" not in told(opened)


def test_declared_values_are_public_and_the_rest_is_rare(tmp_path: Path) -> None:
    rows = patients()
    listed = {"columns": {"dx": {"values": ["cold", "plague", "Ünïcode ☃"], "rare": "none of these"}}}
    opened = new_site(tmp_path)
    put(opened, POLICY.but(**listed), rows)

    values = opened.store.current("t").catalog.column("dx").values
    assert values == ("cold", "none of these", "plague", "Ünïcode ☃")
    assert ends(opened, "COUNT(*)", "dx IN ('cold', 'none of these', 'plague', 'Ünïcode ☃')") == (59, 59)


@pytest.mark.parametrize("rule", ["digits", "icd10cm"])
def test_a_text_in_a_hierarchy_of_codes_is_rare(tmp_path: Path, rule: str) -> None:
    """Rare codes are what a hierarchy is for; rules put whatever is no code somewhere, too."""
    rows = {"age": patients()["age"], "code": [f"E{10 + i % 40}.{i % 9}" for i in range(60)]}
    policy = make_policy("t", {"age": AGE, "code": quasi("category", hierarchy=rule)}, k=K)
    put(new_site(tmp_path), policy, rows)
    rows["code"][0] = JANE
    assert "code: 1 of" in refused(new_site(tmp_path / "text"), policy, rows).detail


@pytest.mark.parametrize("value", [None, "flu"], ids=["all missing", "a constant"])
def test_nothing_to_hide(tmp_path: Path, value: str | None) -> None:
    opened = new_site(tmp_path)
    put(opened, POLICY.but(**OTHER), {"age": patients()["age"], "dx": np.array([value] * 60, dtype=object).tolist()})
    assert opened.store.current("t").catalog.column("dx").values == tuple(sorted({"other", value} - {None}))


def test_a_resumed_publication_reads_the_source_again(tmp_path: Path) -> None:
    """The rows of one that was cut off have `other` in them, and the next policy may declare the values."""
    opened = new_site(tmp_path)
    rows = patients()
    impossible = POLICY.but(columns={"dx": {"rare": "other", "diversity": {"kind": "distinct", "l": 9}}})
    with pytest.raises(ConfigError):
        put(opened, impossible, rows)
    put(opened, POLICY.but(columns={"dx": {"values": ["cold", "flu", JANE, "Ünïcode ☃", ""]}}), rows)
    assert ends(opened, "COUNT(*)", "dx = 'other'") == (0, 0)


def test_an_extract_of_a_file_has_the_group_too(tmp_path: Path) -> None:
    source = open_source(str(write_parquet(tmp_path / "patients.parquet", patients())))
    (tmp_path / "out").mkdir()
    make_extract(POLICY.but(**OTHER).parsed(), source, ExtractSpec("t", "k-anonymous"), tmp_path / "out", secret=b"s")
    written = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert b"other" in written
    assert b"Jane" not in written


@pytest.mark.parametrize("key", [{"hierarchy": "digits"}, {"groups": [["a"], ["b"]]}])
def test_a_policy_cannot_have_both(key: dict[str, Any]) -> None:
    policy = make_policy("t", {"age": AGE, "dx": quasi("category", rare="other") | key})
    with pytest.raises(ConfigError, match="rare"):
        parse_policy(policy)


# -- a draft is followed --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("several", [False, True], ids=["one row each", "several rows"])
def test_a_drafted_policy_publishes_no_rare_value(tmp_path: Path, several: bool) -> None:
    rows = patients(400)
    rows["sex"] = ["f", "m"] * 200
    rows["mrn"] = [f"m{i // 2 if several else i}" for i in range(400)]
    rows["diagnosis"] = rows.pop("dx")
    path = write_parquet(tmp_path / "patients.parquet", rows)
    drafted = draft_from(str(path))

    assert 'person = "mrn"' in drafted.text
    assert 'rare = "other"' in drafted.text
    assert "Jane" not in drafted.text
    opened = new_site(tmp_path)
    report = put(opened, PolicyText(tomllib.loads(drafted.text) | {"dataset": "t"}), path)
    assert report.persons == (200 if several else 400)
    assert report.measured.k >= drafted.k
    assert "Jane" not in told(opened)


# -- datasets whose answers are all noisy ----------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [False, True])
def test_a_noisy_dataset_says_nothing_exact(tmp_path: Path, missing: bool) -> None:
    opened, rows = new_site(tmp_path), patients(61)
    rows["dx"] = ["cold", "flu"] * 30 + [None if missing else "flu"]
    rows["age"] = [*rows["age"][:-1], None if missing else 40]
    noise = {"epsilon_per_query": 0.1, "epsilon_total": 1.0, "epsilon_per_user": 1.0}
    columns = {"ward": public("category"), "cost": sensitive("number", (0, 10))}
    rows |= {
        "ward": ["a"] * 60 + [None if missing else "a"],
        "cost": [1.5] * 30 + [9.0] * 30 + [None if missing else 1.5],
    }
    put(opened, POLICY.but(columns=columns, answers={"modes": ["laplace"]}, laplace=noise), rows)

    catalog = opened.store.current("t").catalog
    body = make_description(catalog, opened.gate.native, opened.gate.limits)
    assert body["rows"] is None
    assert {column["nullable"] for column in body["columns"]} == {None}
    assert "61" not in plain_lines(body)
    assert all(column.nullable for column in catalog.columns)
