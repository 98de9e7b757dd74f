"""Diagnosis codes from claims to a researcher, as people do it: draft and publish, ask, and an extract on approval."""

from __future__ import annotations

import csv
import gzip
import json
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from querygate.cli import main
from querygate.methods.code_lists import gwas_diseases
from querygate.methods.code_lists.code_spelling import normalise
from querygate.methods.code_lists.known_code_systems import code_tree
from tests.own_keys import in_the_name_of
from tests.places import DATA
from tests.policies import ROUGH_AGE, WITHHELD, code_list, make_policy
from tests.unit.methods.code_lists import brute

CLAIMS = DATA / "codes" / "synpuf_1.csv.gz"
PATIENTS, K = 1_000, 5
PROTECT = {"kind": "visits", "column": "visits", "between": "|", "look_for": "whole"}
DX = code_list("icd9cm", separator=";", protect=PROTECT, utility={"kind": "diseases", "spare": "listed"})
POLICY = make_policy("claims", {"age": ROUGH_AGE, "visits": WITHHELD, "dx": DX}, k=K)
STEPS = "ann submit, carl take, carl approve, carl build, carl release"


@pytest.fixture(scope="module")
def claims() -> list[list[list[str]]]:
    """The visits of each patient, codes as claims have them."""
    visits: dict[str, list[list[str]]] = defaultdict(list)
    with gzip.open(CLAIMS, "rt", encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            visits[line["patient"]].append(line["codes"].split())
    return list(visits.values())[:PATIENTS]


@pytest.fixture(scope="module")
def folder(claims: list[list[list[str]]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("claims")
    with (folder / "claims.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "dx", "visits"])
        for number, visits in enumerate(claims):
            held = "; ".join(code.lower() for visit in visits for code in visit)
            writer.writerow([60 + number % 35, held, "|".join(";".join(visit) for visit in visits)])
    (folder / "claims.toml").write_text(POLICY, encoding="utf-8")
    site = folder / "site"
    run("init", str(site), site=None)
    given = ("--policy", str(folder / "claims.toml"), "--source", str(folder / "claims.csv"), "--report", "json")
    run("publish", *given, site=site)
    run("user", "add", "ann", "--role", "researcher", site=site)
    run("user", "add", "carl", "--role", "custodian", site=site)
    return folder


def run(*words: str, site: Path | None) -> Any:
    where = ["--site", str(site)] if site else []
    done = CliRunner().invoke(main, [*where, *words, *(["--format", "json"] if site else [])], prog_name="querygate")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout) if site else None


def official(texts: list[str]) -> set[str]:
    return {str(code) for code in normalise("icd9cm", texts).codes}


def test_the_draft_knows_lists_of_codes(folder: Path) -> None:
    run("policy", "draft", "--source", str(folder / "claims.csv"), "--out", str(folder / "draft.toml"), site=folder)
    text = (folder / "draft.toml").read_text(encoding="utf-8")
    drafted = tomllib.loads(text)["columns"]["dx"]
    assert (drafted["role"], drafted["system"], drafted["separator"]) == ("codes", "icd9cm", ";")


def test_diseases_that_the_report_calls_exact_are_answered_exactly(claims: list[list[list[str]]], folder: Path) -> None:
    report = json.loads(next((folder / "site" / "vault" / "claims" / "reports").rglob("report.json")).read_text())
    kept = report["codes"][0]["measures"]["kept_names"]
    assert len(kept) == report["codes"][0]["measures"]["groups"] > 10
    records, public = [official([code for visit in one for code in visit]) for one in claims], code_tree("icd9cm").codes
    for disease in gwas_diseases(public):
        wanted = [public[place] for place in disease.codes]
        listed = ", ".join(f"'{code}'" for code in wanted)
        sql = f"SELECT COUNT(*) AS n FROM claims WHERE has_any(dx, {listed})"
        found = run("query", "--dataset", "claims", sql, site=folder / "site")["rows"][0]["n"]
        cases = sum(not record.isdisjoint(wanted) for record in records)
        assert (found["low"], found["high"]) == (cases, cases), disease.name
        assert (disease.name in kept) == (cases > 0)


def test_an_extract_on_approval(claims: list[list[list[str]]], folder: Path) -> None:
    site = folder / "site"
    wish = ("--dataset", "claims", "--purpose", "case counts", "--columns", "age,dx", "--k", str(K))
    made = run("export", "request", "--as", "ann", *wish, site=site)["id"]
    for step in STEPS.split(", "):
        who, act = step.split()
        run("export", act, *in_the_name_of(who, act, site), made, site=site)
    run("export", "fetch", "--as", "ann", made, "--out", str(folder / "got"), site=site)
    with (folder / "got" / "extract.csv").open(encoding="utf-8", newline="") as file:
        published = [line["dx"].split("; ") if line["dx"] else [] for line in csv.DictReader(file)]
    with (folder / "got" / "dictionary.csv").open(encoding="utf-8", newline="") as file:
        [labels] = [line["values"] for line in csv.DictReader(file) if line["name"] == "dx"]
    long = dict(text.split(" = ") for text in labels.split("; "))
    items = {name: frozenset(long.get(name, name).split("/")) for held in published for name in held}
    assert brute.disjoint(list(items.values()))
    assert not any("..." in code for codes in items.values() for code in codes)
    # Each visit is found in k of the records that left, or in none.
    covers = [set().union(*(items[name] for name in held)) for held in published]
    visits = {frozenset(official(visit)) for one in claims for visit in one if visit}
    assert not [visit for visit in visits if 0 < brute.support(covers, set(visit)) < K]
    # Nobody has an item that is not true of anybody, and diseases have as many cases as there are.
    records = [official([code for visit in one for code in visit]) for one in claims]
    shown = sorted(tuple(sorted(held)) for held in published)
    assert shown == sorted(tuple(sorted(n for n, codes in items.items() if codes & record)) for record in records)
    codes = sorted(set().union(*records))
    for disease in gwas_diseases(codes):
        wanted = {codes[place] for place in disease.codes}
        inside = {name for name, held in items.items() if held <= wanted}
        assert sum(not inside.isdisjoint(held) for held in published) == sum(not wanted.isdisjoint(r) for r in records)

    page = (folder / "got" / "report.html").read_text(encoding="utf-8")
    assert "Found by codes, before and after" in page
    assert (folder / "got" / "codes.png").stat().st_size > 10_000
    assert "somebody who also knows the class finds a single record" in page
