"""The same risk by two ways: the report's, record by record, and that of the policy search, over a cube of counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from querygate.core.json_body import to_json
from querygate.custody.use_cases.risk_assessment import RiskOptions, assess_source
from querygate.methods.policy_search import safe_harbor
from querygate_adapters.sources.open_source import open_source
from tests.policies import ROUGH_AGE, SEX, make_policy, quasi
from tests.unit.methods.policy_search.shelby import LATTICE, adult, study

POLICY = make_policy("adult", {"sex": SEX, "race": quasi("category"), "age": ROUGH_AGE})


@pytest.fixture(scope="module")
def body(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Adult records in Shelby County; released is what everybody shares, all ages from 17 on."""
    folder: Path = tmp_path_factory.mktemp("shelby")
    records, people = adult(), study().population
    pq.write_table(pa.table(records), folder / "adult.parquet")
    places = np.indices(people.shape).reshape(3, -1)
    columns = {one.name: np.array(one.values)[at] for one, at in zip(LATTICE.attributes, places, strict=True)}
    pq.write_table(pa.table({**columns, "people": people.reshape(-1)}), folder / "county.parquet")
    whole = pa.table({"sex": records["sex"], "age": ["17+"] * len(records["age"])})
    pq.write_table(whole, folder / "release.parquet")
    asked = RiskOptions(str(folder / "county.parquet"), "people", folder / "release.parquet")
    return to_json(assess_source(POLICY.parsed(), open_source(str(folder / "adult.parquet")), asked))


def test_as_the_policy_search_measures(body: dict[str, Any]) -> None:
    for side, policy in (("raw", LATTICE.finest), ("safe_harbor", safe_harbor(LATTICE))):
        found, measured = body["sides"][side], study().measure(policy)
        assert found["instance"]["average_match"] == pytest.approx(measured.risk, rel=1e-12)
        assert found["instance"]["greatest_match"] == pytest.approx(measured.greatest)
        assert (found["attackers"]["k_map"], found["classes"]) == (measured.k_map, measured.classes)
        assert (found["attackers"]["unmatched"], found["attackers"]["short"]) == (measured.unmatched, measured.short)


def test_of_two_classes(body: dict[str, Any]) -> None:
    """Men and women of 17 and over, of any race."""
    after, people = body["sides"]["after"], study().population[:, :, 17:].sum(axis=(1, 2))
    sizes = [adult()["sex"].count(sex) for sex in ("Female", "Male")]
    assert (after["classes"], after["attackers"]["k"]) == (2, min(sizes))
    assert after["attackers"]["k_map"] == people.min()
    expected = sum(n * n / N for n, N in zip(sizes, people.tolist(), strict=True)) / sum(sizes)
    assert after["instance"]["average_instance"] == pytest.approx(expected)
