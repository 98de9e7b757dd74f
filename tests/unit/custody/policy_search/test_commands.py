"""policy search and policy safe-harbor at the command line: what is found, what is written, and what is refused."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from querygate.cli import main
from querygate.custody.policy import load_policy, parse_policy
from querygate.methods.policy_search import LatticeCubes, safe_harbor, within
from tests.policies import IDENTIFIER, SBP, SEX, make_policy, quasi, sensitive
from tests.unit.custody.policy_search.county import POLICY, write
from tests.unit.methods.policy_search.shelby import LATTICE, study


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words], prog_name="querygate")


def searched(folder: Path, *more: object) -> Result:
    given = ("--policy", folder / "policy.toml", "--source", folder / "records.csv")
    return run("policy", "search", *given, *more)


@pytest.fixture(scope="module")
def county(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("county"))


@pytest.fixture(scope="module")
def found(county: Path) -> dict[str, Any]:
    """A search with everything written."""
    people = ("--population", county / "county.csv", "--count", "people")
    done = searched(county, *people, "--iterations", 40, "--year", 2026, "--out", county / "out", "--format", "json")
    assert done.exit_code == 0, done.output
    body: dict[str, Any] = json.loads(done.stdout)
    return body


def test_every_kind_is_within_safe_harbor_and_is_told_in_rules(found: dict[str, Any]) -> None:
    safe, intact = found["safe_harbor"], found["intact"]
    assert safe["rules"] == ["ages 90+ combined"]
    assert found["threshold"] == safe["risk"] < intact["risk"]
    assert 1 < len(found["kinds"]) <= 6
    for kind in found["kinds"]:
        assert within(kind["risk"], found["threshold"])
        assert kind["rules"]
        assert kind["of_safe_harbor"] == pytest.approx(kind["risk"] / safe["risk"])
        assert kind["greatest"] <= intact["greatest"]
    assert found["population"]["people"] == 937_166
    assert found["population"]["outside"] == 0


def test_safe_harbor_is_that_of_the_county_study(county: Path, found: dict[str, Any]) -> None:
    """The same records counted over the cube of the county; ages of 90 and over are one group in both."""
    rows = [line.split(",") for line in (county / "records.csv").read_text().splitlines()[1:]]
    from querygate.methods.policy_search import cube

    columns = {"sex": [r[0] for r in rows], "race": [r[1] for r in rows], "age": [int(r[2]) for r in rows]}
    other = LatticeCubes(LATTICE, cube(LATTICE, columns), study().population)
    assert found["safe_harbor"]["risk"] == pytest.approx(other.risk(safe_harbor(LATTICE)), rel=1e-12)


def test_each_kind_has_a_policy_file_that_applies_it(county: Path, found: dict[str, Any]) -> None:
    out, before = county / "out", load_policy(county / "policy.toml")
    files = {path.name for path in out.iterdir()}
    assert files == {"report.html", "report.json", *(kind["file"] for kind in found["kinds"])}
    for kind in found["kinds"]:
        policy = load_policy(out / kind["file"])
        assert policy.hash != before.hash
        assert policy.release is not None
        assert (policy.release.threshold, policy.release.count) == ("safe-harbor", "people")
        assert (out / policy.release.population).resolve() == (county / "county.csv").resolve()
        for rule in kind["rules"]:
            if rule.startswith("ages "):
                low, high = rule.removeprefix("ages ").split(" ")[0].rstrip(",").split("-")
                assert not set(range(int(low) + 1, int(high) + 1)) & set(policy.column("age").edges)
            if rule.startswith("race "):
                assert any(len(group) > 1 for group in policy.column("race").groups)
        if not any(rule.startswith("ages") for rule in kind["rules"]):
            assert policy.column("age").grid == 1
            assert policy.column("age").cuts == (18, 65)


def test_the_report_can_be_signed_and_names_what_it_rests_on(county: Path, found: dict[str, Any]) -> None:
    page = (county / "out" / "report.html").read_text(encoding="utf-8")
    for words in ("Determination", "signature", "Safe Harbor", "937,166", "county.csv", found["policy_hash"]):
        assert words in page
    assert found["population"]["sha256"] in page
    for kind in found["kinds"]:
        assert kind["rules"][0] in page
    assert json.loads((county / "out" / "report.json").read_text())["kinds"][0]["risk"] == found["kinds"][0]["risk"]


def test_the_same_seed_finds_the_same_and_another_finds_others(county: Path) -> None:
    people = ("--population", county / "county.csv", "--count", "people", "--iterations", 8, "--format", "json")
    one, again, other = (json.loads(searched(county, *people, "--seed", seed).stdout) for seed in (3, 3, 4))
    assert one == again
    assert [kind["rules"] for kind in one["kinds"]] != [kind["rules"] for kind in other["kinds"]]


def test_the_population_may_stand_in_the_policy_and_the_threshold_may_be_a_number(tmp_path: Path) -> None:
    folder = write(tmp_path / "a", 300, POLICY.but(release={"population": "county.csv", "count": "people"}))
    done = searched(folder, "--threshold", "0.0002", "--iterations", 5, "--out", folder / "out")
    assert done.exit_code == 0, done.output
    assert "Threshold: 0.0002" in done.stdout
    policy = load_policy(folder / "out" / "policy_1.toml")
    assert policy.release is not None
    assert policy.release.threshold == 0.0002


def test_cells_of_the_policy_are_the_finest_that_is_searched(tmp_path: Path) -> None:
    age = {"cuts": None, "edges": [18, 40, 65, 90]}
    race = {"values": None, "groups": [["White", "Black"], ["Asian", "Native"]]}
    folder = write(tmp_path / "a", 500, POLICY.but(columns={"age": age, "race": race}))
    people = ("--population", folder / "county.csv", "--count", "people", "--threshold", "0.00001")
    done = searched(folder, *people, "--iterations", 5, "--format", "json", "--out", folder / "out")
    body = json.loads(done.stdout)
    assert {line["name"]: line["told"] for line in body["columns"]} == {
        "sex": "2 values",
        "race": "2 cells of the policy",
        "age": "5 cells of the policy",
    }
    for file in (folder / "out").glob("*.toml"):
        policy = load_policy(file)
        assert set(policy.column("age").edges) <= {0, 18, 40, 65, 90, 100}
        assert all(
            {"Asian", "Native"} <= set(g) or not {"Asian", "Native"} & set(g) for g in policy.column("race").groups
        )


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        ((), 2, "measured over a population, and none is named"),
        (("--population", "{0}/absent.csv"), 2, "QG802"),
        (("--population", "{0}/records.csv", "--count", "people"), 2, "has no column people"),
        (("--population", "{0}/county.csv", "--columns", "salary-class"), 2, "not a quasi-identifier"),
        (("--population", "{0}/county.csv", "--threshold", "2"), 2, "a risk above 0"),
        (("--population", "{0}/county.csv", "--count", "people", "--threshold", "1e-9"), 1, "QG803"),
        (("--population", "{0}/county.csv", "--count", "sex"), 2, "sex is a quasi-identifier"),
        (("--population", "{0}/county.csv", "--out", "{0}"), 2, "nothing is overwritten"),
        (("--population", "{0}/empty.csv"), 2, "has no rows"),
        (("--population", "{0}/strange.csv"), 2, "Nobody in the population matches"),
    ],
)
def test_bad_input_ends_with_a_code_and_writes_nothing(
    county: Path, more: tuple[str, ...], code: int, words: str
) -> None:
    (county / "empty.csv").write_text("sex,race,age\n")
    (county / "strange.csv").write_text("sex,race,age\nw,weiss,40\n")
    before = {path.name for path in county.iterdir()}
    done = searched(county, *(word.format(county) for word in more))
    assert done.exit_code == code, done.output
    assert words in done.output
    assert "weiss" not in done.output
    assert {path.name for path in county.iterdir()} == before


YEARS = ("2018-03-01", "2021-12-31")
PATIENTS = make_policy(
    "patients",
    {
        "mrn": IDENTIFIER,
        "patient_name": sensitive("category"),
        "age": quasi("integer", (0, 110)),
        "sex": SEX,
        "zip": quasi("category", values=["37212", "37205", "37011", "03601", "05901"], hierarchy="digits"),
        "admitted_date": quasi("date", YEARS, cuts=["2019-01-01"]),
        "birth_year": quasi("integer", (1920, 2020)),
        "death_date": sensitive("date", YEARS),
        "city": quasi("category"),
        "sbp": SBP,
    },
)


def test_safe_harbor_as_a_policy(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(PATIENTS)
    out = tmp_path / "new" / "sh.toml"
    out.parent.mkdir()
    done = run("policy", "safe-harbor", "--policy", tmp_path / "p.toml", "--year", 2026, "--out", out)
    assert done.exit_code == 0, done.output
    policy = load_policy(out)
    roles = {column.name: column.role for column in policy.columns}
    assert [name for name, role in roles.items() if role == "identifier"] == [
        *("mrn", "patient_name", "death_date", "city"),
    ]
    assert policy.column("age").edges[-2:] == (90, 110)
    assert policy.column("age").edges[:3] == (0, 1, 2)
    assert policy.column("birth_year").edges[:3] == (1920, 1937, 1938)
    assert len(policy.column("admitted_date").edges) == 5
    assert policy.column("zip").groups == (("03601", "05901"), ("37011",), ("37205", "37212"))
    assert policy.column("sex") == PATIENTS.parsed().column("sex")
    assert "check that each column" in out.read_text().splitlines()[0]
    again = run("policy", "safe-harbor", "--policy", tmp_path / "p.toml", "--out", out)
    assert again.exit_code == 2
    shown = run("policy", "safe-harbor", "--policy", out, "--year", 2026)
    tables = tomllib.loads(shown.stdout)
    assert tables["columns"]["zip"] == tomllib.loads(out.read_text())["columns"]["zip"]  # applied twice is applied once


def test_safe_harbor_says_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(PATIENTS.but(columns={"zip": {"values": None}}))
    done = run("policy", "safe-harbor", "--policy", tmp_path / "p.toml")
    assert done.exit_code == 2
    assert "neither the policy nor the population says which values" in done.output
    (tmp_path / "people.csv").write_text("zip\n37212\n37011\n")
    done = run("policy", "safe-harbor", "--policy", tmp_path / "p.toml", "--population", tmp_path / "people.csv",
               "--columns", "zip", "--format", "json")  # fmt: skip
    assert done.exit_code == 0, done.output
    policy = parse_policy(json.loads(done.stdout)["policy"])
    assert policy.column("zip").groups == (("37011",), ("37212",))
    assert policy.release is not None
    assert policy.release.columns == ("zip",)


def test_the_walk_finds_policies_too_and_looks_at_more(county: Path) -> None:
    people = ("--population", county / "county.csv", "--count", "people", "--iterations", 10, "--format", "json")
    walk, halves = (
        json.loads(searched(county, *people, "--method", name).stdout) for name in ("directed", "bisecting")
    )
    assert (walk["search"]["method"], halves["search"]["method"]) == ("directed", "bisecting")
    assert all(within(kind["risk"], walk["threshold"]) for kind in walk["kinds"])
    assert walk["search"]["policies"] > halves["search"]["policies"]
    assert searched(county, *people, "--method", "guessing").exit_code == 2
