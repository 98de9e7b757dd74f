"""Notes and sequences from the vault to the one who asked: no query reaches them, reviewers see figures alone."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from querygate.cli import main
from querygate.core.errors import QueryGateError
from querygate.custody.use_cases.publish_version import publish_to
from querygate.site.layout import init_site, open_site
from querygate.site.open_gate import OpenSite, open_gate
from querygate.web import create_app
from querygate.web.routes import API
from tests.api.small_site import PEOPLE, make_reviewed_site
from tests.extract_site import open_extracts
from tests.unit.custody.extract.texts_study import POLICY, people

STEPS = "ann submit, carl take, carl approve, dora approve, carl build, dora release"
TEXT_MRN = POLICY.but(columns={"mrn": {"type": "text"}})


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    return make_reviewed_site(tmp_path_factory.mktemp("texts"), TEXT_MRN, people())


class Caller:
    """The people of the site, over HTTP."""

    def __init__(self, opened: OpenSite) -> None:
        self._client = create_app(opened, extracts=open_extracts(opened)).test_client()
        self._keys = {name: opened.accounts.keys.new(name).secret for name in PEOPLE}

    def __call__(self, name: str, method: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {self._keys[name]}"}
        return self._client.open(f"{API}/{path}", method=method, headers=headers, json=body)


@pytest.fixture(scope="module")
def call(opened: OpenSite) -> Caller:
    return Caller(opened)


def holds_a_name(text: str) -> bool:
    names = {letters(record["last_name"]) for record in people().to_pylist()}
    numbers = {record["mrn"] for record in people().to_pylist()}
    return any(value in letters(text) for value in names | numbers)


def letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text).lower()


def test_from_the_request_to_the_files(call: Caller) -> None:
    wish = {"dataset": "trial", "purpose": "to read", "columns": ["age", "NOTE", "dna"], "where": "age < 75"}
    created = call("ann", "POST", "exports", {**wish, "method": "mondrian"})
    assert created.status_code == 200, created.json
    ident = created.json["id"]
    for name, action in (step.split() for step in STEPS.split(", ")):
        if (name, action) == ("dora", "approve"):
            preview = call(name, "GET", f"exports/{ident}?preview=true").json["preview"]
            assert preview["notes"][0]["left"] == 0
            assert not holds_a_name(json.dumps(preview))
        done = call(name, "POST", f"exports/{ident}/{action}", {})
        assert done.status_code == 200, done.json
    with call("ann", "GET", f"exports/{ident}/extract.zip") as fetched:
        content = fetched.data
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {Path(name).name: archive.read(name) for name in archive.namelist()}
    assert not any(holds_a_name(files[name].decode()) for name in ("extract.csv", "report.json", "report.html"))
    table = pq.read_table(io.BytesIO(files["extract.parquet"]))
    assert table.column_names == ["age_low", "age_high", "note", "dna"]
    assert any("diabetes" in (text or "").lower() for text in table["note"].to_pylist())
    assert min(Counter(table["dna"].to_pylist()).values()) >= 5


def test_the_gate_knows_their_names_and_nothing_else(call: Caller, opened: OpenSite) -> None:
    described = call("ann", "GET", "datasets/trial").json
    assert {column["name"] for column in described["columns"]} == {"age", "sbp"}
    assert any("note, dna" in sentence for sentence in described["policy"])
    for sql in (
        "SELECT COUNT(*) FROM trial WHERE note LIKE '%diabetes%'",
        "SELECT dna, COUNT(*) FROM trial GROUP BY dna",
        "SELECT COUNT(DISTINCT note) FROM trial",
    ):
        refused = call("ann", "POST", "query", {"dataset": "trial", "sql": sql})
        unknown = call("ann", "POST", "query", {"dataset": "trial", "sql": sql.replace("note", "ward")})
        assert (refused.status_code, refused.json["code"]) == (unknown.status_code, unknown.json["code"])
        assert refused.status_code == 422
    refused = call("ann", "POST", "exports", {"dataset": "trial", "purpose": "to see", "columns": ["age", "mrn"]})
    assert refused.json["code"] == "QG604"
    assert "note" in refused.json["remedy"]


def test_a_condition_on_a_text_is_refused(call: Caller) -> None:
    wish = {"dataset": "trial", "purpose": "to see", "columns": ["age", "note"], "where": "note = 'x'"}
    refused = call("ann", "POST", "exports", wish)
    assert (refused.status_code, refused.json["code"]) == (422, "QG203")


def test_at_the_custodians_desk(tmp_path: Path) -> None:
    (tmp_path / "trial.toml").write_text(POLICY)
    pyarrow.csv.write_csv(people(), tmp_path / "trial.csv")
    words = ["anonymise", "--policy", str(tmp_path / "trial.toml"), "--source", str(tmp_path / "trial.csv")]
    words += ["--columns", "age,note,dna", "--method", "mondrian", "--out"]

    def run(*more: str) -> Any:
        return CliRunner().invoke(main, [*words, *more], prog_name="querygate")

    done = run(str(tmp_path / "one"))
    assert done.exit_code == 0, done.output
    assert "identifiers were replaced" in done.output
    assert "sequences of 40 sites" in done.output
    assert not holds_a_name(done.output)
    again = run(str(tmp_path / "two"))
    assert again.exit_code == 0
    first, second = (pq.read_table(tmp_path / name / "extract.parquet")["note"].to_pylist() for name in ("one", "two"))
    tags = [set(re.findall(r":(\w{8})\]", " ".join(filter(None, texts)))) for texts in (first, second)]
    assert all(tags)
    assert not tags[0] & tags[1]  # two extracts are not linked by their tags
    refused = run(str(tmp_path / "three"), "--kind", "condensed", "--method", "improved")
    assert refused.exit_code == 1
    assert "QG604" in refused.output
    assert not (tmp_path / "three").exists()


def test_a_source_without_the_column_is_told(tmp_path: Path) -> None:
    site = open_gate(open_site(init_site(tmp_path / "site").folder))
    pq.write_table(people(20).drop(["note"]), tmp_path / "trial.parquet")
    with pytest.raises(QueryGateError) as error:
        publish_to(site, POLICY.parsed(), str(tmp_path / "trial.parquet"), user="carl")
    assert (error.value.code, "note" in error.value.detail) == ("QG801", True)


def test_sequences_of_numbers_are_no_sequences(tmp_path: Path) -> None:
    (tmp_path / "trial.toml").write_text(POLICY)
    table = people(20)
    table = table.set_column(table.schema.get_field_index("dna"), "dna", pa.array(range(20)))
    pq.write_table(table, tmp_path / "trial.parquet")
    words = ["anonymise", "--policy", str(tmp_path / "trial.toml"), "--source", str(tmp_path / "trial.parquet")]
    done = CliRunner().invoke(main, [*words, "--columns", "age,dna", "--out", str(tmp_path / "out")])
    assert done.exit_code == 1
    assert "QG605" in done.output
