"""Public cells and the table [release]: what they mean, what is refused, and policies written anew."""

from __future__ import annotations

import datetime
import tomllib
from pathlib import Path

import pytest

from querygate.core.errors import ConfigError
from querygate.custody.policy import grid_edges, parse_policy
from querygate.custody.policy.policy_json import read_policy, write_policy
from querygate.custody.policy.policy_writer import moved, write_toml
from tests.each import each
from tests.policies import ROUGH_AGE, make_policy, quasi, sensitive

POLICY = make_policy(
    "d",
    {
        "age": ROUGH_AGE,
        "born": quasi("date", ("1900-01-01", "2020-12-31")),
        "race": quasi("category"),
        "smoker": quasi("boolean"),
        "sbp": sensitive("number", (40, 300)),
    },
)
GROUPS = 'groups = [["White"], ["Black", "Other"]]'
RELEASE = '[release]\npopulation = "county.csv"\ncount = "people"\ncolumns = ["age", "race"]\nthreshold = 0.01'


def made(more: str = "", **lines: str) -> str:
    """The policy with these lines in the tables of columns, and more at its end."""
    text: str = POLICY
    for name, keys in lines.items():
        text = text.replace(f"[columns.{name}]\n", f"[columns.{name}]\n{keys}\n")
    return text + more


def test_edges_are_the_cells_and_the_ends_are_the_domains():
    policy = parse_policy(made(age="edges = [17, 52, 54, 90]", born='edges = ["1950-01-01"]', race=GROUPS))
    assert grid_edges(policy.column("age")) == [0, 17, 52, 54, 90, 120]
    assert len(policy.column("born").edges) == 3
    assert policy.column("age").grid is None
    assert policy.column("race").values == ("Black", "Other", "White")
    assert policy.column("race").groups == (("Black", "Other"), ("White",))
    assert grid_edges(parse_policy(made(age="edges = []")).column("age")) == [0, 120]
    assert grid_edges(parse_policy(made(age="edges = [0, 120]")).column("age")) == [0, 120]


def test_order_and_spelling_do_not_change_the_hash_and_cells_do():
    plain = parse_policy(made())
    assert '"edges"' not in plain.canonical().replace('"edges":"grid"', "")
    assert '"groups"' not in plain.canonical()
    assert '"release"' not in plain.canonical()
    one, other = (
        parse_policy(made(race=text, smoker=smoker, age=age, more=RELEASE)).hash
        for text, smoker, age in (
            (GROUPS, 'groups = [["false", "true"]]', "edges = [50]"),
            (
                'groups = [["Other", "Black"], ["White"]]\nvalues = ["White", "Black", "Other"]',
                'groups = [["true", "false"]]',
                "edges = [0, 50, 120]",
            ),
        )
    )
    assert one == other
    hashes = {
        parse_policy(made(**given)).hash
        for given in ({}, {"age": "edges = []"}, {"age": "edges = [50]"}, {"race": GROUPS}, {"more": RELEASE})
    }
    assert len(hashes) == 5


def test_the_place_of_the_population_is_no_part_of_the_hash_and_the_threshold_is():
    hashes = [
        parse_policy(made(more=RELEASE.replace(old, new))).hash
        for old, new in (
            ("", ""),
            ("county.csv", "other.csv"),
            ("0.01", "0.02"),
            ("0.01", '"safe-harbor"'),
            ("0.01", "0.01\ninstance = 0.05"),
            ("0.01", "0.01\ninstance = 0.06"),
        )
    ]
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 5
    assert '"instance"' not in parse_policy(made(more=RELEASE)).canonical()


def test_what_is_kept_is_read_back():
    policy = parse_policy(made(age="edges = [50]", born='edges = ["1950-06-01"]', race=GROUPS, more=RELEASE))
    assert read_policy(write_policy(policy)) == policy
    assert policy.release is not None
    assert (policy.release.threshold, policy.release.columns) == (0.01, ("age", "race"))
    unset = parse_policy(made(more='[release]\npopulation = "county.csv"')).release
    assert unset is not None
    assert (unset.threshold, unset.instance) == ("safe-harbor", None)
    bounded = parse_policy(made(more=RELEASE + "\ninstance = 0.05"))
    assert bounded.release is not None
    assert bounded.release.instance == 0.05
    assert read_policy(write_policy(bounded)) == bounded


