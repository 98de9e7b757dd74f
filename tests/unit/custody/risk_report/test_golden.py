"""Figures by hand on six records, and the same figures as the measures themselves give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from querygate.core.json_body import to_json
from querygate.custody.policy import ColumnPolicy
from querygate.custody.risk_report.code_table import by_limited_data_set, code_column
from querygate.custody.risk_report.sides import DiseaseScope
from querygate.methods.risk import THRESHOLDS, attack
from tests.unit.custody.risk_report import small as ward
from tests.unit.custody.risk_report.small import assess


@pytest.fixture(scope="module")
def body(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return assess(tmp_path_factory.mktemp("ward"))


def line(body: dict[str, Any], measure: str) -> list[float]:
    [found] = [one for one in body["verdict"] if one["measure"] == measure]
    return [found[side] for side in ("raw", "safe_harbor", "after")]


BY_HAND = {
    "prosecutor_greatest": [1, 1, 1 / 3],
    "prosecutor_average": [4 / 6, 3 / 6, 2 / 6],
    "prosecutor_above_0.33": [1, 0.5, 0],
    "prosecutor_above_0.2": [1, 1, 1],
    "k": [1, 1, 3],
    "journalist_greatest": [1, 1 / 2, 1 / 5],
    "journalist_average": [(2 / 3 + 1 / 2 + 1 + 2 / 4) / 6, (2 / 3 + 1 / 2 + 3 / 10) / 6, 1 / 5],
    "journalist_above_0.2": [1, 0.5, 0],
    "k_map": [1, 2, 5],
    "marketer": [(2 / 3 + 1 / 2 + 1 + 2 / 4) / 6, (2 / 3 + 1 / 2 + 3 / 10) / 6, 1 / 5],
    "alone": [2 / 6, 1 / 6, 0],
    "alone_in_register": [1 / 6, 0, 0],
    "instance_greatest": [1, 2 / 3, 3 / 5],
    "instance_average": [(2 * 2 / 3 + 1 / 2 + 1 + 2 / 2) / 6, (2 * 2 / 3 + 1 / 2 + 3 * 3 / 10) / 6, 3 / 5],
    "match_average": [(2 / 3 + 1 / 2 + 1 + 2 / 4) / 6, (2 / 3 + 1 / 2 + 3 / 10) / 6, 1 / 5],
    "told_illness": [4 / 6, 3 / 6, 0],
    "told_dose": [1, 1, 3 / 6],
    "gain_illness": [1 / 6, 1 / 6, 0],
}


@pytest.mark.parametrize("measure", BY_HAND)
def test_by_hand(body: dict[str, Any], measure: str) -> None:
    assert line(body, measure) == pytest.approx(BY_HAND[measure])


def test_as_the_measures_say(body: dict[str, Any]) -> None:
    for side, sizes, people in (
        ("raw", [2, 1, 1, 2], [3, 2, 1, 4]),
        ("safe_harbor", [2, 1, 3], [3, 2, 10]),
        ("after", [3, 3], [5, 5]),
    ):
        expected = attack(np.array(sizes), np.array(people)).to_dict()
        assert _same(body["sides"][side]["attackers"], expected)
        above = body["sides"][side]["attackers"]["prosecutor"]["above"]
        assert [one["limit"] for one in above] == list(THRESHOLDS)


def _same(found: Any, expected: Any) -> bool:
    if isinstance(found, dict):
        return found.keys() == expected.keys() and all(_same(found[key], expected[key]) for key in found)
    if isinstance(found, list):
        return len(found) == len(expected) and all(map(_same, found, expected))
    return bool(found == pytest.approx(expected))


def test_safe_harbor_is_told_column_by_column(body: dict[str, Any]) -> None:
    assert {one["column"]: (one["treatment"], one["letter"]) for one in body["safe_harbor"]} == {
        "age": ("age", "C"),
        "sex": ("", ""),
        "zip": ("zip3", "B"),
    }


def test_which_columns_drive_the_risk(body: dict[str, Any]) -> None:
    falls = {one["column"]: one["average_fall"] for one in body["sides"]["raw"]["drivers"]}
    assert falls == pytest.approx({"age": 1 / 6, "sex": 0, "zip": 0})


def test_against_safe_harbor_in_words(body: dict[str, Any]) -> None:
    """Six of ten people who match are in the file, whatever the size of its classes; Safe Harbor has fewer of them."""
    riskier = [one["measure"] for one in body["verdict"] if one["risk_against_safe_harbor"] == "higher"]
    assert riskier == ["instance_average"]
    assert body["words"][2].startswith("The release is riskier than Safe Harbor on 1 of ")


def test_one_disease_is_measured_for_those_who_have_it(tmp_path: Path) -> None:
    """Scurvy: one of 2 people, one of 4; under Safe Harbor one of 2, one of 10; after one of 5 twice."""
    body = assess(tmp_path, disease=DiseaseScope("illness", "scurvy"))
    assert line(body, "instance_greatest") == pytest.approx([1 / 2, 1 / 2, 1 / 5])
    assert line(body, "instance_average") == pytest.approx([(1 / 2 + 1 / 4) / 2, (1 / 2 + 1 / 10) / 2, 1 / 5])
    assert body["disease"] == {"column": "illness"}
    assert "scurvy" not in str(body)


def test_a_number_may_mark_the_disease(tmp_path: Path) -> None:
    body = assess(tmp_path, disease=DiseaseScope("dose", "50"))
    assert line(body, "instance_average") == pytest.approx([1 / 2, 1 / 2, 1 / 5])


def test_same_disease_is_everybody(tmp_path: Path) -> None:
    body = assess(tmp_path, disease=DiseaseScope())
    assert line(body, "instance_average") == pytest.approx(BY_HAND["instance_average"])
    assert "Here being in the file is itself the disclosure" in body["words"][-1]


def test_a_register_tells_records_apart_by_what_it_has(tmp_path: Path) -> None:
    """By age alone 3 of 5 people of 30, 1 of 1 of 91 and 2 of 4 of 95; the prosecutor knows all columns."""
    ward.write(tmp_path)
    (tmp_path / "fewer.csv").write_text("age,people\n30,5\n91,1\n95,4\n96,5\n")
    asked = ward.RiskOptions(population=str(tmp_path / "fewer.csv"), count="people", released=tmp_path / "release.csv")
    source = ward.open_source(str(tmp_path / "source.csv"))
    body = to_json(ward.assess_source(ward.POLICY.parsed(), source, asked))
    assert line(body, "prosecutor_average") == pytest.approx(BY_HAND["prosecutor_average"])
    expected = [(3 * 3 / 5 + 1 + 2 / 2) / 6, (3 * 3 / 5 + 3 * 3 / 10) / 6, 3 / 5]
    assert line(body, "instance_average") == pytest.approx(expected)
    assert line(body, "k_map") == [1, 5, 5]
    assert body["register"]["not_in_register"] == ["sex", "zip"]
    assert any("does not contain sex, zip" in note for note in body["notes"])


def test_without_a_register_nothing_is_looked_up(tmp_path: Path) -> None:
    body = assess(tmp_path, register=False)
    assert {one["group"] for one in body["verdict"]} == {"prosecutor", "marketer", "alone", "told"}
    assert body["register"] is None
    assert any("No register" in note for note in body["notes"])


def test_without_a_release_it_is_what_the_policy_makes(tmp_path: Path) -> None:
    body = assess(tmp_path, release=False)
    assert body["after"] == "policy"
    assert line(body, "prosecutor_average")[2] == pytest.approx(2 / 6)
    assert line(body, "k")[2] == 3


def test_a_limited_data_set_has_the_risk_of_raw_records_unless_a_column_goes(body: dict[str, Any]) -> None:
    """Ages, sexes and ZIP codes may all stay in one."""
    assert all(one["limited"] == one["raw"] for one in body["verdict"])
    assert {one["column"]: one["does"] for one in body["limited"]} == dict.fromkeys(("age", "sex", "zip"), "unchanged")


@pytest.mark.parametrize(("name", "place"), [("street", "ii"), ("phone_home", "iii"), ("zip", ""), ("born", "")])
def test_a_direct_identifier_is_gone_from_a_limited_data_set(name: str, place: str) -> None:
    coded = code_column(ColumnPolicy(name, "quasi-identifier", "category"), pa.chunked_array([["a", "b", None]]), None)
    left, told = by_limited_data_set(coded)
    assert (told.letter, left.records.tolist()) == (place, [-1] * 3 if place else coded.records.tolist())
