"""Categories with hierarchies: what is published is a node, the truth lies in the ranges, and bad files are refused."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

from querygate.core.errors import ConfigError
from querygate.methods.anonymise import Hierarchy
from tests.engine import reading
from tests.policies import AGE, PolicyText, make_policy, quasi
from tests.unit.custody.publish.publications import ask, new_site, put

ROWS = """\
Nashville;Tennessee;South;*
Memphis;Tennessee;South;*
Boston;Massachusetts;North;*
Salem;Massachusetts;North;*
"""


def zips_by(hierarchy: str, **more) -> PolicyText:
    return make_policy("t", {"age": AGE, "zip": quasi("category", hierarchy=hierarchy, **more)})


def columns(values, rows=300, seed=0):
    chance = np.random.default_rng(seed)
    return {"age": chance.integers(20, 60, rows), "zip": chance.choice(values, rows)}


def published_sets(opened, version=1):
    """The sets of texts in the store's dictionary of the column zip."""
    file = opened.site.store / "t" / f"v{version:05d}.duckdb"
    with reading(file) as store:
        rows = store.execute(
            "SELECT set_id, text FROM set_value LEFT JOIN value_text USING (column_id, value_id) WHERE column_id = 1"
        ).fetchall()
    sets: dict[int, set[str]] = {}
    for set_id, text in rows:
        sets.setdefault(set_id, set()).update([text] if text is not None else [])
    return {frozenset(members) for members in sets.values()}


def test_what_is_published_is_a_node(tmp_path):
    (tmp_path / "places.csv").write_text(ROWS)
    opened = new_site(tmp_path)
    policy = zips_by("places.csv").parsed(tmp_path)
    report = put(opened, policy, columns(["Nashville", "Memphis", "Boston", "Salem"], 60))
    south, north = {"Nashville", "Memphis"}, {"Boston", "Salem"}
    nodes = {frozenset(s) for s in ({"Nashville"}, {"Memphis"}, {"Boston"}, {"Salem"}, south, north, south | north)}
    assert published_sets(opened) <= nodes
    assert report.measured.k >= 5


@pytest.mark.parametrize("rule", ["digits", "icd9cm", "icd10cm", "dates", "ages"])
def test_the_truth_lies_in_the_ranges(tmp_path, rule):
    values = {
        "digits": [f"{z:05d}" for z in range(37_200, 37_260)],
        "icd9cm": ["0010", "25000", "25001", "250", "4019", "V1082", "E8490", "78650", "junk"],
        "icd10cm": ["E1165", "E119", "E10", "I10", "I2510", "J449", "Z3A", "junk"],
        "dates": [f"20{y}-{m:02d}-{d:02d}" for y in (19, 20) for m in (1, 5) for d in (1, 9, 17)],
        "ages": [str(age) for age in range(18, 70)],
    }[rule]
    opened = new_site(tmp_path)
    put(opened, zips_by(rule), columns(values))
    source = tmp_path / "source.parquet"
    for where in (
        f"zip = '{values[0]}'",
        f"zip IN ('{values[1]}', '{values[2]}')",
        f"zip LIKE '{values[-2][:2]}%'",
        "age < 40",
    ):
        (row,) = ask(opened, f"SELECT COUNT(*) AS n, AVG(age) AS a FROM t WHERE {where}")
        n, a = duckdb.sql(f"SELECT COUNT(*), AVG(age) FROM read_parquet('{source}') WHERE {where}").fetchall()[0]
        assert row["n"]["low"] <= n <= row["n"]["high"]
        assert a is None or row["a"]["low"] <= a <= row["a"]["high"]


def test_missing_values_are_beside_the_nodes(tmp_path):
    opened = new_site(tmp_path)
    given = columns(["37203", "37204", "38103"])
    given["zip"] = [None if i % 7 == 0 else value for i, value in enumerate(given["zip"].tolist())]
    put(opened, zips_by("digits"), given)
    (row,) = ask(opened, "SELECT COUNT(*) AS n FROM t WHERE zip IS NULL")
    assert row["n"]["low"] <= sum(value is None for value in given["zip"]) <= row["n"]["high"]


def test_the_verifier_stops_a_set_that_is_no_node(tmp_path, monkeypatch):
    def hull(self: Hierarchy, low, high):
        return low, high

    rows = "".join(f"{name};x;*\n" for name in "abcdefgh")
    (tmp_path / "flat.csv").write_text(rows)
    monkeypatch.setattr(Hierarchy, "ancestors", hull)  # publishes stretches of leaves as they are
    with pytest.raises(ConfigError, match="zip is published as nodes of its hierarchy"):
        put(new_site(tmp_path), zips_by("flat.csv").parsed(tmp_path), columns(list("abcdefgh"), 40))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("a;x;*\na;y;*\n", "several rows for one value: 1 row repeats one"),
        ("a;x;*\nb;*\n", "rows of different lengths: 1 of 2"),
        ("a;x;north\nb;y;south\n", "ends in 2 different roots"),
        ("", "no rows"),
        ("a\nb\n", "no rows"),
        ('a;"x;*\n', "is not a CSV file"),
    ],
)
def test_a_file_that_is_no_hierarchy(tmp_path, content, told):
    (tmp_path / "places.csv").write_text(content)
    with pytest.raises(ConfigError, match=told) as refused:
        zips_by("places.csv").parsed(tmp_path)
    assert refused.value.code == "QG801"
    assert "columns.zip.hierarchy" in refused.value.detail


@pytest.mark.parametrize("hierarchy", ["places.csv", "places", "../nowhere/x.csv"])
def test_a_hierarchy_that_is_not_there(tmp_path, hierarchy):
    with pytest.raises(ConfigError, match=r"columns\.zip\.hierarchy.*digits, icd9cm"):
        zips_by(hierarchy).parsed(tmp_path)


def test_values_without_a_leaf_are_counted_and_not_quoted(tmp_path):
    (tmp_path / "places.csv").write_text(ROWS)
    policy = zips_by("places.csv").parsed(tmp_path)
    with pytest.raises(ConfigError, match="60 values have no row in its hierarchy") as refused:
        put(new_site(tmp_path), policy, columns(["Atlantis"], 60))
    assert refused.value.code == "QG802"
    assert "Atlantis" not in refused.value.detail


def test_values_that_a_rule_cannot_read(tmp_path):
    with pytest.raises(ConfigError, match="the rule ages cannot read 2 distinct values") as refused:
        put(new_site(tmp_path), zips_by("ages"), columns(["30", "old", "very old"], 60))
    assert refused.value.code == "QG802"


def test_commas_and_semicolons_make_the_same_policy(tmp_path):
    (tmp_path / "a.csv").write_text(ROWS)
    (tmp_path / "b.csv").write_text("\ufeff" + ROWS.replace(";", ","), encoding="utf-8")
    policies = [zips_by(name).parsed(tmp_path) for name in ("a.csv", "b.csv")]
    assert policies[0].hash == policies[1].hash
    (tmp_path / "a.csv").write_text(ROWS.replace("South", "Elsewhere"))
    assert zips_by("a.csv").parsed(tmp_path).hash != policies[0].hash


def test_a_file_lists_the_values(tmp_path):
    (tmp_path / "places.csv").write_text(ROWS)
    with pytest.raises(ConfigError, match=r"columns\.zip\.values: cannot be combined with a hierarchy from a file"):
        zips_by("places.csv", values=["Nashville"]).parsed(tmp_path)
