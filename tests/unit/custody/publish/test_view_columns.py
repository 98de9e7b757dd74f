"""Public columns and categories with a hierarchy in views: whole nodes, true ranges, nothing about fewer than k."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from querygate.core.errors import ConfigError
from querygate.custody.publish import view_cells
from querygate.site.layout import open_site
from querygate.site.open_gate import OpenSite, open_gate
from querygate_adapters.vault.written_store import WrittenStore
from tests.attack.view_attacks import Told, certain_by_programmes, exposed_by_algebra
from tests.attack.view_files import read_classes
from tests.policies import make_policy, public, quasi, sensitive
from tests.unit.custody.publish.publications import ends, new_site, put
from tests.unit.custody.verify.view_stores import ViewStore, publish_views

CODES = ["37201", "37203", "37212", "38103", "38107", "41000", "41099", "99999"]
POLICY = make_policy(
    "t",
    {
        "age": quasi("integer", (20, 59), grid=1, cuts=[40]),
        "post": quasi("category", values=CODES, hierarchy="digits"),
        "year": public("integer", (2000, 2030)),
        "site": public("category", values=["east", "west", "Übersee"]),
        "ill": sensitive("category", values=["no", "yes"]),
        "sbp": sensitive("integer", (40, 300), bins=10, guard=10),
    },
    k=5,
    views={"spanning": [["age", "year", "post"], ["age", "site", "post"]]},
)


def people(records: int = 300, seed: int = 1) -> dict[str, list[Any]]:
    random = np.random.default_rng(seed)

    def missing(values: Any, share: float) -> list[Any]:
        return [None if random.random() < share else value for value in values.tolist()]

    age = random.integers(20, 60, records)
    return {
        "age": age.tolist(),
        "post": missing(random.choice(CODES, records, p=[0.3, 0.2, 0.02, 0.2, 0.1, 0.1, 0.07, 0.01]), 0.03),
        "year": missing(random.choice([2001, 2002, 2015], records, p=[0.5, 0.3, 0.2]), 0.02),
        "site": missing(random.choice(["east", "west", "Übersee"], records, p=[0.6, 0.35, 0.05]), 0.02),
        "ill": missing(random.choice(["no", "yes"], records, p=[0.7, 0.3]), 0.02),
        "sbp": missing(np.clip(random.normal(105 + age / 2, 15), 60, 220).astype(int), 0.05),
    }


@pytest.fixture(scope="module")
def opened(store: ViewStore) -> OpenSite:
    return open_gate(open_site(store.folder / "site"))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ViewStore:
    return publish_views(tmp_path_factory.mktemp("columns"), POLICY, people())


def test_what_is_told_of_a_hierarchy_are_whole_nodes(store: ViewStore) -> None:
    set_id, value_id, texts = WrittenStore(store.path).sets(store.column("post"))
    sets = [{texts[v] for v in value_id[set_id == one].tolist() if v >= 0} for one in np.unique(set_id).tolist()]
    known = [
        [{code for code in CODES if code[:length] == head} for head in {code[:length] for code in CODES}]
        for length in range(6)
    ]
    for told in sets:
        assert any(all(node <= told or not node & told for node in nodes) for nodes in known)
    assert any(1 < len(told) < len(CODES) for told in sets)


CONDITIONS = (
    "post LIKE '37%'",
    "post LIKE '4%' AND age < 40",
    "post = '37201' AND site = 'east'",
    "year = 2001",
    "year BETWEEN 2001 AND 2002 AND age >= 40",
    "site = 'Übersee'",
    "site = 'west' AND year = 2015",
    "year IS NULL",
    "post IN ('99999', '38103') AND year > 2010",
)


@pytest.mark.parametrize("figure", ["COUNT(*)", "AVG(sbp)", "COUNT(CASE WHEN ill = 'yes' THEN 1 END)", "MAX(sbp)"])
def test_truth_is_inside_every_range(opened: OpenSite, figure: str) -> None:
    with duckdb.connect() as database:
        database.register("t", pa.table({name: pa.array(values) for name, values in people().items()}))
        for where in CONDITIONS:
            (truth,) = database.execute(f"SELECT {figure} FROM t WHERE {where}").fetchall()[0]
            low, high = ends(opened, figure, where)
            assert truth is None or low - 1e-9 <= truth <= high + 1e-9, where


def test_values_are_joined_with_their_neighbours_in_the_tree(opened: OpenSite, tmp_path: Path) -> None:
    """A question about a node is told more narrowly than where any values are joined."""
    flat = new_site(tmp_path)
    columns = {name: dict(column) for name, column in POLICY.tables["columns"].items()}
    del columns["post"]["hierarchy"]
    put(flat, make_policy("t", columns, views=POLICY.tables["views"]), people())
    by_tree, by_size = (
        sum(np.ptp(ends(one, "COUNT(*)", f"post LIKE '{head}%'")) for head in ("37", "38", "41"))
        for one in (opened, flat)
    )
    assert by_tree < by_size


def test_nobody_is_given_up(tmp_path: Path) -> None:
    """To somebody who knows everybody's quasi-identifiers and public values."""
    told = people(160, 2)
    told["year"] = [year or 2001 for year in told["year"]]
    site = new_site(tmp_path)
    put(site, POLICY, told)
    known = {name: told[name] for name in ("age", "post", "year", "site")}
    bins = np.array([["no", "yes", None].index(one) for one in told["ill"]])
    counts, classes = read_classes(site, 1, known), read_classes(site, 1, known, "ill")
    assert min(np.unique(row, return_counts=True)[1].min() for row in counts) >= 5
    for old in (False, True):
        here = (np.array(told["age"]) >= 40) == old
        assert exposed_by_algebra(counts[:, here], 5) == 0
        assert certain_by_programmes(Told(classes[:, here], bins[here])) == 0


def test_the_verifier_wants_public_edges_that_somebody_has(store: ViewStore) -> None:
    year = f"c{store.column('year')}_lo"
    with pytest.raises(ConfigError, match="the edges of year are attained"):
        store.verify(f"UPDATE cells SET {year} = 2000 WHERE {year} = 2001")


def test_the_verifier_wants_whole_nodes_where_values_would_tell_of_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view_cells, "_under_nodes", lambda quasi, held, codes, heights: (held, codes))
    with pytest.raises(ConfigError, match=r"each post of a class of margin . could be that of k = 5 people"):
        put(new_site(tmp_path), POLICY, people())


@pytest.mark.parametrize(
    ("records", "views"), [(5, {}), (6, {"frame": ["year"]}), (30, {"frame": ["site", "age"]}), (30, {"frame": []})]
)
def test_few_people_and_frames_of_public_columns(tmp_path: Path, records: int, views: dict[str, Any]) -> None:
    tables = {name: value for name, value in POLICY.tables.items() if name != "views"}
    opened = new_site(tmp_path)
    put(opened, type(POLICY)({**tables, "views": views}), people(records, records))
    assert ends(opened, "COUNT(*)") == (records, records)


def test_no_frame_of_a_hierarchy() -> None:
    with pytest.raises(ConfigError, match="whose hierarchy says which values stay together"):
        POLICY.but(views={"frame": ["post"]}).parsed()
