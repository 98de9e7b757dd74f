"""Randomised records: what is promised holds of the matrices and of what leaves, and counts can be corrected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from querygate.core.errors import ConfigError, ExtractRefused
from querygate.core.extracts.extract_spec import ExtractSpec
from querygate.custody.extract import randomised_columns as columns
from querygate.custody.policy import parse_policy
from querygate.custody.use_cases.extract_builder import SiteExtractBuilder, make_extract
from querygate.custody.use_cases.publish_version import publish_to
from querygate.methods.randomise import amplification, distortion, reconstructed
from querygate_adapters.sources.open_source import open_source
from tests.policies import IDENTIFIER, make_policy, quasi, sensitive
from tests.unit.custody.publish.publications import new_site

METHODS = ("randomised-response", "distortion", "small-domain", "pram", "rank-swap")
ALLOWED = {"rho1": 0.1, "rho2": 0.9, "methods": list(METHODS)}
POLICY = make_policy(
    "trial",
    {
        "name": IDENTIFIER,
        "sex": quasi("category", values=["F", "M", "ø"]),
        "age": quasi("integer", (18, 103)),
        "smoker": sensitive("boolean"),
        "stage": sensitive("integer", (0, 3)),
        "seen": sensitive("date", ("2020-01-01", "2020-01-05")),
        "bmi": sensitive("number", (10, 60)),
    },
    randomised=ALLOWED,
)
COLUMNS = ("sex", "age", "smoker", "stage", "seen", "bmi")


def table(rows: int) -> pa.Table:
    """Ties, missing values, a value that is not declared, both ends of every domain, a nearly constant column."""
    chance = np.random.default_rng(rows)
    return pa.table(
        {
            "name": [f"Patient {i}" for i in range(rows)],
            "sex": pa.array([*chance.choice(["F", "M", "ø", "X"], rows, p=[0.6, 0.3, 0.05, 0.05]).tolist()]),
            "age": pa.array(chance.integers(18, 104, rows), mask=chance.random(rows) < 0.1),
            "smoker": pa.array(chance.random(rows) < 0.02),
            "stage": chance.integers(0, 4, rows),
            "seen": pa.array((18262 + chance.integers(0, 5, rows)).astype(np.int32)).cast(pa.date32()),
            "bmi": pa.array(chance.normal(27, 6, rows).clip(10, 60), mask=chance.random(rows) < 0.05),
        }
    )


def make(folder: Path, rows: int = 400, policy: str = POLICY, **wish: Any) -> tuple[dict[str, Any], pa.Table]:
    pq.write_table(table(rows), folder / "trial.parquet")
    out = folder / "out"
    out.mkdir()
    asked = ExtractSpec.of({"dataset": "trial", "purpose": "to see", "kind": "randomised", **wish})
    source = open_source(str(folder / "trial.parquet"))
    body = make_extract(parse_policy(policy), source, asked, out, secret=b"s", base_dir=folder)
    return body, pq.read_table(out / "extract.parquet")


@pytest.mark.parametrize("method", METHODS)
def test_every_record_leaves_with_public_values(method: str, tmp_path: Path) -> None:
    body, left = make(tmp_path, method=method)
    assert (body["kind"], body["method"], left.num_rows) == ("randomised", method, 400)
    assert body["guarantees"][0]["holds"]
    assert set(left.column_names) == set(COLUMNS)
    raw = table(400)
    for name in COLUMNS:
        assert left.schema.field(name).type == raw.schema.field(name).type or name == "smoker"
    assert {x for x in left["age"].to_pylist() if x is not None} <= set(range(18, 104))
    assert {x for x in left["stage"].to_pylist() if x is not None} <= {0, 1, 2, 3}
    if method == "rank-swap":
        assert all(sorted(map(str, left[n].to_pylist())) == sorted(map(str, raw[n].to_pylist())) for n in COLUMNS)
    else:
        assert "X" not in left["sex"].to_pylist()
    told = json.loads((tmp_path / "out" / "report.json").read_text())
    assert set(told["risk"]) == {"words"}  # figures about the raw records stay with reviewers
    assert "unchanged_records" in body["risk"]["randomised"]


def test_belief_is_bounded_over_all_columns_and_counts_are_reconstructed(tmp_path: Path) -> None:
    """Of one column: gamma is (0.9 / 0.1) / (0.1 / 0.9) = 81 for a belief of 0.1."""
    body, left = make(tmp_path, rows=4000, columns=["sex"])
    assert body["guarantees"][0]["figure"] == pytest.approx(0.9)
    assert body["parameters"]["amplification"] == pytest.approx(81)
    kept = body["parameters"]["columns"]["sex"]["kept"]
    assert kept == pytest.approx(81 / 84)
    values = [*"FM", "ø", None]
    counts = np.array([left["sex"].to_pylist().count(value) for value in values])
    matrix = np.full((4, 4), (1 - kept) / 3) + (kept - (1 - kept) / 3) * np.eye(4)
    truth = np.array([table(4000)["sex"].to_pylist().count(value) for value in ("F", "M", "ø", "X")]) / 4000
    assert np.abs(reconstructed(counts, matrix) - truth).max() < 0.02
    many, _ = make(Path(tmp_path / "a") if (tmp_path / "a").mkdir() is None else tmp_path)
    assert many["parameters"]["amplification"] == pytest.approx(81 ** (1 / 6))
    assert many["guarantees"][0]["figure"] == pytest.approx(0.9)


@pytest.mark.parametrize("noise", ["laplace", "normal"])
def test_noise_is_no_more_than_the_belief_allows(noise: str, tmp_path: Path) -> None:
    """Recipients can make the matrix again from what they are told, and correct their counts with it."""
    policy = POLICY.but(randomised={"noise": noise})
    body, left = make(tmp_path, rows=3000, policy=policy, columns=["age"], method="distortion")
    assert body["guarantees"][0]["figure"] == pytest.approx(0.9)
    told = body["parameters"]["columns"]["age"]
    assert (told["cells"], told["noise"]) == (41, noise)
    away = np.abs(np.arange(41)[:, None] - np.arange(41)[None, :]).astype(float)
    away[40, :], away[:, 40], away[40, 40] = 40, 40, 0
    weights = told["ratio"] ** (away if noise == "laplace" else away**2)
    matrix = weights / weights.sum(axis=1, keepdims=True)
    assert amplification(matrix) == pytest.approx(81, rel=1e-6)
    assert np.abs(matrix - distortion(40, 81, noise)[0]).max() < 1e-7  # type: ignore[arg-type]
    assert {age for age in left["age"].to_pylist() if age is not None} <= set(range(18, 104))


def test_noise_of_a_spread_promises_nothing_and_says_so(tmp_path: Path) -> None:
    policy = POLICY.but(randomised={"noise": "normal", "spread": 0.05})
    body, left = make(tmp_path, rows=400, policy=policy, columns=["age", "bmi"], method="distortion")
    [told] = body["guarantees"]
    assert "beliefs are not bounded (amplification" in told["promise"]
    assert 0 < told["figure"] < 0.4
    assert left.num_rows == 400


def test_small_domains_keep_more_and_bound_what_shares_tell(tmp_path: Path) -> None:
    policy = POLICY.but(randomised={"rho1": 0.3, "rho2": 0.6})
    kept = {}
    for method in ("randomised-response", "small-domain"):
        (tmp_path / method).mkdir()
        body, _ = make(tmp_path / method, rows=2000, policy=policy, columns=["age"], method=method)
        kept[method] = body["risk"]["randomised"]["unchanged_values"]["age"]
        assert body["guarantees"][0]["figure"] <= 0.6 + 1e-9
    assert kept["small-domain"] > kept["randomised-response"] + 0.15
    groups = body["parameters"]["columns"]["age"]["groups"]
    assert sorted(value for group in groups for value in group["values"])[-1] == "missing"
    assert sum(len(group["values"]) for group in groups) == 11
    assert all(0 < group["kept"] <= 1 for group in groups)
    assert "of each column by itself" in body["guarantees"][0]["promise"]


def test_groups_that_tell_too_much_are_found_on_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "small_domains", lambda counts, rho1, rho2: [[one] for one in range(counts.size)])
    with pytest.raises(ExtractRefused, match="may become one of 1"):
        make(tmp_path, policy=POLICY.but(randomised={"rho1": 0.3, "rho2": 0.6}), method="small-domain", columns=["age"])
    assert not list((tmp_path / "out").iterdir())


def test_linkage_falls_with_the_noise(tmp_path: Path) -> None:
    found = {}
    for name, beliefs in (("weak", {"rho1": 0.0001, "rho2": 0.999}), ("strong", {"rho1": 0.1, "rho2": 0.2})):
        folder = tmp_path / name
        folder.mkdir()
        body, _ = make(folder, policy=POLICY.but(randomised=beliefs))
        found[name] = body["risk"]["randomised"]["linkage"]["row"]
    assert found["strong"] < found["weak"]


def test_a_matrix_that_keeps_too_much_is_found_on_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "uniform", lambda size, gamma: np.eye(size))
    with pytest.raises(ExtractRefused) as refused:
        make(tmp_path)
    assert refused.value.code == "QG605"
    assert not list((tmp_path / "out").iterdir())


def test_values_that_were_not_drawn_by_the_matrix_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "responses", lambda codes, matrix, rng: codes)
    with pytest.raises(ExtractRefused, match="off"):
        make(tmp_path, policy=POLICY.but(randomised={"rho1": 0.1, "rho2": 0.2}))


@pytest.mark.parametrize(
    ("policy", "wish", "words"),
    [
        (POLICY.but(randomised=None), {}, "no table"),
        (POLICY.but(randomised={"methods": ["pram"]}), {"method": "rank-swap"}, "does not allow"),
        (POLICY.but(columns={"sex": {"values": None}}), {}, "values"),
    ],
)
def test_what_the_policy_does_not_allow_is_refused(policy: str, wish: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(ExtractRefused, match=words) as refused:
        make(tmp_path, policy=policy, **wish)
    assert refused.value.code == "QG605"
    assert not list((tmp_path / "out").iterdir())


def test_conditions_on_true_values_are_no_part_of_the_promise(tmp_path: Path) -> None:
    """How many are selected would be exact: with one person more or less, a value of theirs is told."""
    with pytest.raises(ExtractRefused, match="condition on true values"):
        make(tmp_path, columns=["age"], where="smoker", method="randomised-response")
    for method in ("distortion", "small-domain"):
        with pytest.raises(ExtractRefused, match=f"Records by {method}"):
            make(tmp_path / method if (tmp_path / method).mkdir() is None else tmp_path, where="smoker", method=method)
    (tmp_path / "swapped").mkdir()  # which promises nothing of that kind
    assert make(tmp_path / "swapped", rows=4000, columns=["age"], where="smoker", method="rank-swap")[1].num_rows


def test_a_site_previews_and_builds_the_same(tmp_path: Path) -> None:
    opened = new_site(tmp_path / "site")
    raw = table(400).to_pydict()
    policy = POLICY.but(columns={name: {"guard": 0, "carry": "bins"} for name in ("stage", "seen", "bmi")})
    sexes = [
        None if value in ("X", "ø") else value for value in raw["sex"]
    ]  # nobody is ø, and it is drawn all the same
    pq.write_table(pa.table(raw | {"sex": sexes}, schema=table(400).schema), tmp_path / "trial.parquet")
    publish_to(opened, policy.parsed(), str(tmp_path / "trial.parquet"), user="local")
    spec = ExtractSpec.of({"dataset": "trial", "purpose": "to see", "kind": "randomised", "columns": ["sex", "age"]})
    shown = SiteExtractBuilder(opened).preview(spec, requester="ann")
    assert shown["assessment"] is None
    out = tmp_path / "out"
    out.mkdir()
    built = SiteExtractBuilder(opened).build(spec, out, request_id="x", requester="ann")
    again = SiteExtractBuilder(opened).build(spec, out, request_id="x", requester="ann")
    assert built["risk"] == again["risk"]
    assert pq.read_table(out / "extract.parquet").column_names == ["sex", "age"]


def test_too_few_records_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ExtractRefused, match="fewer than k"):
        make(tmp_path, rows=2)


@pytest.mark.parametrize(
    "wrong",
    [
        {"rho1": 0.5, "rho2": 0.4},
        {"rho1": 0},
        {"methods": ["magic"]},
        {"kept": 1},
        {"window": 0},
        {"rho2": "much"},
        {"noise": "uniform"},
        {"noise": "x"},
    ],
)
def test_bad_tables_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_policy(POLICY.but(randomised=wrong))
    assert refused.value.code == "QG801"


@pytest.mark.parametrize("key", ["k", "suppress", "tolerances"])
def test_keys_that_do_not_apply_are_refused(key: str) -> None:
    value: Any = {"k": 5, "suppress": 0.1, "tolerances": {"sign": 0.1}}[key]
    with pytest.raises(ExtractRefused) as refused:
        ExtractSpec.of({"dataset": "t", "purpose": "p", "kind": "randomised", key: value})
    assert refused.value.code == "QG604"
