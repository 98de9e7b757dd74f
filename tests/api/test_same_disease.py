"""A same-disease file by both doors: on approval over HTTP, and at a desk; and read back by a risk report."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from querygate.cli import main
from querygate.custody.policy import load_policy
from querygate.custody.use_cases.publish_version import publish_to
from querygate.site.layout import init_site, open_site
from querygate.site.open_gate import OpenSite, open_gate
from querygate.web import create_app
from querygate.web.routes import API
from tests.extract_site import open_extracts
from tests.places import DATA
from tests.policies import ILLNESS, SEX, make_policy, quasi

PEOPLE = DATA / "people" / "people.parquet"
RACES = ["AIAN", "Asian", "Black", "Latino", "Multiracial or Other", "NHOPI", "White"]
POLICY = make_policy(
    "registry",
    {
        "date_of_birth": quasi("date", (date(1900, 1, 1), date(2020, 12, 31))),
        "sex": SEX,
        "race_ethnicity": quasi("category", values=RACES),
        "stage": ILLNESS,
    },
    release={"population": "county.parquet", "instance": 0.25},
)
WISH = {"dataset": "registry", "purpose": "to see", "kind": "same-disease", "formats": ["csv", "parquet"]}
STEPS = "ann submit, carl take, carl approve, carl build, carl release"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """180 of the people that one census lists, and that census."""
    folder, chance = tmp_path_factory.mktemp("registry"), np.random.default_rng(1)
    everybody = pq.read_table(PEOPLE)
    county = everybody.filter(pc.equal(everybody["census"], 2020)).select(["date_of_birth", "sex", "race_ethnicity"])
    file = county.take(pa.array(chance.choice(county.num_rows, 180, replace=False)))
    pq.write_table(county, folder / "county.parquet")
    pq.write_table(file.append_column("stage", pa.array(chance.choice(["I", "II"], 180))), folder / "registry.parquet")
    (folder / "registry.toml").write_text(POLICY)
    return folder


@pytest.fixture(scope="module")
def opened(folder: Path) -> OpenSite:
    opened = open_gate(open_site(init_site(folder / "site").folder))
    source, policy = str(folder / "registry.parquet"), load_policy(folder / "registry.toml")
    publish_to(opened, policy, source, user="carl", base_dir=folder)
    opened.accounts.add_user("ann", "researcher")
    opened.accounts.add_user("carl", "custodian")
    return opened


def run(*words: str) -> Any:
    done = CliRunner().invoke(main, [*words, "--format", "json"], prog_name="querygate")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_from_a_wish_to_a_risk_report(folder: Path, opened: OpenSite, tmp_path: Path) -> None:
    client = create_app(opened, extracts=open_extracts(opened)).test_client()
    headers = {who: {"Authorization": f"Bearer {opened.accounts.keys.new(who).secret}"} for who in ("ann", "carl")}
    asked = client.post(f"{API}/exports", headers=headers["ann"], json=WISH).json["id"]
    for who, action in (step.split() for step in STEPS.split(", ")):
        done = client.post(f"{API}/exports/{asked}/{action}", headers=headers[who], json={})
        assert done.status_code == 200, done.json
        if action == "take":
            site = str(opened.site.folder)
            preview = run("--site", site, "export", "show", asked, "--as", "carl")["preview"]
    with client.get(f"{API}/exports/{asked}/extract.zip", headers=headers["ann"]) as fetched:
        content = fetched.data
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(tmp_path)
    extract = next(tmp_path.rglob("report.json")).parent
    report = json.loads((extract / "report.json").read_text())
    found = preview["risk"]["same_disease"]
    ours, theirs = found["partition"], found["safe_harbor"]
    told = report["risk"]["same_disease"]
    assert told == {**found, "safe_harbor": told["safe_harbor"]}  # of what does not leave, averages alone
    averages = {key: value for key, value in told["safe_harbor"].items() if value is not None}
    assert set(averages) == {"average_instance", "average_match"}
    assert averages == pytest.approx({key: theirs[key] for key in averages}, rel=0.005)
    assert any("No way of publishing has less than" in words for words in preview["risk"]["words"])
    assert ours["classes"] >= theirs["classes"]
    assert found["floor"] <= ours["average_instance"] < theirs["average_instance"] / 2
    assert ours["greatest_instance"] <= found["bound"] == 0.25
    assert pq.read_table(extract / "extract.parquet").num_rows == 180
    assert "Being in the file, compared with Safe Harbor" in (extract / "report.html").read_text(encoding="utf-8")
    desk = ("--policy", str(folder / "registry.toml"), "--source", str(folder / "registry.parquet"))
    by_hand = run("anonymise", *desk, "--kind", "same-disease", "--out", str(tmp_path / "desk"))
    assert by_hand["risk"]["same_disease"] == found
    read = run("risk", *desk, "--released", str(extract), "--same-disease")["sides"]
    for mine, side in ((ours, "after"), (theirs, "safe_harbor")):
        assert {key: read[side]["instance"][key] for key in mine} == pytest.approx(mine, rel=1e-12)


def test_a_condition_on_what_the_register_knows_is_refused_when_it_is_built(opened: OpenSite) -> None:
    client = create_app(opened, extracts=open_extracts(opened)).test_client()
    headers = {who: {"Authorization": f"Bearer {opened.accounts.keys.new(who).secret}"} for who in ("ann", "carl")}
    body = {**WISH, "where": "sex = 'Female'"}
    asked = client.post(f"{API}/exports", headers=headers["ann"], json=body).json["id"]
    for who, action in (("ann", "submit"), ("carl", "take"), ("carl", "approve")):
        assert client.post(f"{API}/exports/{asked}/{action}", headers=headers[who], json={}).status_code == 200
    done = client.post(f"{API}/exports/{asked}/build", headers=headers["carl"], json={})
    assert (done.status_code, done.json["code"]) == (422, "QG604")
    assert "cannot have a condition on sex" in done.json["detail"]
    assert client.get(f"{API}/exports/{asked}", headers=headers["carl"]).json["state"] == "approved"
