"""Extracts as the product makes them: never riskier than the raw records, and as risky as their own reports say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from querygate.core.extracts.extract_spec import ExtractSpec
from querygate.core.json_body import to_json
from querygate.custody.use_cases.extract_builder import make_extract
from querygate.custody.use_cases.risk_assessment import RiskOptions, assess_source
from querygate_adapters.sources.open_source import open_source
from tests.unit.custody.extract.study import POLICY, records

QUASI = ["age", "sex", "born", "zip"]
MAPPED = POLICY.but(k_map={"population": "people.parquet", "k": 2})


@pytest.fixture(autouse=True)
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("querygate.custody.extract.extract_report.can_draw", lambda: False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trial and a register that has its people, and others."""
    folder = tmp_path_factory.mktemp("trial")
    trial = records(200)
    pq.write_table(trial, folder / "trial.parquet")
    pq.write_table(
        pa.concat_tables([trial.select(QUASI), records(900, seed=5).select(QUASI)]), folder / "people.parquet"
    )
    return folder


def short(body: Any) -> Any:
    """Without the digits that follow the order in which numbers were summed."""
    return json.loads(json.dumps(body), parse_float=lambda digits: round(float(digits), 9))


@pytest.mark.parametrize(("k", "form"), [(5, "csv"), (12, "parquet")])
def test_of_an_extract(folder: Path, tmp_path: Path, k: int, form: Any) -> None:
    policy, source = MAPPED.parsed(), open_source(str(folder / "trial.parquet"))
    wish = ExtractSpec.of({"dataset": "trial", "purpose": "test", "k": k, "method": "mondrian", "formats": [form]})
    own = make_extract(policy, source, wish, tmp_path, secret=b"s", base_dir=folder)
    body = to_json(assess_source(policy, source, RiskOptions(released=tmp_path), beside=folder))
    assert body["after"] == "release"
    assert short(body["sides"]["after"]["attackers"]) == short(own["risk"]["attackers"])
    told = {line["column"]: line for line in own["risk"]["told"]}
    assert short({line["column"]: line for line in body["sides"]["after"]["told"]}) == short(told)
    assert_monotone(body)


def assert_monotone(body: dict[str, Any]) -> None:
    for line in body["verdict"]:
        if line["group"] in ("prosecutor", "alone", "told") and not line["measure"].startswith("gain"):
            better = line["after"] - line["raw"] if line["unit"] == "count" else line["raw"] - line["after"]
            assert better >= -1e-12, line


def test_of_what_the_policy_would_make(folder: Path) -> None:
    policy = MAPPED.but(anonymise={"method": "mondrian"}).parsed()
    body = to_json(assess_source(policy, open_source(str(folder / "trial.parquet")), RiskOptions(), beside=folder))
    assert body["after"] == "policy"
    assert body["sides"]["after"]["attackers"]["k"] >= 5
    assert body["register"]["people"] == 1100
    assert_monotone(body)


def test_synthetic_records_are_nobodys(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text('{"kind": "condensed"}')
    with pytest.raises(Exception, match="synthetic"):
        assess_source(POLICY.parsed(), open_source(str(folder / "trial.parquet")), RiskOptions(released=tmp_path))
