"""Release extracts: records at the policy's cells, and a risk that is counted anew on what leaves."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from querygate.core.errors import ExtractRefused
from querygate.core.extracts.extract_spec import ExtractSpec
from querygate.custody.columns.population import Population, records_of
from querygate.custody.extract import release_extract as making
from querygate.custody.extract.release_check import look_up
from querygate.custody.policy import load_policy
from querygate.custody.policy.policy_writer import write_toml
from querygate.custody.policy_search.lattice_study import lay_out
from querygate.custody.policy_search.policy_edits import applied
from querygate.custody.use_cases.extract_builder import make_extract
from querygate_adapters.sources.open_source import open_source
from tests.policies import IDENTIFIER, ILLNESS, diverse, make_policy, quasi, sensitive

POLICY = make_policy(
    "trial",
    {
        "name": IDENTIFIER,
        "age": quasi("integer", (0, 100)),
        "race": quasi("category", values=["White", "Black", "Asian", "Native"]),
        "smoker": quasi("boolean"),
        "born": quasi("date", ("1920-01-01", "2010-12-31")),
        "sbp": sensitive("number", (40, 300)),
        "dx": ILLNESS | diverse("distinct", l=2),
    },
)
NAMES = ("age", "race", "smoker", "born")


def table(rows: int, seed: int, *, missing: float = 0.05) -> pa.Table:
    chance = np.random.default_rng(seed)

    def some(values: Any) -> pa.Array:
        return pa.array(values, mask=chance.random(rows) < missing)

    return pa.table(
        {
            "name": [f"Patient {i}" for i in range(rows)],
            "age": some(chance.integers(20, 101, rows)),
            "race": some(chance.choice(["White", "Black", "Asian", "Native"], rows, p=[0.6, 0.3, 0.08, 0.02])),
            "smoker": some(chance.random(rows) < 0.3),
            "born": some(chance.integers(-18_000, 14_000, rows).astype(np.int32)).cast(pa.date32()),
            "sbp": some(chance.normal(120, 15, rows).clip(40, 300).round(1)),
            "dx": some(chance.choice(["a", "b", "c"], rows)),
        }
    )


def place(folder: Path, release: dict[str, Any], columns: dict[str, Any] | None = None, **more: Any) -> Path:
    """A source, a population and a policy file in a folder."""
    folder.mkdir(exist_ok=True)
    pq.write_table(table(400, 1), folder / "trial.parquet")
    pq.write_table(table(6000, 2).select(NAMES), folder / "people.parquet")
    (folder / "p.toml").write_text(POLICY.but(columns=columns or {}, release=release, **more))
    return folder


def make(folder: Path, **wish: Any) -> dict[str, Any]:
    out = folder / "out"
    out.mkdir()
    asked = ExtractSpec.of({"dataset": "trial", "purpose": "to see", "kind": "release", **wish})
    source = open_source(str(folder / "trial.parquet"))
    return make_extract(load_policy(folder / "p.toml"), source, asked, out, secret=b"s", base_dir=folder)


POPULATION = {"population": "people.parquet", "columns": ["age", "race", "smoker"]}
CELLS = {
    "age": {"edges": [40, 65, 90]},
    "race": {"groups": [["White"], ["Black"], ["Asian", "Native"]]},
    "smoker": {"groups": [["false", "true"]]},
}


def test_records_leave_at_their_cells_and_nothing_else_is_done(tmp_path: Path) -> None:
    body = make(place(tmp_path, POPULATION, CELLS))
    left = pq.read_table(tmp_path / "out" / "extract.parquet")
    raw = table(400, 1)
    assert set(zip(*(left[f"age_{end}"].to_pylist() for end in ("low", "high")), strict=True)) == {
        *((0, 39), (40, 64), (65, 89), (90, 100), (None, None)),
    }
    assert set(left["race"].to_pylist()) == {"White", "Black", "Asian | Native", None}
    assert set(left["smoker"].to_pylist()) == {"*", None}
    assert sorted(left["sbp"].to_pylist(), key=str) == sorted(raw["sbp"].to_pylist(), key=str)
    assert body["records"] == 400
    assert body["k_asked"] is None
    rare = [race in ("Asian", "Native") for race in raw["race"].to_pylist()]
    assert body["loss"]["race"] == pytest.approx(sum(rare) * 0.5 / 400)  # two of the four values that there are
    assert body["loss"]["smoker"] == pytest.approx(1 - raw["smoker"].null_count / 400)
    found = body["risk"]["release"]
    assert found["risk"] <= found["threshold"] == found["safe_harbor"]["risk"] < found["intact"]["risk"]
    assert found["unknown"] == ["born"]
    assert body["guarantees"][0]["figure"] == found["risk"]
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Over the population, compared with Safe Harbor" in page
    assert "Not in the population, so not in these figures: born" in page
    assert "Patient" not in page


def test_the_order_of_records_does_not_follow_their_raw_values(tmp_path: Path) -> None:
    one = {"groups": [["White", "Black", "Asian", "Native"]]}
    make(place(tmp_path, POPULATION, CELLS | {"race": one}), columns=["race", "sbp"])
    left = pq.read_table(tmp_path / "out" / "extract.parquet")
    sbp = [value for value in left["sbp"].to_pylist() if value is not None]
    rising = sum(a <= b for a, b in itertools.pairwise(sbp)) / (len(sbp) - 1)
    assert 0.4 < rising < 0.6


def test_the_figures_counted_on_what_leaves_are_those_of_the_study(tmp_path: Path) -> None:
    """Random policies over the lattice, applied through the policy file, written, and looked up in what was written."""
    linked = POLICY.parsed().named("quasi-identifier")
    people, records = records_of(linked, table(6000, 2)), records_of(linked, table(400, 1))
    chance = np.random.default_rng(7)
    for number, names in enumerate((("age", "race", "smoker"), ("race", "born"), ("age",), ("age", "born"))):
        columns = [column for column in linked if column.name in names]
        ground = lay_out(columns, records, people, fixed=False)
        policy = ground.lattice.policy(chance.random(ground.lattice.length) < 0.3)
        release = {"population": "people.parquet", "columns": list(names), "threshold": 1.0}
        folder = tmp_path / str(number)
        place(folder, release)
        (folder / "p.toml").write_text(write_toml(applied(POLICY.tables, ground.axes, policy, release)))
        found = make(folder, columns=list(names))["risk"]["release"]
        wanted = ground.study.measure(policy).to_dict()
        assert {key: found[key] for key in wanted} == {
            **wanted,
            "risk": pytest.approx(wanted["risk"], rel=1e-12),
            "greatest": pytest.approx(wanted["greatest"]),
        }


@pytest.mark.parametrize(
    ("release", "wish", "code", "words"),
    [
        (POPULATION, {"k": 5}, "QG604", "k: cannot be set for a release"),
        (POPULATION, {"method": "mondrian"}, "QG604", "method: cannot be set"),
        (POPULATION, {"suppress": 0.1}, "QG604", "suppress: cannot be set"),
        (POPULATION, {"tolerances": {"mean(age)": 5}}, "QG604", "tolerances: cannot be set"),
        (POPULATION, {"where": "age > 40"}, "QG604", "a release cannot have a condition on age"),
        (POPULATION, {"where": "sbp > 120 OR race = 'White'"}, "QG604", "cannot have a condition on race"),
        (POPULATION, {"columns": ["sbp"]}, "QG604", "none of them is a quasi-identifier"),
        (POPULATION, {"columns": ["born"]}, "QG604", "none of them is in the population"),
        (POPULATION, {"where": "sbp > 299"}, "QG605", "selects no records"),
        (POPULATION | {"threshold": 0.00001}, {}, "QG605", "above the threshold of 1e-05"),
        (POPULATION | {"population": "absent.csv"}, {}, "QG605", "The population of the policy cannot be read"),
        (POPULATION | {"count": "people"}, {}, "QG605", "has no column people"),
        (None, {}, "QG605", "The policy has no table [release]"),
    ],
)
def test_what_is_refused(
    tmp_path: Path, release: dict[str, Any] | None, wish: dict[str, Any], code: str, words: str
) -> None:
    folder = place(tmp_path, release or {}, CELLS)
    if release is None:
        (folder / "p.toml").write_text(POLICY)
    with pytest.raises(ExtractRefused) as caught:
        make(folder, **wish)
    assert caught.value.code == code
    assert words in caught.value.detail
    assert not (folder / "out").exists() or not list((folder / "out").iterdir())


def test_a_release_that_is_riskier_than_safe_harbor_is_refused_with_its_figures(tmp_path: Path) -> None:
    """Single ages, and those of 90 and over as well: more than Safe Harbor tells."""
    fine = {"age": {"grid": 1}}
    with pytest.raises(ExtractRefused, match=r"above the threshold of 0\.\d+ \(Safe Harbor") as caught:
        make(place(tmp_path, POPULATION, fine), columns=["age", "race"])
    assert "the fewest people who match a record" in caught.value.detail


def test_a_condition_on_what_others_do_not_know_is_taken(tmp_path: Path) -> None:
    body = make(place(tmp_path, POPULATION | {"threshold": 0.9}, CELLS), where="dx = 'a'", models=["linear: sbp ~ age"])
    assert body["records"] == table(400, 1)["dx"].to_pylist().count("a")
    assert body["utility"]["models"][0]["model"] == "linear: sbp ~ age"


def test_the_check_does_not_trust_what_was_written() -> None:
    columns = [POLICY.but(columns=CELLS).parsed().column(name) for name in ("age", "race")]
    people = Population(
        {"age": np.array([50.0, 70.0]), "race": np.array([0.0, 0.0])}, {"race": ("Black",)}, np.array([3, 4])
    )

    def left(**values: Any) -> pa.Table:
        return pa.table({"age_low": [40], "age_high": [64], "race": ["Black"]} | values)

    looked, matches = look_up(left(), columns, people)
    assert (looked.k_map, matches.tolist(), looked.risk) == (3, [3], pytest.approx(1 / 3))
    for values in (
        {"age_high": [50]},
        {"age_low": [41]},
        {"race": ["Asian"]},
        {"race": ["Black | White"]},
        {"race": ["*"]},
    ):
        with pytest.raises(ExtractRefused, match="does not keep the cells"):
            look_up(left(**values), columns, people)


def test_a_value_that_strays_stops_the_extract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def shifted(draft: Any) -> Any:
        made = true(draft)
        return tuple(
            type(box)(box.name, box.starts, (box.codes + 1) % 4, box.nulls) if box.name == "race" else box
            for box in made
        )

    true = making.with_values
    monkeypatch.setattr(making, "with_values", shifted)
    with pytest.raises(ExtractRefused, match="wrong"):
        make(place(tmp_path, POPULATION, CELLS))


@pytest.mark.parametrize("method", ["", "full-domain", "full-subtree", "local", "mondrian-relaxed"])
def test_cells_hold_in_k_anonymous_extracts_of_every_recoding(tmp_path: Path, method: str) -> None:
    wish: dict[str, Any] = {
        "kind": "k-anonymous",
        "columns": ["age", "race", "sbp"],
        "suppress": 0.05 if method == "local" else 0,
    }
    make(place(tmp_path, POPULATION, CELLS), method=method, **wish)
    left = pq.read_table(tmp_path / "out" / "extract.parquet")
    assert {low for low in left["age_low"].to_pylist() if low is not None} <= {0, 40, 65, 90}
    assert {high for high in left["age_high"].to_pylist() if high is not None} <= {39, 64, 89, 100}
    for text in set(left["race"].to_pylist()) - {None, "*"}:
        assert len({"Asian", "Native"} & set(text.split(" | "))) != 1


@pytest.mark.parametrize("limit", ["alpha(dx) <= 0.9", "l-diversity(dx) >= 3"])
def test_what_is_required_of_a_sensitive_column_is_counted_on_what_leaves(limit: str, tmp_path: Path) -> None:
    """Two classes: those of whom it is known whether they smoke, and the others."""
    folder = place(tmp_path, POPULATION | {"require": [limit], "threshold": 0.9}, CELLS)
    body = make(folder, columns=["smoker", "dx"])
    told = {one["promise"]: one for one in body["guarantees"]}
    assert told[limit]["holds"]
    left = pq.read_table(folder / "out" / "extract.parquet").to_pylist()
    classes: dict[Any, list[Any]] = {}
    for row in left:
        classes.setdefault(row["smoker"], []).append(row["dx"])
    shares = [max(values.count(v) for v in set(values)) / len(values) for values in classes.values()]
    worst = max(shares) if limit.startswith("alpha") else min(len(set(values)) for values in classes.values())
    assert told[limit]["figure"] == pytest.approx(worst)


def test_a_release_that_does_not_keep_it_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    folder = place(tmp_path, POPULATION | {"require": ["alpha(dx) <= 0.9"], "threshold": 0.9}, CELLS)
    with pytest.raises(ExtractRefused) as refused:
        make(folder, columns=["age", "born", "dx"])
    assert refused.value.code == "QG605"
    assert "alpha(dx) <= 0.9" in refused.value.detail
    assert not list((folder / "out").iterdir())
