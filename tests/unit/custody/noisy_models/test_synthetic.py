"""Noisy synthetic tables: public cells, an answer for any data, and records that are made of the tree alone."""

from __future__ import annotations

import io
import json
import secrets
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from querygate.core.errors import ExtractRefused
from querygate.core.extracts.extract_spec import ExtractSpec
from querygate.core.types import NoiseOptions
from querygate.custody.noisy_models.synthetic_table import SyntheticPlan
from querygate.custody.use_cases.extract_builder import SiteExtractBuilder
from querygate.site.budget_evidence import open_ledger
from tests.unit.custody.noise.site_with_noise import noisy_site
from tests.unit.custody.noisy_models.test_families import HOSTILE, POLICY, rows

OPTIONS = NoiseOptions(1.0, 10.0, 10.0, epsilon_per_extract=10.0)
NAMES = ["age", "sex", "born", "sbp", "died", "dx"]
FACTS = {"dataset": "trial", "version": 1, "purpose": "to see"}


def plan(epsilon: float = 1.0, delta: float = 0.0, **wish: Any) -> SyntheticPlan:
    whole = {"dataset": "trial", "purpose": "to see", "kind": "dp-synthetic", "epsilon": epsilon, **wish}
    options = NoiseOptions(1.0, 10.0, 10.0, delta=delta, epsilon_per_extract=10.0)
    return SyntheticPlan.of(ExtractSpec.of(whole), POLICY, options)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_columns_and_pairs_are_as_frequent_as_in_the_raw_rows(delta: float) -> None:
    table = rows(6_000)
    made = plan(10.0, delta, columns=["age", "sex", "sbp", "died"])
    answer = made.draw(table, secrets.SystemRandom())
    drawn = made.drawn_from(answer)
    assert abs(drawn.num_rows - 6_000) < 100
    told = made.compare(lambda: table, answer)
    assert max(told["distances"].values()) < 0.05
    assert told["pairs"] < 0.15
    both = drawn.select(["age", "sbp"]).drop_null()
    assert np.corrcoef(np.asarray(both["age"], dtype=float), np.asarray(both["sbp"]))[0, 1] > 0.5  # raw: 0.8


@pytest.mark.parametrize("table", HOSTILE.values(), ids=HOSTILE.keys())
def test_any_data_give_a_table_of_public_values(table: pa.Table) -> None:
    made = plan()
    assert list(made.names) == NAMES  # `open` is not declared
    answer = json.loads(json.dumps(made.draw(table, secrets.SystemRandom()), allow_nan=False))
    drawn = made.drawn_from(answer)
    assert drawn.num_rows >= 1
    assert set(drawn["dx"].to_pylist()) <= {"a", "b", "Łódź", None}
    assert all(0 <= age <= 100 for age in drawn["age"].to_pylist() if age is not None)
    assert drawn.schema.field("born").type == pa.date32()
    files = made.files(answer, FACTS, ExtractSpec.of({"dataset": "t", "purpose": "p"}))
    assert files == made.files(answer, FACTS, ExtractSpec.of({"dataset": "t", "purpose": "p"}))
    assert pq.read_table(io.BytesIO(files["synthetic.parquet"])).equals(drawn)
    assert b"drawn exactly, in whole numbers" in files["report.html"]


@pytest.mark.parametrize(
    "wish",
    [
        *({"columns": ["age"]}, {"columns": ["age", "mrn"]}, {"formats": ["stata"]}, {"parts": 1}, {"parts": 500}),
        *({"noisy": "pca: ~ age"}, {"models": ["linear: sbp ~ age"]}, {"k": 5}),
    ],
)
def test_what_is_refused_before_anything_is_read(wish: dict[str, Any]) -> None:
    with pytest.raises(ExtractRefused) as refused:
        plan(**wish)
    assert refused.value.code == "QG604"


def test_undeclared_columns_are_refused_by_name() -> None:
    with pytest.raises(ExtractRefused, match="values for open"):
        plan(columns=["age", "open"])


def test_at_a_site_it_is_paid_for_once(tmp_path: Path) -> None:
    opened = noisy_site(tmp_path, each=0.5, total=10.0, user=4.0, epsilon_per_extract=2.0).opened
    wish = {"dataset": "patients", "purpose": "p", "kind": "dp-synthetic", "epsilon": 2.0, "where": "age >= 18"}
    builder, found = SiteExtractBuilder(opened), []
    assert builder.preview(ExtractSpec.of(wish), requester="ann")["cost"]["epsilon"] == 2.0
    for name in ("first", "again"):
        (tmp_path / name).mkdir()
        body = builder.build(ExtractSpec.of(wish), tmp_path / name, request_id="x_syn", requester="ann")
        found.append({file.name: file.read_bytes() for file in (tmp_path / name).iterdir()})
    assert found[0] == found[1]
    assert body["utility"]["pairs"] < 0.5
    assert [one.epsilon for one in open_ledger(opened).spent("patients")] == [2.0, 2.0]  # ann's, and the dataset's
    assert b"utility" not in found[0]["tree.json"]
