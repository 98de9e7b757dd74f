"""A request from draft to expiry with the builder that custodians have, by command line and over HTTP."""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from querygate.cli import main
from querygate.control import Log
from querygate.custody.use_cases.kept_policy import write_kept_policy
from querygate.custody.use_cases.publish_version import publish_to
from querygate.site.open_gate import OpenSite
from querygate.web import create_app
from querygate.web.routes import API
from tests.api.small_site import PEOPLE, make_reviewed_site
from tests.extract_site import open_extracts
from tests.own_keys import in_the_name_of
from tests.unit.custody.extract.study import COX, POLICY, records
from tests.unit.custody.extract.test_codes import POLICY as CODES
from tests.unit.custody.extract.test_codes import patients

WISHES: dict[str, dict[str, Any]] = {
    "k-anonymous": {"columns": ["age", "sex", "sbp"], "where": "age >= 30", "models": ["linear: sbp ~ age"]},
    "condensed": {"kind": "condensed", "k": 20, "columns": ["age", "sex", "time", "status"], "models": [COX]},
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> OpenSite:
    """A site that wants two reviewers."""
    return make_reviewed_site(tmp_path_factory.mktemp("cycle"), POLICY, records())


@pytest.mark.parametrize("kind", WISHES)
def test_over_http(kind: str, opened: OpenSite) -> None:
    client = create_app(opened, extracts=open_extracts(opened)).test_client()
    keys = {name: opened.accounts.keys.new(name).secret for name in PEOPLE}

    def call(name: str, method: str, path: str = "", body: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {keys[name]}"}
        return client.open(f"{API}/exports{path}", method=method, headers=headers, json=body)

    created = call("ann", "POST", body={"dataset": "trial", "purpose": "to see", **WISHES[kind]})
    assert created.status_code == 200, created.json
    ident = created.json["id"]
    for name, action, state in (
        ("ann", "submit", "submitted"),
        ("carl", "take", "in_review"),
        ("carl", "approve", "in_review"),
        ("dora", "approve", "approved"),
        ("carl", "build", "built"),
        ("dora", "release", "released"),
    ):
        done = call(name, "POST", f"/{ident}/{action}", {})
        assert (done.status_code, done.json.get("state")) == (200, state), done.json
    shown = call("carl", "GET", f"/{ident}").json["summary"]
    assert shown["kind"] == kind
    assert shown["k"] >= (20 if kind == "condensed" else 5)
    assert shown["learnt"]["people"] == 1
    with call("ann", "GET", f"/{ident}/extract.zip") as fetched:
        content = fetched.data
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = {Path(name).name for name in archive.namelist()}
        assert {"manifest.json", "extract.csv", "extract.parquet", "dictionary.csv", "report.html"} <= names
        report = json.loads(archive.read(next(name for name in archive.namelist() if name.endswith("report.json"))))
        table = pq.read_table(io.BytesIO(archive.read(next(n for n in archive.namelist() if n.endswith(".parquet")))))
    assert "learnt" not in report
    assert table.num_rows == report["records"]
    assert b"outside the 95 % interval" in call("ann", "GET", f"/{ident}/report.html").data
    assert call("ann", "POST", f"/{ident}/build", {}).json["code"] in ("QG601", "QG602")


def test_lists_of_codes_over_http(opened: OpenSite, tmp_path: Path) -> None:
    pq.write_table(patients(120), tmp_path / "codes.parquet")
    publish_to(opened, CODES.but(dataset="codes").parsed(), str(tmp_path / "codes.parquet"), user="carl")
    client = create_app(opened, extracts=open_extracts(opened)).test_client()
    headers = {name: {"Authorization": f"Bearer {opened.accounts.keys.new(name).secret}"} for name in PEOPLE}
    body = {"dataset": "codes", "purpose": "to see", "where": "age >= 25", "formats": ["parquet"]}
    ident = client.post(f"{API}/exports", headers=headers["ann"], json=body).json["id"]
    steps = "ann submit, carl take, carl approve, dora approve, carl build, dora release"
    for name, action in (step.split() for step in steps.split(", ")):
        done = client.post(f"{API}/exports/{ident}/{action}", headers=headers[name], json={})
        assert done.status_code == 200, done.json
    with client.get(f"{API}/exports/{ident}/extract.zip", headers=headers["ann"]) as fetched:
        content = fetched.data
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        table = pq.read_table(io.BytesIO(archive.read(next(n for n in archive.namelist() if n.endswith(".parquet")))))
    held = [frozenset(text.split("; ")) if text else frozenset() for text in table["dx"].to_pylist()]
    counts = Counter(item for items in held for item in items)
    assert counts
    assert min(counts.values()) >= 5


def test_at_the_command_line(opened: OpenSite, tmp_path: Path) -> None:
    def run(*words: str) -> Any:
        done = CliRunner().invoke(main, ["--site", str(opened.site.folder), "export", *words], prog_name="querygate")
        assert done.exit_code == 0, done.output
        return done

    wish = (
        "--dataset",
        "trial",
        "--purpose",
        "to see",
        "--columns",
        "age,zip,sbp",
        "--method",
        "full-domain",
        "--k",
        "10",
    )
    ident = json.loads(run("request", "--as", "ann", *wish, "--format", "json").stdout)["id"]
    for action, who in (("submit", "ann"), ("take", "carl")):
        run(action, ident, *in_the_name_of(who, action, opened.site.folder))
    preview = json.loads(run("show", ident, "--as", "carl", "--format", "json").stdout)["preview"]
    assert preview["method"] == "full-domain"
    assert preview["risk"]["attackers"]["k"] >= 10
    for action, who in (("approve", "carl"), ("approve", "dora"), ("build", "carl"), ("release", "dora")):
        run(action, ident, *in_the_name_of(who, action, opened.site.folder))
    out = tmp_path / "mine"
    run("fetch", ident, "--as", "ann", "--out", str(out))
    run("fetch", "--verify", str(out))
    k = duckdb.sql(
        f"SELECT min(n) FROM (SELECT count(*) AS n FROM '{out}/extract.parquet' GROUP BY age_low, age_high, zip)"
    ).fetchall()[0][0]
    assert k >= 10
    changed = out / "extract.csv"
    changed.write_bytes(changed.read_bytes().replace(b"1", b"2", 1))
    tampered = CliRunner().invoke(main, ["--site", str(opened.site.folder), "export", "fetch", "--verify", str(out)])
    assert tampered.exit_code == 1
    assert "QG607" in tampered.output
    assert Log(opened.log.database, opened.log.clock).verify().entries > 0


def test_a_version_that_kept_no_policy_says_what_to_do(opened: OpenSite) -> None:
    vault = opened.site.vault / "trial" / "v00001.duckdb"
    with duckdb.connect(str(vault)) as database:
        database.execute("UPDATE policy SET body = ''")
    try:
        client = create_app(opened, extracts=open_extracts(opened)).test_client()
        keys = {name: opened.accounts.keys.new(name).secret for name in PEOPLE}
        headers = {name: {"Authorization": f"Bearer {key}"} for name, key in keys.items()}
        body = {"dataset": "trial", "purpose": "to see", "columns": ["age", "sbp"]}
        ident = client.post(f"{API}/exports", headers=headers["ann"], json=body).json["id"]
        for name, action in (("ann", "submit"), ("carl", "take"), ("carl", "approve"), ("dora", "approve")):
            assert client.post(f"{API}/exports/{ident}/{action}", headers=headers[name], json={}).status_code == 200
        done = client.post(f"{API}/exports/{ident}/build", headers=headers["carl"], json={})
        assert (done.status_code, done.json["code"]) == (422, "QG605")
        assert "again" in done.json["remedy"]
        assert client.get(f"{API}/exports/{ident}", headers=headers["carl"]).json["state"] == "approved"
    finally:
        with duckdb.connect(str(vault)) as database:
            database.execute("UPDATE policy SET body = ?", [write_kept_policy(POLICY.parsed(), Path())])
