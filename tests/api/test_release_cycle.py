"""An alternative to Safe Harbor end to end: searched for, published, asked, requested, decided on its report, taken."""

from __future__ import annotations

import csv
import io
import itertools
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from querygate.cli import main
from querygate.custody.policy import load_policy
from querygate.site.layout import open_site
from querygate.site.open_gate import OpenSite, open_gate
from querygate.web import create_app
from querygate.web.routes import API
from tests.extract_site import open_extracts
from tests.unit.custody.policy_search.county import write

WISH = {"dataset": "adult", "purpose": "Do incomes of the old differ?", "kind": "release", "formats": ["csv"]}


def run(folder: Path, *words: object) -> Any:
    given = ["--site", str(folder / "site"), *map(str, words), "--format", "json"]
    done = CliRunner().invoke(main, given, prog_name="querygate")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A county, its alternatives to Safe Harbor, and a site that serves one of them."""
    folder = write(tmp_path_factory.mktemp("county"), 1500)
    CliRunner().invoke(main, ["init", str(folder / "site")])
    people = ("--population", folder / "county.csv", "--count", "people")
    source = ("--source", folder / "records.csv")
    search = ("--policy", folder / "policy.toml", *source, *people, "--iterations", 30, "--out", folder / "found")
    run(folder, "policy", "search", *search)
    run(folder, "publish", "--policy", chosen(folder), *source, "--report", "none")
    for name, role in (("ann", "researcher"), ("carl", "custodian")):
        run(folder, "user", "add", name, "--role", role)
    return folder


def chosen(folder: Path) -> Path:
    """A kind that tells ages together."""
    return next(file for file in sorted((folder / "found").glob("policy_*.toml")) if "edges" in file.read_text())


@pytest.fixture
def call(folder: Path) -> Any:
    opened: OpenSite = open_gate(open_site(folder / "site"))
    client = create_app(opened, extracts=open_extracts(opened)).test_client()
    keys = {name: opened.accounts.keys.new(name).secret for name in ("ann", "carl")}

    def called(name: str, method: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {keys[name]}"}
        return client.open(f"{API}/{path}", method=method, headers=headers, json=body)

    return called


def test_the_report_is_with_the_request_from_the_preview_to_the_release(folder: Path, call: Any) -> None:
    asked = call("ann", "POST", "exports", WISH).json["id"]
    for name, action in (("ann", "submit"), ("carl", "take")):
        assert call(name, "POST", f"exports/{asked}/{action}", {}).status_code == 200
    report = call("carl", "GET", f"exports/{asked}/risk").json
    assert (report["after"], report["dataset"], report["version"]) == ("extract", "adult", 1)
    by_name = {line["measure"]: line for line in report["verdict"]}
    average = by_name["journalist_average"]
    assert average["after"] <= average["safe_harbor"] * (1 + 1e-9) < average["raw"]
    assert report["register"]["people"] == 937_166
    page = call("carl", "GET", f"exports/{asked}/risk/report.html")
    assert page.content_type == "text/html; charset=utf-8"
    assert "the records of the request, as they would be released" in page.text
    refused = call("ann", "GET", f"exports/{asked}/risk")
    assert (refused.status_code, refused.json["code"]) == (403, "QG602")
    for action in ("approve", "build"):
        assert call("carl", "POST", f"exports/{asked}/{action}", {}).status_code == 200
    built = call("carl", "GET", f"exports/{asked}").json["summary"]
    for one, other in zip(built["assessment"]["verdict"], report["verdict"], strict=True):
        assert one == {**other, "after": pytest.approx(other["after"])}  # in another order of records
    assert built["risk"]["release"]["risk"] == pytest.approx(average["after"])
    opened = open_gate(open_site(folder / "site"))
    gate, key = create_app(opened).test_client(), opened.accounts.keys.new("carl").secret
    for path, status in (
        ("risk", 200),
        ("risk/report.html", 409),
    ):  # a gate without a vault has figures, and draws nothing
        found = gate.get(f"{API}/exports/{asked}/{path}", headers={"Authorization": f"Bearer {key}"})
        assert found.status_code == status, found.text
    assert call("carl", "POST", f"exports/{asked}/release", {}).status_code == 200
    with call("ann", "GET", f"exports/{asked}/extract.zip") as fetched:
        archive = zipfile.ZipFile(io.BytesIO(fetched.data))
    names = {Path(name).name for name in archive.namelist()}
    assert {"extract.csv", "report.html", "manifest.json"} <= names
    body = archive.read(next(name for name in archive.namelist() if name.endswith("report.json"))).decode()
    assert '"assessment"' not in body
    text = archive.read(next(name for name in archive.namelist() if name.endswith("extract.csv"))).decode()
    assert len(list(csv.DictReader(io.StringIO(text)))) == 1500
    kinds = [event["kind"] for event in open_gate(open_site(folder / "site")).log.events()]
    assert kinds.count("export.risk") == 3


def test_at_the_command_line(folder: Path, call: Any, tmp_path: Path) -> None:
    asked = call("ann", "POST", "exports", WISH).json["id"]
    call("ann", "POST", f"exports/{asked}/submit", {})
    site = ["--site", str(folder / "site")]
    done = CliRunner().invoke(main, [*site, "export", "risk", asked, "--out", str(tmp_path / "risk")])
    assert done.exit_code == 0, done.output
    assert "Safe Harbor" in done.stdout
    assert {"report.json", "report.html"} <= {path.name for path in (tmp_path / "risk").iterdir()}
    shown = CliRunner().invoke(main, [*site, "export", "show", asked])
    assert "Compared with the raw records and Safe Harbor" in shown.stdout
    for words, code, told in (
        (("export", "risk", asked, "--out", tmp_path / "risk"), 2, "nothing is overwritten"),
        (("export", "risk", asked, "--as", "ann"), 1, "QG602"),
        (("export", "risk", "x_01KJKB3Q00Z5V7N0M1C2X3Y4W5"), 1, "QG603"),
    ):
        done = CliRunner().invoke(main, [*site, *map(str, words)])
        assert (done.exit_code, told in done.output) == (code, True), done.output
    condensed = call("ann", "POST", "exports", {**WISH, "kind": "condensed", "columns": ["age", "sex"], "k": 5}).json
    done = CliRunner().invoke(main, [*site, "export", "risk", condensed["id"]])
    assert (done.exit_code, "QG307" in done.output) == (1, True), done.output


def test_answers_tell_no_value_of_a_cell_apart(folder: Path, call: Any) -> None:
    """The last, so that reviews of the requests above have no history to audit."""
    age = load_policy(chosen(folder)).column("age")
    low, high = next((int(a), int(b) - 1) for a, b in itertools.pairwise(age.edges) if b - a > 1 and a >= 17)
    with (folder / "records.csv").open() as file:
        ages = [int(row["age"]) for row in csv.DictReader(file)]

    def count(where: str) -> dict[str, int]:
        sql = f"SELECT COUNT(*) AS n FROM adult WHERE {where}"
        found: dict[str, int] = call("ann", "POST", "query", {"dataset": "adult", "sql": sql}).json["rows"][0]["n"]
        return found

    for one in range(low, high + 1):
        assert count(f"age = {one}")["low"] == 0
        assert count(f"age = {one}")["high"] == count(f"age = {low}")["high"] >= ages.count(one)
    both = count(f"age BETWEEN {low} AND {high}")
    assert both["low"] <= sum(low <= age <= high for age in ages) <= both["high"]