@each(
    "given, path, words",
    [
        ({"age": "edges = [50, 40]"}, "columns.age.edges", "not an increasing list"),
        ({"age": "edges = 50"}, "columns.age.edges", "not an increasing list"),
        ({"age": 'edges = ["x"]'}, "columns.age.edges", "not an increasing list"),
        ({"age": "edges = [50, 130]"}, "columns.age.edges", "is outside the domain"),
        ({"age": "edges = [50]\ngrid = 2"}, "columns.age.grid", "cannot be combined with edges"),
        ({"age": "edges = [50]\ncuts = [10]"}, "columns.age.cuts", "cannot be combined with edges"),
        ({"age": 'groups = [["a"]]'}, "columns.age.groups", "does not apply"),
        ({"sbp": "edges = [50]"}, "columns.sbp.edges", "does not apply"),
        ({"race": "edges = [50]"}, "columns.race.edges", "does not apply"),
        ({"race": "groups = []"}, "columns.race.groups", "not a list of non-empty lists"),
        ({"race": "groups = [[]]"}, "columns.race.groups", "not a list of non-empty lists"),
        ({"race": 'groups = ["White"]'}, "columns.race.groups", "not a list of non-empty lists"),
        ({"race": "groups = [[1]]"}, "columns.race.groups", "not a list of non-empty lists"),
        ({"race": 'groups = [["a"], ["a"]]'}, "columns.race.groups", "1 value more than once"),
        ({"race": 'groups = [["a"]]\nvalues = ["a", "b"]'}, "columns.race.groups", "leaves out 1 of its values"),
        ({"race": 'groups = [["a", "c"]]\nvalues = ["a"]'}, "columns.race.groups", "1 value that is not public"),
        (
            {"race": 'groups = [["a"]]\nhierarchy = "digits"'},
            "columns.race.hierarchy",
            "cannot be combined with groups",
        ),
        ({"smoker": 'groups = [["true"]]'}, "columns.smoker.groups", "leaves out 1 of its values"),
        ({"age": "edges = [50]", "more": '[anonymise]\nedges = "tight"'}, "anonymise.edges", "cannot be combined with"),
        ({"more": "[release]\nthreshold = 0.1"}, "release.population", "is missing"),
        ({"more": RELEASE.replace("0.01", "0")}, "release.threshold", "not an accepted threshold"),
        ({"more": RELEASE.replace("0.01", "1.5")}, "release.threshold", "not an accepted threshold"),
        ({"more": RELEASE.replace("0.01", '"low"')}, "release.threshold", "not an accepted threshold"),
        ({"more": RELEASE.replace('"race"', '"sbp"')}, "release.columns", "not a quasi-identifier"),
        ({"more": RELEASE + "\nk = 5"}, "release.k", "unknown key"),
        ({"more": RELEASE + "\ninstance = 0"}, "release.instance", "not an accepted number"),
        ({"more": RELEASE + "\ninstance = 1.1"}, "release.instance", "not an accepted number"),
        ({"more": RELEASE + '\ninstance = "safe-harbor"'}, "release.instance", "not an accepted number"),
    ],
)
def test_a_mistake_is_named_with_its_key(given: dict[str, str], path: str, words: str):
    with pytest.raises(ConfigError) as caught:
        parse_policy(made(**given), "p.toml")
    assert caught.value.code == "QG801"
    lines = caught.value.detail.splitlines()
    assert any(line.startswith(f"p.toml: {path}: ") and words in line for line in lines), lines


def test_tables_are_written_as_they_are_read():
    raw = {
        "dataset": "d",
        "k": 5,
        "unit": 'a "person"',
        "columns": {
            "date of birth": {"role": "identifier"},
            "age": {"domain": [0, 120], "edges": list(range(1, 120)), "weight": 2.0, "note": True},
            "born": {"domain": [datetime.date(1900, 1, 1), datetime.date(2020, 1, 1)]},
            "dx": {"diversity": [{"kind": "distinct", "l": 2}, {"kind": "entropy", "l": 1.5}], "title": ""},
            "race": {"groups": [["White"], ["Black", "Other \\ \u007f"]], "protect": {"kind": "k^m", "m": 2}},
        },
        "anonymise": {"max_width": {"mean(sbp)": 5}},
        "k_map": {},
    }
    text = write_toml(raw)
    assert tomllib.loads(text) == raw
    assert max(map(len, text.splitlines())) <= 120


def test_files_beside_a_policy_are_found_from_another_folder(tmp_path: Path):
    for name in ("zip.csv", "hospital.duckdb"):
        (tmp_path / name).touch()
    raw = {
        "columns": {"zip": {"hierarchy": "zip.csv", "role": "zip.csv!"}, "age": {"hierarchy": "ages"}},
        "join": {"a": {"source": "duckdb:hospital.duckdb#visits"}, "b": {"source": "postgresql://a@b/c#d.csv"}},
        "k_map": {"population": "absent.csv"},
        "release": {"population": str(tmp_path / "zip.csv")},
        "lists": ["zip.csv"],
    }
    to = tmp_path / "out" / "alternatives"
    found = moved(raw, tmp_path, to)
    assert found["columns"]["zip"] == {"hierarchy": "../../zip.csv", "role": "zip.csv!"}
    assert found["join"]["a"]["source"] == "duckdb:../../hospital.duckdb#visits"
    assert found["lists"] == ["../../zip.csv"]
    assert {key: found[key] for key in ("k_map", "release")} == {key: raw[key] for key in ("k_map", "release")}
    assert found["join"]["b"] == raw["join"]["b"]
