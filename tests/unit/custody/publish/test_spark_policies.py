"""What a publication inside Spark refuses, by the policy alone and before anything is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from querygate.core.errors import ConfigError
from querygate.custody.publish.spark_policies import check_spark_policy
from querygate.custody.use_cases.publish_version import publish_to
from tests.each import each
from tests.policies import AGE, IDENTIFIER, ILLNESS, SBP, SEX, ZIP, code_list, diverse, make_policy, sensitive
from tests.unit.custody.publish.publications import new_site

POLICY = make_policy("t", {"id": IDENTIFIER, "age": AGE, "zip": ZIP, "sbp": SBP, "ill": ILLNESS}, person="id")

DX = code_list("flat", values=["250.00", "401.9"], separator=";", protect={"kind": "k^m", "m": 2})
NOISE = {"epsilon_per_query": 0.5, "epsilon_total": 5.0, "epsilon_per_user": 1.0}


def test_a_plain_policy_is_taken() -> None:
    check_spark_policy(POLICY.parsed())
    check_spark_policy(POLICY.but(columns={"ill": diverse("t-closeness", t=0.4), "sbp": {"carry": "hull"}}).parsed())


@each(
    "change, told",
    [
        ({"columns": {"age": None, "zip": None, "dx": DX}}, "quasi-identifiers"),
        ({"anonymise": {"method": "snake"}}, "snake"),
        ({"anonymise": {"statistics": ["mean(sbp)"]}}, "statistics"),
        ({"anonymise": {"class_moments": "rounded"}, "columns": {"sbp": {"guard": 5}}}, "class_moments"),
        ({"columns": {"sex": SEX | {"rare": "other"}}}, "sex: rare"),
        ({"columns": {"sbp": diverse("ke", e=5)}}, "sbp: diversity ke"),
        ({"columns": {"sbp": {"carry": "hull", **diverse("distinct", l=2)}}}, "carried as a hull"),
        ({"columns": {"dx": DX}}, "dx: codes"),
        ({"audit": {"on_differencing": "warn"}}, "on_differencing"),
        ({"answers": {"modes": ["interval", "laplace"]}, "laplace": NOISE}, "noisy"),
    ],
)
def test_what_needs_records_is_refused(change: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        check_spark_policy(POLICY.but(**change).parsed())
    assert refused.value.code == "QG803"
    assert told in refused.value.detail
    assert "--vault" in refused.value.remedy


def test_nothing_is_read_of_a_policy_that_is_refused(tmp_path: Path) -> None:
    policy = POLICY.but(columns={"sbp": sensitive("integer", (40, 300)) | diverse("em", epsilon=5, m=2)})
    opened = new_site(tmp_path)
    with pytest.raises(ConfigError) as refused:
        publish_to(opened, policy.parsed(), f"{tmp_path}/nowhere.csv", user="carl", vault=f"spark:{tmp_path}/vault")
    assert refused.value.code == "QG803"
    assert not (tmp_path / "vault").exists()
