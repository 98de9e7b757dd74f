"""policy search --require: what is found keeps it, counted by hand, and what leaves is counted again."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from querygate.custody.columns.population import Population, records_of
from querygate.custody.extract.required_classes import _figure
from querygate.custody.policy import load_policy, parse_policy
from querygate.custody.policy.release_requirements import MEASURES, Requirement
from querygate.custody.policy_search.lattice_study import harbor, lay_out
from querygate.custody.policy_search.required_study import RequiredStudy, SensitiveRecords, measured
from tests.each import each
from tests.seeds import seeds
from tests.unit.custody.policy_search.county import POLICY, write
from tests.unit.custody.policy_search.test_commands import searched
from tests.unit.custody.policy_search.test_grounds import AGE, SEX, drawn, people, policies_of

LIMIT = "alpha(salary-class) <= 0.9"


@pytest.fixture(scope="module")
def county(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("county"), 400)


POPULATION = ("--iterations", 3, "--format", "json", "--count", "people")


def test_every_policy_found_keeps_it_and_says_so(county: Path) -> None:
    given = ("--population", county / "county.csv", *POPULATION, "--out", county / "out", "--threshold", "0.01")
    body = json.loads(searched(county, *given, "--require", LIMIT).stdout)
    assert body["requirements"] == [LIMIT]
    with (county / "records.csv").open(encoding="utf-8", newline="") as file:
        records = list(csv.DictReader(file))
    for kind in body["kinds"]:
        policy = load_policy(county / "out" / kind["file"])
        assert policy.release is not None
        assert policy.release.require == (LIMIT,)
        groups = {value: group for group in policy.column("race").groups for value in group}
        sexes = {value: group for group in policy.column("sex").groups for value in group}
        edges = np.array(policy.column("age").edges or range(101))
        held: dict[tuple[object, ...], Counter[str]] = defaultdict(Counter)
        for one in records:
            age = int(np.searchsorted(edges, int(one["age"]), side="right"))
            key = (groups.get(one["race"], one["race"]), sexes.get(one["sex"], one["sex"]), min(age, len(edges) - 1))
            held[key][one["salary-class"]] += 1
        worst = max(max(one.values()) / one.total() for one in held.values())
        assert kind["required"] == {LIMIT: pytest.approx(worst)}
        assert worst <= 0.9


def test_without_it_policies_break_it(county: Path) -> None:
    body = json.loads(searched(county, "--population", county / "county.csv", *POPULATION).stdout)
    assert body["requirements"] == []
    assert all(kind["required"] == {} for kind in body["kinds"])


@pytest.mark.parametrize(
    "text",
    ["alpha(salary-class) >= 0.9", "alpha(age) <= 0.9", "beta(salary-class) <= 1", "alpha(salary-class) <= 2", ""],
)
def test_what_is_not_understood_is_refused_and_nothing_is_written(county: Path, text: str, tmp_path: Path) -> None:
    given = ("--population", county / "county.csv", "--count", "people", "--out", tmp_path / "out")
    done = searched(county, *given, "--require", text)
    assert done.exit_code != 0
    assert "QG801" in done.output
    assert not (tmp_path / "out").exists()


def test_whoever_is_looked_for_more_is_protected_as_by_safe_harbor(county: Path) -> None:
    """The people are those of Safe Harbor's threshold twice: all alike, and by the weights."""
    given = ("--population", county / "county.csv", *POPULATION)
    body = json.loads(searched(county, *given, "--interest", "salary-class=>50K:1000").stdout)
    assert body["requirements"] == ["looked for: salary-class=>50K:1000"]
    columns = load_policy(county / "policy.toml").named("quasi-identifier")
    raw = pa.csv.read_csv(county / "records.csv")
    records = records_of(columns, raw)
    others = pa.csv.read_csv(county / "county.csv")
    population = Population(*(getattr(records_of(columns, others), name) for name in ("values", "texts")),
                            np.array(others["people"]))  # fmt: skip
    weights = np.where(np.array(raw["salary-class"].to_pylist()) == ">50K", 1000.0, 1.0)
    order = {"race": ["White", "Black", "Asian", "Native"]}
    ground = lay_out(columns, records, population, order, fixed=False)
    keen = lay_out(columns, records, population, order, fixed=False, interest=weights)
    yardstick, _ = harbor(ground, 2026)
    finest = keen.study.risk_of(keen.lattice.finest.kept)
    people_of = keen.study._planes(keen.lattice.finest.kept)
    among = np.maximum(people_of[0], people_of[1]).clip(1)
    assert finest == pytest.approx(float((people_of[2] / among).sum() / weights.sum()))
    assert ground.study.risk(yardstick) != pytest.approx(keen.study.risk(yardstick))
    assert body["kinds"]


@pytest.mark.parametrize("text", ["age=5:2", "salary-class:5", "salary-class=x:0", "nobody=x:2", ""])
def test_an_interest_that_is_none_is_refused(county: Path, text: str) -> None:
    given = ("--population", county / "county.csv", "--count", "people", "--interest", text)
    assert "QG801" in searched(county, *given).output


def test_what_no_policy_keeps_is_refused(county: Path, tmp_path: Path) -> None:
    given = ("--population", county / "county.csv", "--count", "people", "--out", tmp_path / "out")
    done = searched(county, *given, "--require", "l-diversity(salary-class) >= 9")
    assert "QG803" in done.output
    assert not (tmp_path / "out").exists()


def test_the_policy_key_is_read_in_one_spelling_and_is_part_of_the_hash() -> None:
    release = {"population": "county.csv", "require": ["alpha(salary-class)<=0.90"]}
    policy = parse_policy(POLICY.but(release=release))
    assert policy.release is not None
    assert policy.release.require == (LIMIT,)
    assert policy.hash != parse_policy(POLICY.but(release={"population": "county.csv"})).hash


@each("seed", seeds(12))
def test_merging_keeps_whatever_was_kept_and_two_counts_agree(seed: int) -> None:
    """Every measure, with missing values on the axes and among the values: the search's and the extract's own."""
    columns = policies_of(age=AGE, sex=SEX)
    records, others = (people(columns, **drawn(columns, rows, seed + at)) for at, rows in enumerate((80, 900)))
    ground = lay_out(columns, records, others, fixed=True)
    rng = np.random.default_rng(seed)
    values = rng.integers(-1, 3, 80)
    places = SensitiveRecords.of(ground.axes, records, {"dx": values})
    kept = rng.random(ground.lattice.length) < 0.3
    coarser = kept & (rng.random(kept.size) < 0.7)
    for name, sign in MEASURES.items():
        one = Requirement(name, "dx", 1.0)
        study = RequiredStudy(ground, places, [one])
        (before,), (after,) = study.figures(kept), study.figures(coarser)
        assert after <= before + 1e-9 if sign == "<=" else after >= before - 1e-9
        classes: dict[int, Counter[str | None]] = defaultdict(Counter)
        for label, value in zip(study._classes_of(kept).tolist(), values.tolist(), strict=True):
            classes[label][None if value < 0 else str(value)] += 1
        assert _figure(one, classes) == pytest.approx(before, abs=1e-8)
        assert measured(one, study._classes_of(kept), values) == before
